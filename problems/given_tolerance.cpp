#include "fmbem/problems/given_tolerance.hpp"

#include <cmath>
#include <sstream>

#include "fmbem/bem/layer/dense_operator.hpp"

namespace fmbem {
namespace {

/// To two digits, and no less than it is but for rounding.
double rounded_up(double x) {
  const double unit = std::pow(10, std::floor(std::log10(x)) - 1);
  return std::ceil(x / unit * (1 - 1e-9)) * unit;
}

}  // namespace

void refuse_tolerance(const ToleranceError& error, double given, double of_solver) {
  const double of_operator = given > 0 ? given : 0.1 * of_solver,
               enough = rounded_up(error.too_tight * of_operator);
  std::ostringstream sentence;
  sentence << "the FMM is not as accurate as ";
  if (given > 0)
    sentence << "--operator-tolerance " << given << " asks for: ";
  else
    sentence << "a solve to " << of_solver << " asks for, whose products are ten times as "
             << "accurate: use --tolerance " << 10 * enough << " or more, ";
  sentence << (given > 0 ? "use " : "--operator-tolerance ") << enough
           << (given > 0 ? " or more" : "") << ", or --operator dense, on the CPU and up to "
           << dense_panels_at_most << " panels";
  throw InputError(sentence.str());
}

}  // namespace fmbem
