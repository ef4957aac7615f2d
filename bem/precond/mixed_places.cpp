#include "fmbem/bem/precond/mixed_places.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "fmbem/bem/layer/complex_rows.hpp"
#include "fmbem/fmm/base/chunks.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/tree/morton.hpp"
#include "fmbem/fmm/tree/unions.hpp"

namespace fmbem {
namespace {

void check(const auto& values, std::size_t n) {
  FMBEM_REQUIRE(values.size() == n,
                "there are " << n << " panels, but rows of " << values.size() << " of them");
  std::size_t bad = n;
#pragma omp parallel for schedule(static) reduction(min : bad)
  for (std::size_t i = 0; i < n; ++i)
    if (!std::isfinite(std::abs(values[i]))) bad = std::min(bad, i);
  FMBEM_REQUIRE(bad == n, "the row of panel " << bad << " has a factor that is not finite");
}

template <class T>
void check(const BasicMixedRows<T>& rows, std::size_t n) {
  for (const auto* values : {&rows.alpha, &rows.beta, &rows.gamma}) check(*values, n);
  if (!rows.weight.empty()) check(rows.weight, n);
  FMBEM_REQUIRE((rows.equations.empty() && rows.stretched.empty()) || rows.part.size() == n,
                "there are " << n << " panels, but parts of " << rows.part.size() << " of them");
}

/// How charge equations name a part.
enum Naming : std::uint8_t { unnamed, named_as_other, has_equation, is_wall };
constexpr int namings = 4;

/// What the panels of a part add up to.
struct PartSums {
  double area = 0, charge_area = 0, weight2_area = 0;
  Vec3d moment{};  ///< Σ area × centroid
  std::int64_t panels = 0, single_layer_rows = 0;

  PartSums& operator+=(const PartSums& other) {
    area += other.area;
    charge_area += other.charge_area;
    weight2_area += other.weight2_area;
    moment += other.moment;
    panels += other.panels;
    single_layer_rows += other.single_layer_rows;
    return *this;
  }
  bool has_both() const { return single_layer_rows > 0 && single_layer_rows < panels; }
};

/// Sums over the panels of each part.
template <class T>
std::vector<PartSums> sums_of_parts(const Panels& panels, const BasicMixedRows<T>& rows,
                                    std::int32_t n_parts, std::span<const double> area) {
  return sums_of_groups<PartSums>(
      static_cast<std::int64_t>(panels.size()), n_parts,
      [&](std::int64_t i) { return rows.part[i]; },
      [&](std::int64_t i) {
        const double weight = charge_weight(rows, i);
        return PartSums{area[i],
                        weight * area[i],
                        weight * weight * area[i],
                        area[i] * panels.centroid(i),
                        1,
                        is_single_layer_row(rows, i)};
      });
}

/// How equations and shifts name parts, and which hang together.
struct NamedParts {
  std::vector<Naming> naming;
  std::vector<std::int32_t> equation;  ///< of each, or −1
  Unions walls;                        ///< the first of those that each hangs together with

  template <class T>
  NamedParts(const BasicMixedRows<T>& rows, std::int32_t n_parts)
      : naming(n_parts, unnamed), equation(n_parts, -1), walls(n_parts) {
    for (std::size_t e = 0; e < rows.equations.size(); ++e) {
      const auto& [part, others] = rows.equations[e];
      const auto name = [&](std::int32_t named, Naming as) {
        FMBEM_REQUIRE(named >= 0 && named < n_parts,
                      "a charge equation names part " << named << ", and there are " << n_parts);
        naming[named] = std::max(naming[named], as);
      };
      name(part, has_equation);
      FMBEM_REQUIRE(equation[part] < 0, "part " << part << " has two charge equations");
      equation[part] = static_cast<std::int32_t>(e);
      for (const auto& [other, factor] : others) {
        name(other, named_as_other);
        FMBEM_REQUIRE(std::isfinite(std::abs(factor)),
                      "a factor in the charge equation of part " << part << " is not finite");
      }
    }
    if (rows.stretched.empty()) return;
    for (const auto& shift : rows.shifts) {
      naming[shift.part] = is_wall;
      for (const auto& term : shift.terms) {
        if (term.flux == T(0) && term.row == T(0)) {
          naming[term.part] = std::max(naming[term.part], named_as_other);
          continue;
        }
        naming[term.part] = is_wall;
        walls.join(shift.part, term.part);
      }
    }
  }
};

/// Where parts that have a name are in their trees: [parts], rank −1 without one.
struct PartOrder {
  std::vector<std::int32_t> rank;
  std::vector<std::uint64_t> key;
  std::int32_t count = 0;
};

/// By the centroids of what they hang together with.
PartOrder order_of(NamedParts& names, const std::vector<PartSums>& sums) {
  const auto n_parts = static_cast<std::int32_t>(sums.size());
  std::vector<PartSums> of_all(n_parts);
  for (std::int32_t part = 0; part < n_parts; ++part) of_all[names.walls.root(part)] += sums[part];
  std::vector<std::int32_t> named;
  std::vector<Vec3d> centres;
  for (std::int32_t part = 0; part < n_parts; ++part) {
    const Naming naming = names.naming[part];
    FMBEM_REQUIRE(naming != has_equation || sums[part].panels > 0,
                  "part " << part << " of a charge equation has no panel");
    if (naming == unnamed || sums[part].panels == 0) continue;
    FMBEM_REQUIRE(!sums[part].has_both(),
                  "part " << part << ", which a charge equation names, has rows both with K' and "
                          << "of V alone: make it two parts");
    named.push_back(part);
    const PartSums& all = of_all[names.walls.root(part)];
    centres.push_back(all.moment / all.area);
  }
  PartOrder result{std::vector<std::int32_t>(n_parts, -1), std::vector<std::uint64_t>(n_parts, 0),
                   static_cast<std::int32_t>(named.size())};
  if (named.empty()) return result;
  const MortonOrder order = morton_order(centres);
  std::vector<std::size_t> sorted(named.size());
  std::iota(sorted.begin(), sorted.end(), 0);
  const auto root_at = [&](std::size_t k) { return names.walls.root(named[order.order[k]]); };
  std::stable_sort(sorted.begin(), sorted.end(), [&](std::size_t a, std::size_t b) {
    return order.keys[a] != order.keys[b] ? a < b : root_at(a) < root_at(b);
  });
  for (std::size_t k = 0; k < named.size(); ++k) {
    result.rank[named[order.order[sorted[k]]]] = static_cast<std::int32_t>(k);
    result.key[named[order.order[k]]] = order.keys[k];
  }
  return result;
}

}  // namespace

template <class T>
MixedPlaces::MixedPlaces(const Panels& panels, const BasicMixedRows<T>& rows) {
  const auto n = static_cast<std::int32_t>(panels.size());
  check(rows, panels.size());
  const bool has_parts = !rows.equations.empty() || !rows.stretched.empty();
  const auto bounds =
      has_parts ? extremes_of<std::int32_t>(rows.part) : Extremes<std::int32_t>{0, -1};
  const std::int32_t n_parts = bounds.most + 1;
  FMBEM_REQUIRE(bounds.least >= 0, "parts of panels are counted from 0");
  NamedParts names(rows, n_parts);
  std::vector<PartSums> sums;
  if (has_parts) {
    area = areas_of(panels);
    sums = sums_of_parts(panels, rows, n_parts, *area);
  }
  const PartOrder order = order_of(names, sums);

  // Panels sorted by their tree, then by their part; they are in Morton order already.
  const std::int32_t ranks = order.count + 1, groups = 2 * namings * ranks;
  const auto group_of = [&](std::int64_t i) {
    const std::int32_t part = has_parts ? rows.part[i] : -1,
                       tree = (is_single_layer_row(rows, i) ? 0 : namings) +
                              (part < 0 ? unnamed : names.naming[part]);
    return tree * ranks + (part < 0 ? 0 : order.rank[part] + 1);
  };
  GroupOrder sorted = sort_by_group(n, groups, group_of);
  std::vector<std::int32_t> part_of_rank(ranks, -1), number(groups, -1);
  for (std::int32_t part = 0; part < n_parts; ++part)
    if (order.rank[part] >= 0) part_of_rank[order.rank[part] + 1] = part;
  number_of.assign(n_parts, -1);
  std::int32_t tree_before = -1;
  for (std::int32_t group = 0; group < groups; ++group) {
    const std::int32_t begin = sorted.begin[group], end = sorted.begin[group + 1];
    if (begin == end) continue;
    if (std::exchange(tree_before, group / ranks) != group / ranks)
      trees.tree_begin.push_back(begin);
    const std::int32_t part = part_of_rank[group % ranks];
    if (part < 0) continue;
    number[group] = number_of[part] = static_cast<std::int32_t>(parts.size());
    parts.push_back({begin, end, sums[part].area, sums[part].charge_area, sums[part].weight2_area,
                     names.equation[part]});
  }
  trees.tree_begin.push_back(n);

  trees.panel = std::move(sorted.number);
  trees.key.resize(n);
  trees.part.resize(n);
  trees.part_key.resize(n);
#pragma omp parallel for schedule(static)
  for (std::int32_t place = 0; place < n; ++place) {
    const std::int32_t i = trees.panel[place], of_part = number[group_of(i)];
    trees.key[place] = panels.key[i];
    trees.part[place] = of_part;
    trees.part_key[place] = of_part < 0 ? 0 : order.key[rows.part[i]];
  }

  // Parts that hang together stand next to each other.
  std::vector<std::int32_t> first(n_parts, n), last(n_parts, 0);
  for (std::int32_t part = 0; part < n_parts; ++part) {
    if (number_of[part] < 0) continue;
    const std::int32_t all = names.walls.root(part);
    first[all] = std::min(first[all], parts[number_of[part]].begin);
    last[all] = std::max(last[all], parts[number_of[part]].end);
  }
  for (std::int32_t part = 0; part < n_parts; ++part) {
    if (number_of[part] < 0) continue;
    parts[number_of[part]].all_begin = first[names.walls.root(part)];
    parts[number_of[part]].all_end = last[names.walls.root(part)];
  }
}

template MixedPlaces::MixedPlaces(const Panels&, const MixedRows&);
template MixedPlaces::MixedPlaces(const Panels&, const ComplexRows&);

}  // namespace fmbem
