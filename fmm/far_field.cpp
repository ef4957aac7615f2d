#include "fmbem/fmm/far_field.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/check.hpp"
#include "fmbem/fmm/choose.hpp"
#include "fmbem/fmm/cost.hpp"
#include "fmbem/fmm/cpu/backend.hpp"
#include "fmbem/fmm/overhang.hpp"
#include "fmbem/fmm/stopwatch.hpp"

namespace fmbem::fmm {
namespace {

/// Sizes of leaves that are tried, by these steps up from the smallest.
constexpr double smallest_leaf = 24, leaf_step = 1.5;

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

    double least = std::numeric_limits<double>::infinity();
    PlanData tried = data;
    for (const double candidate : inflations) {
      if (options.inflation && candidate != inflations[0]) break;
      const double tried_inflation = options.inflation.value_or(candidate);
      const Cube root = inflated(scaled, tried_inflation);
      sort(centres, targets, root, tried);
      watch.add("sort");
      grow(root, tried_inflation, tried, least);
      watch.add("tree");
    }
    list_boxes(data);
    check_memory(data);
    backend = options.make_backend ? options.make_backend(data) : make_cpu_backend(data);
    watch.add("operators");
  }

 private:
  void sort(std::span<const Vec3d> centres, std::span<const Vec3d> targets, const Cube& root,
            PlanData& tried) const {
    std::vector<std::int8_t> deepest(centres.size());
#pragma omp parallel for schedule(static)
    for (std::size_t j = 0; j < centres.size(); ++j)
      deepest[j] = deepest_of(*data.spread, j, data.unit, root, options.overhang);
    tried.sources = sort_points(centres, data.unit, root, deepest);
    tried.other_targets = sort_points(targets, data.unit, root);
  }

  /// Trees of growing leaves, until one is worse than the one before, from a step below the best so
  /// far; keeps the best in `data`.
  double first_leaf() const {
    return options.max_leaf.value_or(std::max(smallest_leaf, max_leaf / leaf_step));
  }
  void grow(const Cube& root, double tried_inflation, PlanData& tried, double& least) {
    PlanOptions far{.precision = options.precision, .gradient = options.gradient};
    const CostModel model(far, false, options.order, 1);
    const auto most = static_cast<double>(std::max(tried.sources.size(), tried.targets().size()));
    bool improved = false;
    double before = std::numeric_limits<double>::infinity();
    for (double leaf = first_leaf();; leaf *= leaf_step) {
      tried.tree = build_octree(root, tried.sources, tried.targets(), static_cast<int>(leaf));
      tried.near = near_lists(tried.tree, tried.sources, tried.targets());
      const double seconds =
          model.far_seconds(tried.tree) +
          options.near_pair_seconds * static_cast<double>(near_pairs(tried.tree, tried.near));
      if (seconds < least) {
        least = seconds;
        inflation = tried_inflation;
        max_leaf = static_cast<int>(leaf);
        data.tree = std::move(tried.tree);
        data.near = std::move(tried.near);
        improved = true;
      }
      if (options.max_leaf || seconds > before || leaf > most) break;
      before = seconds;
    }
    if (improved) {
      data.sources = std::move(tried.sources);
      data.other_targets = std::move(tried.other_targets);
    }
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
