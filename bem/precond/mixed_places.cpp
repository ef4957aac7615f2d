#include "fmbem/bem/precond/mixed_places.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fmbem/bem/layer/complex_rows.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/tree/morton.hpp"
#include "fmbem/fmm/tree/unions.hpp"

namespace fmbem {
namespace {

void check(const auto& values, std::size_t n) {
  FMBEM_REQUIRE(values.size() == n,
                "there are " << n << " panels, but rows of " << values.size() << " of them");
  for (std::size_t i = 0; i < n; ++i)
    FMBEM_REQUIRE(std::isfinite(std::abs(values[i])),
                  "the row of panel " << i << " has a factor that is not finite");
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

}  // namespace

template <class T>
MixedPlaces::MixedPlaces(const Panels& panels, std::span<const Triangle> triangles,
                         const BasicMixedRows<T>& rows) {
  const auto n = static_cast<std::int32_t>(panels.size());
  check(rows, panels.size());

  // Which parts equations name.
  const bool has_parts = !rows.equations.empty() || !rows.stretched.empty();
  const std::int32_t n_parts =
      has_parts ? *std::max_element(rows.part.begin(), rows.part.end()) + 1 : 0;
  FMBEM_REQUIRE(!has_parts || *std::min_element(rows.part.begin(), rows.part.end()) >= 0,
                "parts of panels are counted from 0");
  std::vector<Naming> naming(n_parts, unnamed);
  std::vector<Part> of_part(n_parts, {0, 0, 0, 0, -1});
  for (std::size_t e = 0; e < rows.equations.size(); ++e) {
    const auto& [part, others] = rows.equations[e];
    const auto name = [&](std::int32_t named, Naming as) {
      FMBEM_REQUIRE(named >= 0 && named < n_parts,
                    "a charge equation names part " << named << ", and there are " << n_parts);
      naming[named] = std::max(naming[named], as);
    };
    name(part, has_equation);
    FMBEM_REQUIRE(of_part[part].equation < 0, "part " << part << " has two charge equations");
    of_part[part].equation = static_cast<std::int32_t>(e);
    for (const auto& [other, factor] : others) {
      name(other, named_as_other);
      FMBEM_REQUIRE(std::isfinite(std::abs(factor)),
                    "a factor in the charge equation of part " << part << " is not finite");
    }
  }

  // Walls, and the first of those that each hangs together with.
  Unions walls(n_parts);
  for (const auto& shift : rows.shifts) {
    if (rows.stretched.empty()) break;
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

  // Their areas, and their order by centroids.
  std::vector<Vec3d> centroid(n_parts);
  std::vector<std::int8_t> kind(n_parts, -1);
  for (std::int32_t i = 0; i < n && has_parts; ++i) {
    const std::int32_t part = rows.part[i];
    of_part[part].area += triangles[i].area;
    of_part[part].charge_area += charge_weight(rows, i) * triangles[i].area;
    centroid[part] += triangles[i].area * triangles[i].centroid;
    const auto own = static_cast<std::int8_t>(!is_single_layer_row(rows, i));
    FMBEM_REQUIRE(naming[part] == unnamed || kind[part] == -1 || kind[part] == own,
                  "part " << part << ", which a charge equation names, has rows both with K' and "
                          << "of V alone: make it two parts");
    kind[part] = own;
  }
  std::vector<double> area_of_all(n_parts, 0.0);
  std::vector<Vec3d> centroid_of_all(n_parts);
  for (std::int32_t part = 0; part < n_parts; ++part) {
    area_of_all[walls.root(part)] += of_part[part].area;
    centroid_of_all[walls.root(part)] += centroid[part];
  }
  std::vector<std::int32_t> named;
  std::vector<Vec3d> centres;
  for (std::int32_t part = 0; part < n_parts; ++part) {
    FMBEM_REQUIRE(naming[part] != has_equation || kind[part] != -1,
                  "part " << part << " of a charge equation has no panel");
    if (naming[part] == unnamed || kind[part] == -1) continue;
    named.push_back(part);
    const std::int32_t all = walls.root(part);
    centres.push_back(centroid_of_all[all] / area_of_all[all]);
  }
  std::vector<std::uint64_t> key_of_part(n_parts, 0);
  std::vector<std::int32_t> rank(n_parts, -1);
  if (!named.empty()) {
    const MortonOrder order = morton_order(centres);
    std::vector<std::size_t> sorted(named.size());
    std::iota(sorted.begin(), sorted.end(), 0);
    const auto root_at = [&](std::size_t k) { return walls.root(named[order.order[k]]); };
    std::stable_sort(sorted.begin(), sorted.end(), [&](std::size_t a, std::size_t b) {
      return order.keys[a] != order.keys[b] ? a < b : root_at(a) < root_at(b);
    });
    for (std::size_t k = 0; k < named.size(); ++k) {
      rank[named[order.order[sorted[k]]]] = static_cast<std::int32_t>(k);
      key_of_part[named[order.order[k]]] = order.keys[k];
    }
  }

  // Panels sorted by their tree, then by their part; they are in Morton order already.
  const auto tree_of = [&](std::int32_t i) {
    const int with_k = is_single_layer_row(rows, i) ? 0 : 1;
    return namings * with_k + (has_parts ? naming[rows.part[i]] : unnamed);
  };
  const auto rank_of = [&](std::int32_t i) { return has_parts ? rank[rows.part[i]] : -1; };
  const auto ranks = static_cast<std::int32_t>(named.size()) + 1;
  const auto group_of = [&](std::int32_t i) { return tree_of(i) * ranks + rank_of(i) + 1; };
  std::vector<std::int32_t> next(2 * namings * ranks + 1, 0);
  for (std::int32_t i = 0; i < n; ++i) ++next[group_of(i) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  trees.panel.resize(n);
  for (std::int32_t i = 0; i < n; ++i) trees.panel[next[group_of(i)]++] = i;

  trees.key.resize(n);
  trees.part.assign(n, -1);
  trees.part_key.assign(n, 0);
  number_of.assign(n_parts, -1);
  for (std::int32_t place = 0; place < n; ++place) {
    const std::int32_t i = trees.panel[place];
    trees.key[place] = panels.key[i];
    if (place == 0 || tree_of(trees.panel[place - 1]) != tree_of(i))
      trees.tree_begin.push_back(place);
    if (rank_of(i) < 0) continue;
    const std::int32_t part = rows.part[i];
    if (number_of[part] < 0) {
      number_of[part] = static_cast<std::int32_t>(parts.size());
      parts.push_back(of_part[part]);
      parts.back().begin = place;
    }
    parts[number_of[part]].end = place + 1;
    trees.part[place] = number_of[part];
    trees.part_key[place] = key_of_part[part];
  }
  trees.tree_begin.push_back(n);

  // Parts that hang together stand next to each other.
  std::vector<std::int32_t> first(n_parts, n), last(n_parts, 0);
  for (std::int32_t part = 0; part < n_parts; ++part) {
    if (number_of[part] < 0) continue;
    const std::int32_t all = walls.root(part);
    first[all] = std::min(first[all], parts[number_of[part]].begin);
    last[all] = std::max(last[all], parts[number_of[part]].end);
  }
  for (std::int32_t part = 0; part < n_parts; ++part) {
    if (number_of[part] < 0) continue;
    parts[number_of[part]].all_begin = first[walls.root(part)];
    parts[number_of[part]].all_end = last[walls.root(part)];
  }
}

template MixedPlaces::MixedPlaces(const Panels&, std::span<const Triangle>, const MixedRows&);
template MixedPlaces::MixedPlaces(const Panels&, std::span<const Triangle>, const ComplexRows&);

}  // namespace fmbem
