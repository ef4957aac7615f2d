#pragma once

#include "fmbem/bem/layer/fmm_operator.hpp"

namespace fmbem {

/// Throws an InputError that names the tolerances that were given, and which would do.
[[noreturn]] void refuse_tolerance(const ToleranceError& error, double given, double of_solver);

/// make(): an operator, to the tolerance that is given or, where that is 0, a tenth of the
/// solver's. Parts of it have other tolerances, which nobody gave, and one that the FMM does not
/// reach is told in terms of these.
template <class Make>
auto made_to_tolerance(double given, double of_solver, Make make) {
  try {
    return make();
  } catch (const ToleranceError& error) {
    refuse_tolerance(error, given, of_solver);
  }
}

}  // namespace fmbem
