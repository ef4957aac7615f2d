#include "fmbem/fmm/choice/cost.hpp"

#include <array>
#include <bit>
#include <cmath>

#include "fmbem/fmm/expansion/harmonics.hpp"
#include "fmbem/fmm/expansion/m2l_blocks.hpp"
#include "fmbem/fmm/expansion/translations.hpp"

namespace fmbem::fmm {
namespace {

/// Orbits that the children of each of the 27 colleagues belong to, by their octants' bits.
std::array<std::array<std::uint32_t, 256>, 27> orbit_table() {
  std::array<std::array<std::uint32_t, 256>, 27> table{};
  for (int place = 0; place < 27; ++place) {
    const int steps[3] = {place / 9, place / 3 % 3, place % 3};
    for (int octant = 0; octant < 8; ++octant) {
      int orbit = 0;
      for (int axis = 0; axis < 3; ++axis) {
        const int cell = 2 * steps[axis] + (octant >> (2 - axis) & 1);  // 0 … 5
        orbit = 3 * orbit + (cell < 3 ? 2 - cell : cell - 3);
      }
      for (int set = 0; set < 256; ++set)
        if (set >> octant & 1) table[place][set] |= 1u << orbit;
    }
  }
  return table;
}

/// What the near field does beside pairs, for each source that a leaf is near to (bringing it
/// there, its sums back) and each box of them, in pairs of the fastest kernel; without Newton's
/// third law twice as much, as each is brought to twice as many leaves. Fitted, as the two below,
/// to times of a million points in leaves of 20 to 640 (docs/performance.md).
constexpr double pairs_of_a_source = 11, pairs_of_a_box = 220, with_gradients = 1.8;
/// A product's time over that of the kernel alone, and what else there is to do for a row, in
/// numbers that a butterfly takes.
constexpr double product_overhead = 1.1, numbers_of_a_row = 60;

constexpr std::uint32_t all_but_siblings = ((1u << orbits) - 1) & ~1u;

}  // namespace

Precision precision_of(const PlanOptions& options, bool sources_are_targets) {
  const double least = sources_are_targets && !options.dipoles ? 1e-6 : 5e-6;
  return options.precision.value_or(options.tolerance >= least ? Precision::single_precision
                                                               : Precision::double_precision);
}

Precision near_precision_of(const PlanOptions& options) {
  const double least = options.dipoles ? 1e-5 : 1e-6;
  if ((options.gradient || options.dipoles) && options.tolerance < least)
    return Precision::double_precision;
  return options.precision.value_or(options.tolerance >= least ? Precision::single_precision
                                                               : Precision::double_precision);
}

int root_terms(const PlanOptions& options) {
  const double coarse = options.gradient || options.dipoles ? 3e-4 : 1e-4;
  return options.tolerance >= coarse  ? 0
         : options.tolerance >= 1e-6  ? 1
         : options.tolerance >= 1e-12 ? 2
                                      : 3;
}

double near_pairs_per_second(const PlanOptions& options, bool sources_are_targets) {
  const Precision precision = near_precision_of(options);
  const ThreadRates& r = machine_rates().of(precision);
  const bool exact = root_terms(options) > (precision == Precision::single_precision ? 0 : 1);
  if (options.dipoles)  // some half as many operations again
    return (options.gradient ? r.near_gradient_exact : r.near_potential_exact) / 1.5;
  if (sources_are_targets)
    return options.gradient ? (exact ? r.mutual_gradient_exact : r.mutual_gradient)
                            : (exact ? r.mutual_potential_exact : r.mutual_potential);
  return options.gradient ? (exact ? r.near_gradient_exact : r.near_gradient)
                          : (exact ? r.near_potential_exact : r.near_potential);
}

CostModel::CostModel(const PlanOptions& options, bool sources_are_targets, int order, double weight)
    : weight_(weight) {
  const ThreadRates& rates = machine_rates().of(precision_of(options, sources_are_targets));
  const double count = harmonic_count(order);
  pair_ = 1 / near_pairs_per_second(options, sources_are_targets);
  const double unit = (options.gradient ? with_gradients : 1) * (sources_are_targets ? 1 : 2) /
                      machine_rates().of(Precision::single_precision).mutual_potential;
  near_source_ = pairs_of_a_source * unit;
  near_box_ = pairs_of_a_box * unit;
  row_ = product_overhead * m2l_row_operations(order, m2l_orders(sources_are_targets)) /
             rates.product_at(order) +
         8 * (count + numbers_of_a_row) / rates.butterfly;
  point_ = (options.gradient ? 2.5 : 1) * count / rates.points;
  // M2M and L2L of a child, and what the points' stages do for a whole leaf.
  box_ = 4 * count * count / 8 / rates.product_at(order) + 8 * count / rates.butterfly +
         8 * count / rates.points;
}

double CostModel::far_seconds(const TreeWork& work) const {
  return row_ * work.m2l_rows + box_ * work.boxes +
         (work.has_far ? point_ * weight_ * work.points : 0);
}

double CostModel::near_seconds(const TreeWork& work) const {
  return pair_ * weight_ * weight_ * work.near_pairs + near_source_ * weight_ * work.near_sources +
         near_box_ * work.near_boxes;
}

double CostModel::direct_seconds(std::size_t sources, std::size_t targets) const {
  return pair_ * static_cast<double>(sources) * static_cast<double>(targets);
}

double CostModel::balanced_leaf() const {
  // 27 n² pairs against an eighth of the parent's 26 rows.
  return std::max(8.0, std::sqrt(26.0 / 8 * row_ / (27 * pair_)));
}

std::vector<std::uint8_t> occupied_octants(const Octree& tree) {
  std::vector<std::uint8_t> occupied(tree.boxes.size());
#pragma omp parallel for schedule(static) if (tree.boxes.size() > 10'000)
  for (std::size_t b = 0; b < tree.boxes.size(); ++b) {
    for (int octant = 0; octant < 8; ++octant) {
      const std::int32_t child = tree.boxes[b].child[octant];
      if (child >= 0 && tree.boxes[child].sources.size() > 0)
        occupied[b] |= static_cast<std::uint8_t>(1u << octant);
    }
  }
  return occupied;
}

std::uint32_t orbits_at(int place, std::uint8_t occupied) {
  static const auto table = orbit_table();
  return table[place][occupied] & all_but_siblings;
}

std::uint32_t occupied_orbits(const Octree& tree, std::int32_t parent,
                              std::span<const std::uint8_t> occupied) {
  std::uint32_t orbits_with_sources = 0;
  for (int place = 0; place < 27; ++place) {
    const std::int32_t uncle = tree.colleagues[parent][place];
    if (uncle >= 0) orbits_with_sources |= orbits_at(place, occupied[uncle]);
  }
  return orbits_with_sources;
}

std::int64_t m2l_rows(const Octree& tree) {
  const std::vector<std::uint8_t> occupied = occupied_octants(tree);
  std::int64_t rows = 0;
  for (std::size_t b = 0; b < tree.boxes.size(); ++b)
    if (!tree.boxes[b].is_leaf && tree.boxes[b].level > 0 && tree.boxes[b].targets.size() > 0)
      rows += std::popcount(occupied_orbits(tree, static_cast<std::int32_t>(b), occupied));
  return rows;
}

}  // namespace fmbem::fmm
