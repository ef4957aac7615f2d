#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "fmbem/cuda/choose.cuh"
#include "fmbem/cuda/corners.cuh"
#include "fmbem/cuda/device.hpp"
#include "fmbem/cuda/device_speeds.hpp"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/trial_trees.cuh"
#include "fmbem/fmm/choice/policy.hpp"
#include "fmbem/fmm/choice/search.hpp"
#include "fmbem/fmm/expansion/harmonics.hpp"

namespace fmbem::cuda {
namespace {

/// Trial trees have one in so many points, but at least so many points: enough to tell leaf sizes
/// apart that differ by a quarter, and a trial takes a few tenths of a millisecond.
constexpr std::int64_t sample_stride = 8, sample_at_least = 20'000;
constexpr double leaf_step = 1.26;

class DeviceCost {
 public:
  /// `third_law`: whether the near field may be summed by it.
  DeviceCost(const fmm::PlanOptions& options, int order, const DeviceRates& rates, double extent,
             std::optional<double> near_pair_seconds, bool third_law)
      : rates_(rates) {
    const bool single = precision_for(options, rates, true) == Precision::single_precision;
    const bool near_single =
        near_precision_for(options, rates, extent) == Precision::single_precision;
    const double count = fmm::harmonic_count(order), bytes = single ? 4 : 8;
    // Odd orders have an even number of coefficients, which cuBLAS multiplies faster in double
    // precision. Of panels' trees that was not measured.
    const double faster = order % 2 == 1 && !near_pair_seconds ? 1.5 : 1;
    // Yukawa's kernel has operators of its own for each level, so that products are smaller.
    const double of_levels = options.kappa > 0 ? 0.5 : 1;
    const double products = single ? of_levels * rates.product_single * count / (count + 50)
                                   : faster * rates.product_double * count / (count + 35);
    // Seconds of a parent: the products of a row, writing and reading its gathered boxes, which in
    // single precision are split, and its part of M2M and L2L.
    row_ = 416 * count * count / products +
           (single ? 1.6 : 1.2) * 208 * count * bytes / rates.bandwidth + rates.parent +
           rates.parent_byte * count * bytes;
    const bool derivatives = options.gradient || options.dipoles;
    leaf_ = rates.leaf + (derivatives ? 1.35 : 1) * rates.leaf_byte * count * bytes;
    // Of a pair, and of a source of a leaf's list, which all its targets meet.
    const double gradient = options.gradient ? near_single ? 1.7 : 1.65 : 1,
                 dipoles = options.dipoles ? 1.5 : 1;
    pair_ = gradient * dipoles / (near_single ? rates.near_single : rates.near_double);
    near_source_ = near_single ? gradient * rates.near_source_single : rates.near_source_double;
    // In single precision what it spares goes into sums for both sides.
    if (third_law && !near_single) pair_ *= 0.78;
    // A pass of its own.
    if (options.hessian) pair_ += 2.8 * dipoles / rates.near_double;
    if (options.kappa > 0) {
      // One of Yukawa's kernel, with its exponential; and modified Bessel functions for points.
      pair_ *= near_single ? 1.15 : 2.7;
      near_source_ *= 1.6;
      leaf_ *= 1.7;
    }
    // Of M2P and P2L by their operations: its factors add half as many to those for a degree.
    const double of_factors = options.kappa > 0 ? 1.5 : 1;
    // Points of a surface have more close pairs, which in single precision are computed again.
    on_surfaces_ = near_single ? derivatives ? 1.2 : 1.5 : derivatives ? 1.05 : 1.2;
    if (near_pair_seconds) {
      row_ *= 1.3;  // moments of panels, and potentials at them, take longer than those of points
      pair_ = *near_pair_seconds / rates.size;
      near_source_ = 6 * pair_;
      on_surfaces_ = 1;
    }
    m2p_target_ = of_factors * (options.gradient ? m2p_of_gradient : 1) * count /
                  (single ? rates.m2p_single : rates.m2p_double);
    p2l_source_ = of_factors * count / (single ? rates.p2l_single : rates.p2l_double);
    m2l_pair_ = 2 * count * count / (single ? rates.displaced_single : rates.displaced_double) +
                3 * count * bytes / rates.bandwidth;
  }

  /// The work of a tree of a sample each of whose points stands for `weight` points. `fewer` is the
  /// number of sources over that of targets, or its inverse, whichever is below 1.
  double seconds(const TreeCounts& counts, double weight, double fewer) const {
    const double pairs = weight * weight * static_cast<double>(counts.pairs),
                 sources = weight * static_cast<double>(counts.sources);
    const double on_surfaces = counts.branching() < fmm::branching_of_volumes ? on_surfaces_ : 1;
    return fewer * on_surfaces * (pairs * pair_ + sources * near_source_) +
           static_cast<double>(counts.parents) * row_ + static_cast<double>(counts.leaves) * leaf_ +
           rates_.start;
  }
  /// The smallest leaf that is worth a trial: half as many points again as for which near field and
  /// M2L take equally long in a uniform cloud.
  int least_leaf() const { return static_cast<int>(1.5 * std::sqrt(row_ / (8 * 27 * pair_))); }
  fmm::HybridCosts hybrid_costs(bool dipoles) const {
    constexpr double never = std::numeric_limits<double>::infinity();
    return {.pair = pair_,
            .near_source = near_source_,
            .m2l_pair = m2l_pair_,
            .m2p_target = m2p_target_,
            .p2l_source = dipoles ? never : p2l_source_,  // local expansions take charges alone
            .box = leaf_,
            .parent = row_};
  }
  /// With all points in one leaf.
  double one_leaf_seconds(double sources, double targets) const {
    return sources * targets * pair_;
  }

 private:
  /// The time of M2P's four expansions over that of the potential's.
  static constexpr double m2p_of_gradient = 2;

  DeviceRates rates_;
  double row_, leaf_, pair_, near_source_, m2p_target_, p2l_source_, m2l_pair_;
  double on_surfaces_;  ///< the time of the near field of a surface over that of others
};

/// By the number of multiprocessors, and that over the ratio of the precisions' rates.
DeviceSpeeds speeds_of(double size, double in_double) {
  return {.near_single = size,
          .near_double = in_double,
          .products_single = size,
          .products_double = in_double,
          .memory = size,
          .boxes = size,
          .m2p_single = size,
          .m2p_double = in_double,
          .p2l_single = size,
          .p2l_double = in_double,
          .displaced_single = size,
          .displaced_double = in_double,
          .start = 1};
}

thread_local bool looks_for_table = true;

}  // namespace

WithoutTable::WithoutTable() { looks_for_table = false; }
WithoutTable::~WithoutTable() { looks_for_table = true; }

DeviceRates device_rates() {
  const int processors = device_attribute(cudaDevAttrMultiProcessorCount),
            ratio = device_attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio);
  const double size = processors / 132.0, in_double = size * 2 / std::max(ratio, 1);
  std::optional<DeviceSpeeds> kept;
  if (looks_for_table) kept = kept_device_speeds(current_device_name());
  const DeviceSpeeds speeds = kept.value_or(speeds_of(size, in_double));
  return {.near_single = 2.75e12 * speeds.near_single,
          .near_double = 1.3e12 * speeds.near_double,
          .near_source_single = 4.5e-12 / speeds.near_single,
          .near_source_double = 8.5e-12 / speeds.near_double,
          .product_single = 110e12 * speeds.products_single,
          .product_double = 38e12 * speeds.products_double,
          .bandwidth = 3.5e12 * speeds.memory,
          .m2p_single = 6.6e11 * speeds.m2p_single,
          .m2p_double = 4e11 * speeds.m2p_double,
          .p2l_single = 5e11 * speeds.p2l_single,
          .p2l_double = 2.5e11 * speeds.p2l_double,
          .displaced_single = 1.2e13 * speeds.displaced_single,
          .displaced_double = 8e12 * speeds.displaced_double,
          .parent = 6e-9 / speeds.boxes,
          .parent_byte = 0.03e-9 / speeds.boxes,
          .leaf = 1.2e-9 / speeds.boxes,
          .leaf_byte = 0.006e-9 / speeds.boxes,
          .start = 40e-6 / speeds.start,
          .size = size,
          .slow_double = ratio > 8};
}

Precision precision_for(const fmm::PlanOptions& options, const DeviceRates& rates,
                        bool sources_are_targets) {
  if (!options.precision && rates.slow_double && !options.hessian && options.tolerance >= 1e-6)
    return Precision::single_precision;
  // Here sums, too, are in single precision: potentials of points in a volume are off by 4e-7.
  constexpr double least = 1e-6;
  if (!options.precision && sources_are_targets && !options.dipoles && !options.hessian &&
      options.tolerance >= least)
    return Precision::single_precision;
  return fmm::precision_of(options, false);
}

Precision near_precision_for(const fmm::PlanOptions& options, const DeviceRates& rates,
                             double extent) {
  if (options.hessian) return Precision::double_precision;
  // e^{−κr} multiplies by κ the rounding of r, some 2^-25 of a leaf's side; and a leaf's side is at
  // most a quarter of the extent, or it is all there is.
  if (options.kappa * extent > 2e7 * options.tolerance) return Precision::double_precision;
  if (!options.precision && rates.slow_double && options.tolerance >= 1e-6)
    return Precision::single_precision;
  // Pairs within a leaf have more digits here than on the CPU, those across its border fewer.
  const bool first = options.gradient != options.dipoles, any = options.gradient || options.dipoles;
  const double least = any && options.kappa > 0 ? 1e-5 : first ? 2e-6 : any ? 1e-5 : 1e-6;
  if (any && options.tolerance < least) return Precision::double_precision;
  return options.precision.value_or(options.tolerance >= least ? Precision::single_precision
                                                               : Precision::double_precision);
}

bool may_take_third_law(const fmm::PlanOptions& options, bool same) {
  FMBEM_REQUIRE(same || options.third_law != fmm::ThirdLaw::always,
                "the near field by Newton's third law needs sources that are the targets: give one "
                "set of points");
  if (options.third_law != fmm::ThirdLaw::automatic)
    return options.third_law == fmm::ThirdLaw::always;
  const bool has_pairs_of_leaves =
      options.method == fmm::Method::fmm || options.method == fmm::Method::hybrid;
  return same && has_pairs_of_leaves && !options.dipoles && !options.gradient;
}

bool third_law_pays(std::int64_t near_pairs, std::int64_t items, std::int64_t points,
                    Precision near, double branching) {
  // Pairs that are too close for single precision are computed again twice. With leaves of less
  // than some 200 points that costs more than is gained.
  if (near == Precision::single_precision && branching < fmm::branching_of_volumes) return false;
  // Measured (docs/papers.md): potentials gain an eighth from leaves of some 20 points on, each of
  // which has 27 near ones; with gradients four sums a point cost more than the pairs that are
  // spared.
  constexpr std::int64_t least_sources = 20 * 27;
  constexpr std::int64_t share = 16;  // of the GPU's memory: 9 GB of an H200
  const double numbers = 0.5 * static_cast<double>(near_pairs) * static_cast<double>(items) /
                         static_cast<double>(points);
  const double bytes = near == Precision::single_precision ? sizeof(float) : sizeof(double);
  return near_pairs >= least_sources * points && near_pairs < points * points &&
         bytes * numbers <= static_cast<double>(total_device_memory() / share);
}

fmm::HybridCosts hybrid_costs(const fmm::PlanOptions& options, int order, const DeviceRates& rates,
                              bool third_law) {
  return DeviceCost(options, order, rates, 0, {}, third_law).hybrid_costs(options.dipoles);
}

double least_fmm_seconds(int order, const DeviceRates& rates) {
  // Of 10,000 points in a cube, orders 8 and 24: 0.12 and 0.73 ms.
  constexpr double start = 30e-6, coefficient = 1.1e-6;
  return std::max(rates.start, start + coefficient * fmm::harmonic_count(order));
}

double direct_seconds(const fmm::PlanOptions& options, const DeviceRates& rates,
                      std::int64_t sources, std::int64_t targets) {
  // Launches; and small clouds, which have fewer boxes that are far from each other and fewer
  // rounds of blocks: with so many points a pair takes twice as long as in a large one.
  constexpr double start = 30e-6, points_of_twice_the_time = 6000;
  const double pairs = static_cast<double>(sources) * static_cast<double>(targets);
  return start + DeviceCost(options, 1, rates, 0, {}, false).one_leaf_seconds(pairs, 1) *
                     (1 + points_of_twice_the_time / std::sqrt(pairs));
}

fmm::TreeChoice choose_tree(const fmm::PlanOptions& options, int order, const DeviceRates& rates,
                            const TriedPoints& tried, std::int64_t sources, std::int64_t targets,
                            std::optional<double> near_pair_seconds, cudaStream_t stream) {
  // Points that are as many as others are most often the same.
  const bool third_law = sources == targets && !options.gradient && !options.dipoles &&
                         options.third_law != fmm::ThirdLaw::never;
  const DeviceCost cost(options, order, rates, tried.hull.side / tried.scale, near_pair_seconds,
                        third_law);
  const std::int64_t most = tried.count;
  fmm::TreeChoice best{options.max_leaf.value_or(cost.least_leaf()),
                       options.inflation.value_or(fmm::inflations[0])};
  if (options.max_leaf && options.inflation && options.order) return best;
  // One leaf of other pairs than those of P2P would be one block's work.
  if (!options.max_leaf && !near_pair_seconds) {
    best.seconds =
        cost.one_leaf_seconds(static_cast<double>(sources), static_cast<double>(targets));
    best.max_leaf = static_cast<int>(most);
  }
  const std::int64_t stride = std::clamp<std::int64_t>(most / sample_at_least, 1, sample_stride);
  const std::int64_t in_sample = sample_size(most, stride);
  const double weight = static_cast<double>(most) / static_cast<double>(in_sample);
  const std::vector<int> leaves =
      fmm::leaves_to_try(options.max_leaf.value_or(cost.least_leaf()) / weight, leaf_step,
                         options.max_leaf ? 1 : most_trials, static_cast<double>(in_sample));
  if (leaves.empty()) return best;
  const auto weights = [&](const std::vector<Cube>& of_roots) {
    return corner_weights(tried.points, most, tried.scale, of_roots, order, stream);
  };
  const std::vector<double> inflations = fmm::inflations_to_try(
      options.inflation, tried.on_lattice, tried.hull, in_sample, leaves.front(), weights);
  std::vector<Cube> roots;
  for (const double inflation : inflations)
    roots.push_back(fmm::inflated(tried.hull, inflation, tried.on_lattice));
  const std::vector<TreeCounts> counts =
      count_trees(tried.points, tried.order, most, stride, tried.scale, roots, leaves,
                  near_pair_seconds ? fmm::Leaves::plain : fmm::Leaves::merged, stream);
  const double fewer = static_cast<double>(std::min(sources, targets)) / static_cast<double>(most);
  for (std::size_t r = 0; r < roots.size(); ++r) {
    const auto of_root = std::span(counts).subspan(r * leaves.size(), leaves.size());
    const bool better = best.improve(inflations[r], leaves, of_root, [&](const TreeCounts& tree) {
      return cost.seconds(tree, weight, fewer);
    });
    // The sample knows leaf sizes to one of its points only, so the middle is taken.
    if (better) best.max_leaf = static_cast<int>(weight * (best.max_leaf + 0.5));
  }
  best.max_leaf = options.max_leaf.value_or(best.max_leaf);
  best.inflation =
      fmm::inflation_off_corners(options, tried.on_lattice, tried.hull, best, most, weights);
  return best;
}

}  // namespace fmbem::cuda
