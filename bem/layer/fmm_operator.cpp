#include "fmbem/bem/layer/fmm_operator.hpp"

#include <sstream>
#include <vector>

#include "fmbem/bem/layer/cpu_engine.hpp"
#include "fmbem/bem/layer/dense_operator.hpp"
#include "fmbem/bem/near/exact_entry.hpp"
#include "fmbem/fmm/base/error.hpp"

namespace fmbem {

Precision check_fmm_options(const Layer& layer, const OperatorOptions& options) {
  const double least = least_tolerance(layer.source).of_operator;
  if (!(options.tolerance >= least && options.tolerance <= 0.5)) {
    std::ostringstream sentence;
    sentence << "the tolerance of the FMM operator must be between " << least << " and 0.5, not "
             << options.tolerance << ": loosen it, or use the dense operator, up to "
             << dense_panels_at_most << " panels";
    throw ToleranceError(sentence.str(), least / options.tolerance);
  }
  FMBEM_REQUIRE(options.precision != Precision::single_precision || options.tolerance >= 1e-7,
                "single precision serves operator tolerances of the FMM of 1e-7 and more, not "
                    << options.tolerance << ": use --precision double, or loosen the tolerance");
  return options.precision.value_or(near_precision_for(options.tolerance));
}

void exact_block(const Panels& panels, const Layer& layer, std::int64_t begin, std::int64_t end,
                 double* block, double kappa, NormalRows rows) {
  std::vector<Triangle> triangles;
  for (std::int64_t j = begin; j < end; ++j) triangles.push_back(panels.triangle(j));
  for (const Triangle& target : triangles)
    for (const Triangle& source : triangles)
      *block++ = exact_entry(layer, rows, target, source, &target == &source, kappa);
}

std::shared_ptr<BoundaryOperator> make_fmm_operator(const Panels& panels, const Layer& layer,
                                                    const OperatorOptions& options,
                                                    const PanelBlock& block) {
  return std::make_shared<EngineOperator<CpuEngine>>(panels, layer, options, block);
}

}  // namespace fmbem
