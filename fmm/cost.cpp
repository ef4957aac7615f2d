#include "fmbem/fmm/cost.hpp"

#include <array>
#include <bit>
#include <cmath>

#include "fmbem/fmm/harmonics.hpp"
#include "fmbem/fmm/translations.hpp"

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

/// What the near field does beside pairs, in pairs of one target, for each source of a near leaf
/// (placing it, targets that fill up a register) and each near leaf. Fitted to times of a million
/// points with leaves of 8 to 60, of potentials and of gradients.
constexpr double pairs_of_a_source = 16, pairs_of_a_leaf = 450;

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
  row_ = 16 * count * count / rates.product_at(order) + 8 * count / rates.butterfly;
  point_ = (options.gradient ? 2.5 : 1) * count / rates.points;
  // M2M and L2L of a child, and what the points' stages do for a whole leaf.
  box_ = 4 * count * count / 8 / rates.product_at(order) + 8 * count / rates.butterfly +
         8 * count / rates.points;
}

double CostModel::far_seconds(const Octree& tree) const {
  const Box& root = tree.boxes[0];
  const double points = weight_ * (root.sources.size() + root.targets.size()) / 2;
  return row_ * static_cast<double>(m2l_rows(tree)) +
         box_ * static_cast<double>(tree.boxes.size()) + (tree.levels() > 2 ? point_ * points : 0);
}

double CostModel::near_seconds(const Octree& tree, const NearLists& near) const {
  double pairs = 0;
  for (std::size_t row = 0; row < near.targets.size(); ++row) {
    double sources = 0;
    for (std::int64_t k = near.begin[row]; k < near.begin[row + 1]; ++k)
      sources += tree.boxes[near.sources[k]].own_sources().size();
    pairs += weight_ * sources *
             (weight_ * tree.boxes[near.targets[row]].targets.size() + pairs_of_a_source);
  }
  return pair_ * (pairs + pairs_of_a_leaf * static_cast<double>(near.sources.size()));
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
  for (std::size_t b = 0; b < tree.boxes.size(); ++b) {
    for (int octant = 0; octant < 8; ++octant) {
      const std::int32_t child = tree.boxes[b].child[octant];
      if (child >= 0 && tree.boxes[child].sources.size() > 0)
        occupied[b] |= static_cast<std::uint8_t>(1u << octant);
    }
  }
  return occupied;
}

std::uint32_t occupied_orbits(const Octree& tree, std::int32_t parent,
                              std::span<const std::uint8_t> occupied) {
  static const auto table = orbit_table();
  std::uint32_t orbits_with_sources = 0;
  for (int place = 0; place < 27; ++place) {
    const std::int32_t uncle = tree.colleagues[parent][place];
    if (uncle >= 0) orbits_with_sources |= table[place][occupied[uncle]];
  }
  return orbits_with_sources & all_but_siblings;
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
