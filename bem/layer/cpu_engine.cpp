#include "fmbem/bem/layer/cpu_engine.hpp"

#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "fmbem/bem/precond/cluster_inverse.hpp"
#include "fmbem/fmm/base/stopwatch.hpp"
#include "fmbem/fmm/choice/grow_tree.hpp"

namespace fmbem {
namespace {

/// Seconds that an entry of the near field costs one thread in a product, its integral being spread
/// over some 12 of them.
constexpr double near_entry_seconds = 4e-9;
/// The same of a coefficient of a panel's moments, or of its pieces' in a box.
constexpr double coefficient_seconds = 1.2e-9;
/// Seconds of one thread: of an integral; and of making the operators of order p, over p⁵.
constexpr double integral_seconds = 2.5e-8, making_operators_seconds = 3.5e-7;

fmm::Strengths strengths_of(const double* x, std::size_t n, int vectors) {
  return {.charges = {x, n * vectors}, .dipoles = {}, .count = vectors};
}

/// y = A x or Aᵀ x of the far field, of so many rows and columns.
void evaluate(const fmm::FarField& far, const double* x, double* y, const Product& product,
              std::size_t rows, std::size_t columns) {
  if (product.transposed)
    far.evaluate_transposed(strengths_of(x, rows, product.vectors), {y, columns * product.vectors});
  else
    far.evaluate(strengths_of(x, columns, product.vectors),
                 {.potential = {y, rows * product.vectors}});
}

}  // namespace

CpuEngine::CpuEngine(const Panels& panels, const EngineTask& task, fmm::Stopwatch& watch)
    : panels_(panels),
      kernel_{task.layer.source, task.options.kappa},
      triangles_(triangles_of(panels, task.block.columns)),
      targets_(panels, task.block) {
  const OperatorOptions& options = task.options;
  const double coefficients = (task.order + 1) * (task.order + 1);
  if (kernel_.source == Trace::value && kernel_.kappa == 0)
    pieces_ = cut_long_panels(triangles_, {near_entry_seconds, coefficients * coefficient_seconds});
  single_moments_ = pieces_ && task.near == Precision::single_precision;
  watch.add("pieces");
  fmm::Seconds seconds;
  tree_ = fmm::grow_tree(sources(options.tolerance), targets_.centroid,
                         {.overhang = options.overhang.value_or(
                              overhang_for(kernel_.source, pieces_ != nullptr, task.crowded)),
                          .max_leaf = options.max_leaf,
                          .inflation = pieces_ ? std::optional(pieces_->inflation()) : std::nullopt,
                          .ranks = options.ranks,
                          .order = task.order,
                          .precision = task.far,
                          .near_pair_seconds = near_entry_seconds},
                         seconds);
  near_panels_ = std::make_shared<NearPanels>(tree_, pieces_);
  watch.add("tree");
}

PanelSources CpuEngine::sources(double tolerance) const {
  return PanelSources(triangles_, pieces_, tolerance, kernel_.source, kernel_.kappa);
}

NormEstimate CpuEngine::norm_estimate() const {
  if (kernel_.source == Trace::normal)
    return estimate_double_layer(targets_.centroid, triangles_, *tree_);
  return estimate_norm(targets_.centroid, sources(1), *tree_, kernel_.kappa);
}

std::shared_ptr<const fmm::FarField> CpuEngine::far_field(
    std::shared_ptr<const fmm::PointTree> tree, const FarAccuracy& accuracy,
    fmm::Moments moments) const {
  return std::make_shared<fmm::FarField>(
      std::move(tree), std::make_shared<PanelSources>(sources(accuracy.moments)),
      fmm::FarFieldOptions{.order = accuracy.order,
                           .precision = accuracy.precision,
                           .moments = moments,
                           .kappa = kernel_.kappa,
                           .reach = far_reach_for(accuracy.moments)});
}

void CpuEngine::set_far(const FarAccuracy& accuracy) {
  far_ = far_field(tree_, accuracy,
                   single_moments_ ? fmm::Moments::kept_in_single : fmm::Moments::kept);
}

void CpuEngine::set_near(const NearAccuracy& accuracy, const Progress& progress) {
  near_ = make_near_blocks(triangles_, targets_, near_panels_, kernel_, accuracy.tolerance,
                           accuracy.precision, progress);
}

void CpuEngine::multiply(const double* x, double* y, const Product& product) {
  multiply_with(*far_, x, y, product);
}

void CpuEngine::multiply(const double* x, double* y, const Product& product,
                         const LooseFar& loose) {
  std::shared_ptr<const fmm::FarField>& far = looser_[loose.accuracy.order];
  if (!far)
    far = far_field(tree_, loose.accuracy,
                    single_moments_ ? fmm::Moments::kept_in_single : fmm::Moments::kept);
  multiply_with(*far, x, y, product);
}

void CpuEngine::multiply_with(const fmm::FarField& far, const double* x, double* y,
                              const Product& product) {
  evaluate(far, x, y, product, targets_.own.size(), triangles_.size());
  product_seconds_ = far.evaluate_seconds();
  fmm::Stopwatch watch(product_seconds_);
  near_->add(x, y, product);
  watch.add("near field");
}

void CpuEngine::multiply(const double* x, double* y, const Product& product,
                         const FarAccuracy& accuracy, const std::optional<double>& near_tolerance) {
  const std::size_t rows = targets_.own.size(), columns = triangles_.size();
  const double entries = static_cast<double>(rows) * static_cast<double>(columns);
  // For few panels, integrating all entries takes less time than making the operators of a high
  // order.
  const bool direct = near_tolerance && entries * integral_seconds <
                                            making_operators_seconds * std::pow(accuracy.order, 5);
  const auto tree = direct ? one_leaf() : tree_;
  evaluate(*far_field(tree, accuracy, fmm::Moments::afresh), x, y, product, rows, columns);
  if (near_tolerance)
    add_near_field_afresh(triangles_, targets_, direct ? NearPanels(tree, pieces_) : *near_panels_,
                          kernel_, *near_tolerance, x, y, product);
  else
    near_->add(x, y, product);
}

std::shared_ptr<const fmm::PointTree> CpuEngine::one_leaf() const {
  auto tree = std::make_shared<fmm::PointTree>(*tree_);
  tree->octree =
      fmm::build_octree(tree_->octree.root, tree->sources, tree->targets(),
                        static_cast<int>(std::max(tree_->sources.size(), tree_->targets().size())));
  tree->make_lists();
  return tree;
}

void CpuEngine::describe(OperatorInfo& info) const {
  const fmm::PlanInfo far = far_->info();
  info.memory_bytes = near_->bytes() + far.memory_bytes + far.operator_bytes;
  for (const auto& [order, looser] : looser_) info.memory_bytes += looser->info().memory_bytes;
  info.levels = far.levels;
  info.max_leaf = far.max_leaf;
  info.inflation = far.inflation;
  info.near_entries = near_panels_->entries();
  info.product_seconds = product_seconds_;
}

std::unique_ptr<ApproximateInverse> CpuEngine::approximate_inverse() const {
  return std::make_unique<ClusterInverse>(panels_, triangles_);
}

}  // namespace fmbem
