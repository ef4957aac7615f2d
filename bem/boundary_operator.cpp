#include "fmbem/bem/boundary_operator.hpp"

#include "fmbem/bem/dense_operator.hpp"
#include "fmbem/bem/fmm_operator.hpp"

namespace fmbem {
namespace {

/// Panels up to which a solve with the dense operator takes less time (docs/performance.md).
constexpr std::size_t dense_is_faster_up_to = 5000;

bool is_dense(std::size_t panels, const OperatorOptions& options) {
  switch (options.kind) {
    case OperatorOptions::Choice::dense:
      return true;
    case OperatorOptions::Choice::fmm:
      return false;
    default:
      break;
  }
  const bool too_accurate = options.tolerance < fmm_tolerance_at_least;
  return panels <= dense_is_faster_up_to || (too_accurate && panels <= dense_panels_at_most);
}

}  // namespace

std::unique_ptr<BoundaryOperator> make_single_layer(const Panels& panels,
                                                    const OperatorOptions& options) {
  return is_dense(panels.size(), options) ? make_dense_single_layer(panels, options)
                                          : make_fmm_single_layer(panels, options);
}

}  // namespace fmbem
