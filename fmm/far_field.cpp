#include "fmbem/fmm/far_field.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/stopwatch.hpp"
#include "fmbem/fmm/check.hpp"
#include "fmbem/fmm/choice/choose.hpp"
#include "fmbem/fmm/choice/cost.hpp"
#include "fmbem/fmm/cpu/backend.hpp"
#include "fmbem/fmm/tree/overhang.hpp"
#include "fmbem/fmm/tree/trial_trees.hpp"

namespace fmbem::fmm {
namespace {

/// Sizes of leaves that are tried, by these steps up from the smallest.
constexpr double smallest_leaf = 24, leaf_step = 1.5;
constexpr std::size_t most_leaves = 12;

std::vector<int> leaves_to_try(std::size_t points) {
  std::vector<int> leaves;
  for (double leaf = smallest_leaf;
       leaves.empty() ||
       (leaves.size() < most_leaves && leaf < leaf_step * static_cast<double>(points));
       leaf *= leaf_step)
    leaves.push_back(static_cast<int>(leaf));
  return leaves;
}

std::vector<Vec3d> centres_of(const SpreadSources& sources) {
  std::vector<Vec3d> centres(sources.size());
#pragma omp parallel for schedule(static)
  for (std::size_t j = 0; j < centres.size(); ++j) centres[j] = sources.centre(j);
  return centres;
}

/// The smallest cube about all there is: sources to their ends, and targets.
Cube hull_of(const SpreadSources& sources, std::span<const Vec3d> targets) {
  std::vector<Vec3d> ends(targets.begin(), targets.end());
  ends.resize(targets.size() + 2 * sources.size());
  Vec3d* first = ends.data() + targets.size();
#pragma omp parallel for schedule(static)
  for (std::size_t j = 0; j < sources.size(); ++j)
    sources.bounds(j, first[2 * j], first[2 * j + 1]);
  return bounding_cube(ends);
}

/// Of source j.
std::int8_t deepest_of(const SpreadSources& sources, std::size_t j, double unit, const Cube& root,
                       double overhang) {
  Vec3d low, high;
  sources.bounds(j, low, high);
  return static_cast<std::int8_t>(deepest_level_of(unit * sources.centre(j) - root.corner,
                                                   unit * low - root.corner,
                                                   unit * high - root.corner, root.side, overhang));
}

}  // namespace

struct FarField::Impl {
  FarFieldOptions options;
  double inflation = 1;
  int max_leaf = 1;
  PlanData data;
  std::unique_ptr<Backend> backend;
  Seconds plan_seconds, evaluate_seconds;

  Impl(const SpreadSources& sources, std::span<const Vec3d> targets, const FarFieldOptions& asked)
      : options(asked),
        data{.sources_are_targets = false,
             .order = ParityOrder(0),
             .precision = asked.precision,
             .spread = &sources,
             .keep_moments = asked.keep_moments} {
    check_order(options.order);
    check_tree_options(options.max_leaf, options.inflation);
    check_overhang(options.overhang);
    Stopwatch watch(plan_seconds);
    const std::vector<Vec3d> centres = centres_of(sources);
    check_points(centres, "source");
    check_points(targets, "target");
    const Cube hull = hull_of(sources, targets);
    data.unit = unit_for(hull);
    data.order = ParityOrder(options.order);
    const Cube scaled{data.unit * hull.corner, data.unit * hull.side};
    watch.add("check");

    Best best;
    PlanData tried = data;
    for (const double candidate : inflations) {
      if (options.inflation && candidate != inflations[0]) break;
      const double tried_inflation = options.inflation.value_or(candidate);
      const Cube root = inflated(scaled, tried_inflation);
      sort(centres, targets, root, tried);
      watch.add("sort");
      grow(root, tried_inflation, tried, best);
      watch.add("tree");
    }
    if (max_leaf > best.leaf_of_tree) {
      const Cube root = data.tree.root;
      data.tree = build_octree(root, data.sources, data.targets(), max_leaf);
    }
    data.near = near_lists(data.tree, data.sources, data.targets());
    list_boxes(data);
    watch.add("tree");
    check_memory(data);
    backend = make_cpu_backend(data);
    watch.add("operators");
  }

 private:
  struct Best {
    double seconds = std::numeric_limits<double>::infinity();
    int leaf_of_tree = 1;  ///< of the one in `data`
  };

  void sort(std::span<const Vec3d> centres, std::span<const Vec3d> targets, const Cube& root,
            PlanData& tried) const {
    std::vector<std::int8_t> deepest(centres.size());
#pragma omp parallel for schedule(static)
    for (std::size_t j = 0; j < centres.size(); ++j)
      deepest[j] = deepest_of(*data.spread, j, data.unit, root, options.overhang);
    tried.sources = sort_points(centres, data.unit, root, deepest);
    tried.other_targets = sort_points(targets, data.unit, root);
  }

  /// Keeps the points and the finest tree in `data` if that of one of the leaves tried is the best
  /// so far.
  void grow(const Cube& root, double tried_inflation, PlanData& tried, Best& best) {
    PlanOptions far{.precision = options.precision, .gradient = options.gradient};
    const CostModel model(far, false, options.order, 1);
    const std::vector<int> leaves =
        options.max_leaf ? std::vector{*options.max_leaf}
                         : leaves_to_try(std::max(tried.sources.size(), tried.targets().size()));
    tried.tree = build_octree(root, tried.sources, tried.targets(), leaves.front());
    const std::vector<TreeWork> work = work_of_trees(tried.tree, leaves);
    std::size_t chosen = leaves.size();
    for (std::size_t c = 0; c < leaves.size(); ++c) {
      const double seconds =
          model.far_seconds(work[c]) + options.near_pair_seconds * work[c].near_pairs;
      if (seconds >= best.seconds) continue;
      best.seconds = seconds;
      chosen = c;
    }
    if (chosen == leaves.size()) return;
    best.leaf_of_tree = leaves.front();
    inflation = tried_inflation;
    max_leaf = leaves[chosen];
    data.sources = std::move(tried.sources);
    data.other_targets = std::move(tried.other_targets);
    data.tree = std::move(tried.tree);
  }
};

FarField::FarField(const SpreadSources& sources, std::span<const Vec3d> targets,
                   const FarFieldOptions& options)
    : impl_(std::make_unique<Impl>(sources, targets, options)) {}
FarField::~FarField() = default;
FarField::FarField(FarField&&) noexcept = default;
FarField& FarField::operator=(FarField&&) noexcept = default;

void FarField::evaluate(const Strengths& strengths, const Fields& fields) const {
  check_evaluation(impl_->data.sources.size(), impl_->data.targets().size(), strengths, fields);
  FMBEM_REQUIRE(strengths.dipoles.empty(), "spread sources have no dipole moments of their own");
  FMBEM_REQUIRE(fields.gradient.empty() || impl_->options.gradient,
                "the far field was not made for gradients: set FarFieldOptions::gradient");
  impl_->evaluate_seconds.clear();
  impl_->backend->evaluate(strengths, fields, impl_->evaluate_seconds);
}

const PlanData& FarField::data() const { return impl_->data; }

PlanInfo FarField::info() const {
  return info_of(impl_->data, impl_->max_leaf, impl_->inflation, impl_->backend->operator_bytes());
}

Seconds FarField::evaluate_seconds() const { return impl_->evaluate_seconds; }
Seconds FarField::plan_seconds() const { return impl_->plan_seconds; }

}  // namespace fmbem::fmm
