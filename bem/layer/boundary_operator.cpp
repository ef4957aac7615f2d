#include "fmbem/bem/layer/boundary_operator.hpp"

#include "fmbem/bem/layer/averaged_flux.hpp"
#include "fmbem/bem/layer/cuda/fmm_operator.hpp"
#include "fmbem/bem/layer/dense_operator.hpp"
#include "fmbem/bem/layer/far_choice.hpp"
#include "fmbem/bem/layer/fmm_operator.hpp"
#include "fmbem/fmm/base/error.hpp"

namespace fmbem {
namespace {

/// Panels up to which a solve with the dense operator takes less time (docs/performance.md).
constexpr std::size_t dense_is_faster_up_to = 5000;

bool is_dense(std::size_t panels, const Layer& layer, const OperatorOptions& options) {
  switch (options.kind) {
    case OperatorOptions::Choice::dense:
      return true;
    case OperatorOptions::Choice::fmm:
      return false;
    default:
      break;
  }
  const bool too_accurate = options.tolerance < least_tolerance(layer.source).of_operator;
  return panels <= dense_is_faster_up_to || (too_accurate && panels <= dense_panels_at_most);
}

/// K', whose transposed products the GPU does not have yet.
std::shared_ptr<BoundaryOperator> make_adjoint(const Panels& panels, const OperatorOptions& options,
                                               const PanelBlock& block) {
  FMBEM_REQUIRE(options.processor.value_or(Processor::cpu) == Processor::cpu &&
                    options.near_field != OperatorOptions::NearField::lean,
                "K' runs on the CPU alone: choose it");
  if (is_dense(panels.size(), double_layer, options))
    return make_dense_operator(panels, adjoint_double_layer, options, block);
  FMBEM_REQUIRE(options.normal_rows == NormalRows::averaged,
                "the FMM has K' averaged over panels, not at their centroids: choose that, or the "
                "dense operator");
  const PanelBlock transposed{.rows = block.columns, .columns = block.rows};
  return make_averaged_flux(panels, make_fmm_operator(panels, double_layer, options, transposed),
                            block);
}

}  // namespace

Processor faster_processor(std::size_t panels, const OperatorOptions& options) {
  const bool for_gpu = options.near_field == OperatorOptions::NearField::lean;
  return (!for_gpu && is_dense(panels, single_layer, options)) || cuda_devices().empty()
             ? Processor::cpu
             : Processor::gpu;
}

std::shared_ptr<BoundaryOperator> make_single_layer(const Panels& panels,
                                                    const OperatorOptions& options) {
  return make_boundary_operator(panels, single_layer, options);
}

std::shared_ptr<BoundaryOperator> make_boundary_operator(const Panels& panels, const Layer& layer,
                                                         const OperatorOptions& options,
                                                         const PanelBlock& block) {
  require_one_rank(*options.ranks, "a boundary operator");
  if (layer == adjoint_double_layer) return make_adjoint(panels, options, block);
  FMBEM_REQUIRE(layer == single_layer || layer == double_layer,
                layer.name() << " is no operator of constant densities");
  const Processor processor =
      options.processor ? *options.processor : faster_processor(panels.size(), options);
  if (processor == Processor::gpu) {
    FMBEM_REQUIRE(options.kind != OperatorOptions::Choice::dense,
                  "the dense operator runs on the CPU: use the FMM on the GPU");
    FMBEM_REQUIRE(block.is_whole(), "blocks of operators are the CPU's");
    return cuda::bem::make_fmm_operator(panels, layer, options);
  }
  FMBEM_REQUIRE(
      options.near_field != OperatorOptions::NearField::lean,
      "the CPU stores its near field: use the GPU to have it integrated in every product");
  return is_dense(panels.size(), layer, options)
             ? make_dense_operator(panels, layer, options, block)
             : make_fmm_operator(panels, layer, options, block);
}

}  // namespace fmbem
