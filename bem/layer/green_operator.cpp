#include "fmbem/bem/layer/green_operator.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fmbem/bem/layer/cuda/green_product.hpp"
#include "fmbem/bem/layer/far_choice.hpp"
#include "fmbem/bem/layer/fmm_operator.hpp"
#include "fmbem/bem/layer/green_passes.hpp"
#include "fmbem/bem/near/norm_estimate.hpp"
#include "fmbem/bem/space/panel_sources.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/stopwatch.hpp"
#include "fmbem/fmm/check.hpp"
#include "fmbem/fmm/choice/grow_tree.hpp"
#include "fmbem/fmm/far_field.hpp"

namespace fmbem {
namespace {

/// Seconds that a near pair costs one thread in a product: both of its entries, and their integrals
/// spread over some 12 products.
constexpr double near_pair_seconds_of_both = 6e-9;

/// What one thread takes to integrate a far pair to that, potentials alone or derivatives too.
constexpr double far_pair_seconds = 3.5e-8, far_pair_seconds_of_both = 5e-7;

}  // namespace

struct GreenOperator::Impl {
  struct Kernel {
    std::unique_ptr<fmm::FarField> far;
    std::vector<GreenPass> passes;
  };

  std::size_t n_rows = 0, n_columns = 0;
  LargeVector<Triangle> columns;  ///< these and targets: on the CPU
  GreenTargets targets;
  std::vector<GreenTerm> terms;
  int outputs = 1;
  OperatorInfo info;
  std::shared_ptr<const fmm::PointTree> tree;
  std::shared_ptr<const NearPanels> near_panels;
  double norm_of_v = 0;
  std::vector<Kernel> kernels;
  std::unique_ptr<GreenBlocks> near;
  mutable fmm::Seconds product_seconds{};
  std::unique_ptr<cuda::bem::GreenProduct>
      on_gpu;  ///< in place of all that the CPU multiplies with

  void fill_targets(const Panels& panels, const PanelBlock& block) {
    const auto n = static_cast<std::int64_t>(count_of(block.rows, panels.size()));
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int32_t panel = panel_of(block.rows, i);
      const Triangle t = panels.triangle(panel);
      targets.centroid.push_back(t.centroid);
      targets.normal.push_back(t.normal);
      const auto column = std::lower_bound(block.columns.begin(), block.columns.end(), panel);
      targets.own.push_back(block.columns.empty() ? panel
                            : column == block.columns.end() || *column != panel
                                ? -1
                                : static_cast<std::int32_t>(column - block.columns.begin()));
    }
  }

  const cuda::bem::GreenProduct& product_on_gpu() const {
    if (!on_gpu)
      throw Error(ExitCode::internal_error,
                  "this operator is on the CPU: it takes vectors in host memory");
    return *on_gpu;
  }

  void multiply(std::span<const double> x, std::span<double> y) const {
    if (on_gpu) return on_gpu->multiply(x.data(), y.data());
    const std::size_t n = n_columns, m = n_rows;
    product_seconds.clear();
    std::fill(y.begin(), y.end(), 0.0);
    for (const Kernel& kernel : kernels) {
      const std::size_t count = kernel.passes.size();
      std::vector<double> strengths(2 * n * count), potential(m * count);
      std::vector<Vec3d> gradient(outputs == 2 ? m * count : 0);
      for (std::size_t p = 0; p < count; ++p)
        for (std::size_t j = 0; j < n; ++j) {
          strengths[2 * n * p + j] = kernel.passes[p].sigma * x[j];
          strengths[2 * n * p + n + j] = kernel.passes[p].mu * x[n + j];
        }
      kernel.far->evaluate({.charges = strengths, .dipoles = {}, .count = static_cast<int>(count)},
                           {.potential = potential, .gradient = gradient, .hessian = {}});
      for (std::size_t p = 0; p < count; ++p)
        for (std::size_t i = 0; i < m; ++i) {
          y[i] += kernel.passes[p].potential * potential[p * m + i];
          if (outputs == 2)
            y[m + i] += kernel.passes[p].flux * dot(targets.normal[i], gradient[p * m + i]);
        }
      for (const auto& [stage, seconds] : kernel.far->evaluate_seconds())
        product_seconds[stage] += seconds;
    }
    fmm::Stopwatch watch(product_seconds);
    near->add(x.data(), y.data());
    watch.add("near field");
  }

  /// What acted on potentials acts as charges at the centroids, and what acted on derivatives along
  /// normals as dipoles.
  void multiply_transposed(std::span<const double> y, std::span<double> x) const {
    if (on_gpu) return on_gpu->multiply_transposed(y.data(), x.data());
    const std::size_t n = n_columns, m = n_rows;
    product_seconds.clear();
    std::fill(x.begin(), x.end(), 0.0);
    for (const Kernel& kernel : kernels) {
      const std::size_t count = kernel.passes.size();
      std::vector<double> charges(m * count), sums(2 * n * count);
      std::vector<Vec3d> dipoles(outputs == 2 ? m * count : 0);
      for (std::size_t p = 0; p < count; ++p)
        for (std::size_t i = 0; i < m; ++i) {
          charges[p * m + i] = kernel.passes[p].potential * y[i];
          if (outputs == 2)
            dipoles[p * m + i] = (kernel.passes[p].flux * y[m + i]) * targets.normal[i];
        }
      kernel.far->evaluate_transposed(
          {.charges = charges, .dipoles = dipoles, .count = static_cast<int>(count)}, sums);
      for (std::size_t p = 0; p < count; ++p)
        for (std::size_t j = 0; j < n; ++j) {
          x[j] += kernel.passes[p].sigma * sums[2 * n * p + j];
          x[n + j] += kernel.passes[p].mu * sums[2 * n * p + n + j];
        }
      for (const auto& [stage, seconds] : kernel.far->evaluate_seconds())
        product_seconds[stage] += seconds;
    }
    fmm::Stopwatch watch(product_seconds);
    near->add_transposed(y.data(), x.data());
    watch.add("near field");
  }
};

GreenOperator::GreenOperator(const Panels& panels, const PanelBlock& block,
                             std::vector<GreenTerm> terms, const OperatorOptions& options,
                             std::size_t panels_to_come)
    : impl_(std::make_unique<Impl>()) {
  FMBEM_REQUIRE(!terms.empty(), "an operator needs a kernel");
  for (const GreenTerm& term : terms) fmm::check_kappa(term.kappa);
  FMBEM_REQUIRE(!panels.images, "operators of charges and dipoles know no mirror planes");
  const double tolerance = options.tolerance;
  impl_->n_rows = count_of(block.rows, panels.size());
  impl_->n_columns = count_of(block.columns, panels.size());
  impl_->terms = std::move(terms);
  OperatorInfo& info = impl_->info;
  info.name = "V, K";
  info.kind =
      options.kind == OperatorOptions::Choice::dense ? OperatorKind::dense : OperatorKind::fmm;
  bool is_dense = info.kind == OperatorKind::dense;
  info.precision = is_dense ? options.precision.value_or(Precision::double_precision)
                            : check_fmm_options(double_layer, options);
  double least_kappa = impl_->terms[0].kappa;
  for (const GreenTerm& term : impl_->terms) least_kappa = std::min(least_kappa, term.kappa);
  if (has_flux(impl_->terms)) impl_->outputs = 2;
  const bool crowded = is_crowded(crowding(panels, least_kappa)), differs = impl_->terms.size() > 1;
  info.order = options.order.value_or(far_order_for(tolerance, Trace::normal, crowded));
  fmm::check_order(info.order);
  info.far_precision =
      differs ? Precision::double_precision : far_precision_for(tolerance, Trace::normal);
  const double moments = 0.5 * tolerance;
  const double overhang = options.overhang.value_or(overhang_for(Trace::normal, false, crowded));
  fmm::Stopwatch watch(info.setup_seconds);
  const auto processor = options.processor.value_or(Processor::cpu);
  if (processor == Processor::gpu && !is_dense) {
    const bool is_stored = differs || impl_->outputs == 2;
    FMBEM_REQUIRE(!is_stored || options.near_field != OperatorOptions::NearField::lean,
                  "near fields with derivatives along normals, and of differences of kernels, are "
                  "stored: leave out --near-field lean");
    impl_->on_gpu = std::make_unique<cuda::bem::GreenProduct>(
        panels, block, impl_->terms,
        cuda::bem::GreenAccuracy{
            info.order, info.far_precision, info.precision, moments, tolerance, overhang,
            options.max_leaf, is_stored ? OperatorOptions::NearField::stored : options.near_field,
            panels_to_come});
    impl_->norm_of_v = impl_->on_gpu->norm_of_v();
    watch.add("operator");
    return;
  }
  FMBEM_REQUIRE(
      is_dense || options.near_field != OperatorOptions::NearField::lean,
      "the CPU stores its near field: use the GPU to have it integrated in every product");
  impl_->columns = triangles_of(panels, block.columns);
  impl_->fill_targets(panels, block);
  const auto sources = [&](double kappa) {
    return std::make_shared<PanelSources>(impl_->columns, nullptr, moments, Trace::normal, kappa,
                                          PanelSources::Strengths::charge_and_dipole);
  };
  const auto grow_tree = [&](std::optional<int> max_leaf) {
    fmm::Seconds seconds;
    impl_->tree = fmm::grow_tree(*sources(least_kappa), impl_->targets.centroid,
                                 {.overhang = overhang,
                                  .max_leaf = max_leaf,
                                  .ranks = options.ranks,
                                  .order = info.order,
                                  .precision = info.far_precision,
                                  .gradient = impl_->outputs == 2,
                                  .near_pair_seconds = impl_->outputs * near_pair_seconds_of_both},
                                 seconds);
    impl_->near_panels = std::make_shared<NearPanels>(impl_->tree, nullptr);
  };
  const auto far_options = [&](const GreenTerm& term) {
    return fmm::FarFieldOptions{.order = info.order,
                                .precision = info.far_precision,
                                .gradient = impl_->outputs == 2,
                                .kappa = term.kappa,
                                .reach = far_reach_for(moments)};
  };
  const auto all_panels = static_cast<int>(std::max(impl_->n_columns, impl_->n_rows));
  grow_tree(is_dense ? all_panels : options.max_leaf);
  const bool asks_for_fmm = options.order || options.max_leaf || options.overhang;
  if (options.kind == OperatorOptions::Choice::automatic && !asks_for_fmm) {
    // At high orders operators take longer to make than all pairs of a few thousand panels, and
    // more memory: a pair's entries are some bytes for more time than a byte of operators takes.
    double of_operators = 0;
    for (const GreenTerm& term : impl_->terms)
      of_operators += fmm::operator_seconds(*impl_->tree, far_options(term));
    const double pairs = static_cast<double>(impl_->n_rows) * static_cast<double>(impl_->n_columns),
                 far_pairs = pairs - static_cast<double>(impl_->near_panels->entries());
    const bool all_is_near = impl_->tree->octree.levels() <= 2;
    is_dense = !all_is_near &&
               far_pairs * (impl_->outputs == 2 ? far_pair_seconds_of_both : far_pair_seconds) <
                   of_operators;
    if (is_dense) {
      info.kind = OperatorKind::dense;
      info.precision = options.precision.value_or(Precision::double_precision);
      grow_tree(all_panels);
    }
  }
  impl_->norm_of_v =
      estimate_norm(impl_->targets.centroid, *sources(least_kappa), *impl_->tree, least_kappa).norm;
  watch.add("tree");
  for (const GreenTerm& term : impl_->terms)
    impl_->kernels.push_back(
        {std::make_unique<fmm::FarField>(impl_->tree, sources(term.kappa), far_options(term)),
         passes_of(term)});
  watch.add("far field");
  impl_->near = make_green_blocks(impl_->columns, impl_->targets, impl_->near_panels, impl_->terms,
                                  is_dense ? dense_green_tolerance : tolerance, info.precision);
  watch.add("near field");
}

GreenOperator::~GreenOperator() = default;
GreenOperator::GreenOperator(GreenOperator&&) noexcept = default;
GreenOperator& GreenOperator::operator=(GreenOperator&&) noexcept = default;

std::size_t GreenOperator::rows() const { return impl_->n_rows; }
std::size_t GreenOperator::columns() const { return impl_->n_columns; }
int GreenOperator::outputs() const { return impl_->outputs; }

double GreenOperator::norm_of_v() const { return impl_->norm_of_v; }

void GreenOperator::multiply(std::span<const double> x, std::span<double> y) const {
  FMBEM_REQUIRE(x.size() == 2 * columns() && y.size() == outputs() * rows(),
                "an operator of charges and dipoles takes "
                    << 2 * columns() << " numbers to " << outputs() * rows() << ", not " << x.size()
                    << " to " << y.size());
  if (!impl_->on_gpu) fmm::check_evaluation(x.size(), 0, {.charges = x}, {});
  impl_->multiply(x, y);
}

void GreenOperator::multiply_transposed(std::span<const double> y, std::span<double> x) const {
  FMBEM_REQUIRE(x.size() == 2 * columns() && y.size() == outputs() * rows(),
                "a transposed operator of charges and dipoles takes "
                    << outputs() * rows() << " numbers to " << 2 * columns() << ", not " << y.size()
                    << " to " << x.size());
  if (!impl_->on_gpu) fmm::check_evaluation(y.size(), 0, {.charges = y}, {});
  impl_->multiply_transposed(y, x);
}

Processor GreenOperator::processor() const {
  return impl_->on_gpu ? Processor::gpu : Processor::cpu;
}

void GreenOperator::multiply_on_device(const double* x, double* y) const {
  impl_->product_on_gpu().multiply_on_device(x, y);
}

void GreenOperator::flux_on_device(const double* charges, double* flux) const {
  impl_->product_on_gpu().flux_on_device(charges, flux);
}

void GreenOperator::flux_transposed_on_device(const double* flux, double* charges) const {
  impl_->product_on_gpu().flux_transposed_on_device(flux, charges);
}

void GreenOperator::wait() const {
  if (impl_->on_gpu) impl_->on_gpu->wait();
}

OperatorInfo GreenOperator::info() const {
  OperatorInfo info = impl_->info;
  if (impl_->on_gpu) {
    impl_->on_gpu->describe(info);
    return info;
  }
  info.memory_bytes = impl_->near->bytes();
  for (const auto& kernel : impl_->kernels) {
    const fmm::PlanInfo far = kernel.far->info();
    info.memory_bytes += far.memory_bytes + far.operator_bytes;
    info.levels = far.levels;
    info.max_leaf = far.max_leaf;
    info.inflation = far.inflation;
  }
  info.near_entries = impl_->near_panels->entries();
  info.product_seconds = impl_->product_seconds;
  return info;
}

}  // namespace fmbem
