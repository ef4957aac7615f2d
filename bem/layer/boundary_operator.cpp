#include "fmbem/bem/layer/boundary_operator.hpp"

#include "fmbem/bem/layer/averaged_flux.hpp"
#include "fmbem/bem/layer/centroid_flux.hpp"
#include "fmbem/bem/layer/cuda/fmm_operator.hpp"
#include "fmbem/bem/layer/dense_operator.hpp"
#include "fmbem/bem/layer/far_choice.hpp"
#include "fmbem/bem/layer/fmm_operator.hpp"
#include "fmbem/bem/layer/reflected_operator.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/check.hpp"

namespace fmbem {
namespace {

/// Up to so many panels a solve with the dense operator takes less time (docs/decisions.md).
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

std::shared_ptr<BoundaryOperator> make_fmm(const Panels& panels, const Layer& layer,
                                           const OperatorOptions& options, Processor processor,
                                           const PanelBlock& block) {
  if (processor == Processor::cpu) return make_fmm_operator(panels, layer, options, block);
  return cuda::bem::make_fmm_operator(panels, layer, options, block);
}

void check_options(const OperatorOptions& options) {
  FMBEM_REQUIRE(
      options.tolerance > 0 && options.tolerance <= 0.5,
      "the tolerance of an operator must be above 0 and at most 0.5, not " << options.tolerance);
  fmm::check_kappa(options.kappa);
  if (options.order) fmm::check_order(*options.order);
  fmm::check_tree_options(options.max_leaf, {});
  if (options.overhang) fmm::check_overhang(*options.overhang);
}

}  // namespace

std::vector<double> matrix_of(const BoundaryOperator& op) {
  const std::size_t m = op.rows(), n = op.columns();
  std::vector<double> units(n * n), columns(m * n);
  for (std::size_t i = 0; i < n; ++i) units[i * n + i] = 1;
  op.apply(units.data(), columns.data(),
           {.vectors = static_cast<int>(n), .tolerance = op.accurate_tolerance()});
  return columns;
}

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
  const bool is_adjoint = layer == adjoint_double_layer;
  FMBEM_REQUIRE(layer == single_layer || layer == double_layer || is_adjoint,
                layer.name() << " is no operator of constant densities");
  check_options(options);
  check_block(block, panels.size());
  if (panels.images) return make_reflected_operator(panels, layer, options, block);
  const Processor processor =
      options.processor ? *options.processor : faster_processor(panels.size(), options);
  FMBEM_REQUIRE(processor == Processor::cpu || options.kind != OperatorOptions::Choice::dense,
                "the dense operator runs on the CPU: use the FMM on the GPU");
  FMBEM_REQUIRE(
      processor == Processor::gpu || options.near_field != OperatorOptions::NearField::lean,
      "the CPU stores its near field: use the GPU to have it integrated in every product");
  const Layer& multiplied = is_adjoint ? double_layer : layer;
  if (processor == Processor::cpu && is_dense(panels.size(), multiplied, options))
    return make_dense_operator(panels, layer, options, block);
  if (!is_adjoint) return make_fmm(panels, layer, options, processor, block);
  if (options.normal_rows == NormalRows::at_centroids) {
    OperatorOptions by_fmm = options;
    by_fmm.kind = OperatorOptions::Choice::fmm;
    by_fmm.processor = processor;
    return make_centroid_flux(panels, by_fmm, block);
  }
  const PanelBlock transposed{.rows = block.columns, .columns = block.rows};
  return make_averaged_flux(panels, make_fmm(panels, double_layer, options, processor, transposed),
                            block);
}

}  // namespace fmbem
