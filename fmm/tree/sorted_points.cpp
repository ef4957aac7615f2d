#include "fmbem/fmm/tree/sorted_points.hpp"

#include <algorithm>
#include <parallel/algorithm>
#include <utility>

namespace fmbem::fmm {
namespace {

/// All may sink to the deepest level, and there is no order to begin with.
SortedPoints sort_anew(std::span<const Vec3d> points, double unit, const Cube& root) {
  const auto n = static_cast<std::int32_t>(points.size());
  LargeVector<KeyedPoint> by_upper_bits(n);
#pragma omp parallel for schedule(static)
  for (std::int32_t i = 0; i < n; ++i) by_upper_bits[i] = {morton_key(unit * points[i], root), i};
  radix_sort(by_upper_bits);
  return points_in_order(points, unit, root, by_upper_bits);
}

}  // namespace

SortedPoints points_in_order(std::span<const Vec3d> points, double unit, const Cube& root,
                             std::span<const KeyedPoint> by_upper_bits) {
  const auto n = static_cast<std::int32_t>(points.size());
  SortedPoints sorted;
  sorted.keys.resize(n);
  sorted.order.resize(n);
  for (auto* axis : {&sorted.x, &sorted.y, &sorted.z}) axis->resize(n);
  const auto place = [&](std::int32_t k, std::int32_t i) {
    const Vec3d p = unit * points[i];
    sorted.order[k] = i;
    sorted.x[k] = p.x;
    sorted.y[k] = p.y;
    sorted.z[k] = p.z;
  };
  const auto make_key = [&](std::int32_t k) {
    sorted.keys[k] = tree_key({sorted.x[k], sorted.y[k], sorted.z[k]}, root);
  };
  // Two loops: points are waited for side by side only if little else is done with each.
#pragma omp parallel for schedule(static)
  for (std::int32_t k = 0; k < n; ++k) place(k, by_upper_bits[k].index);
#pragma omp parallel for schedule(static)
  for (std::int32_t k = 0; k < n; ++k) make_key(k);
  constexpr std::uint64_t lower_half = (std::uint64_t{1} << 3 * deepest_level) - 1;
  // What the upper bits do not tell apart: few points, or many that nearly coincide.
  for (std::int32_t begin = 0; begin < n;) {
    std::int32_t end = begin + 1;
    while (end < n && by_upper_bits[end].key == by_upper_bits[begin].key) ++end;
    if (end - begin > 1) {
      LargeVector<KeyedPoint> by_lower_bits(end - begin);
      for (std::int32_t k = begin; k < end; ++k)
        by_lower_bits[k - begin] = {static_cast<std::uint64_t>(sorted.keys[k]) & lower_half,
                                    sorted.order[k]};
      radix_sort(by_lower_bits);
      for (std::int32_t k = begin; k < end; ++k) place(k, by_lower_bits[k - begin].index);
      for (std::int32_t k = begin; k < end; ++k) make_key(k);
    }
    begin = end;
  }
  return sorted;
}

SortedPoints sort_points(std::span<const Vec3d> points, double unit, const Cube& root,
                         std::span<const std::int8_t> deepest,
                         std::span<const std::int32_t> input_order, int levels) {
  if (deepest.empty() && input_order.empty() && levels == deepest_tree_level)
    return sort_anew(points, unit, root);
  struct Entry {
    TreeKey key;
    std::int32_t index;
    std::int8_t deepest;
  };
  const auto input_index = [&](std::int32_t i) { return input_order.empty() ? i : input_order[i]; };
  const auto n = static_cast<std::int32_t>(points.size());
  LargeVector<Entry> entries(n);
#pragma omp parallel for schedule(static)
  for (std::int32_t i = 0; i < n; ++i) {
    const std::int8_t level = deepest.empty() ? static_cast<std::int8_t>(levels) : deepest[i];
    const int shift = 3 * (deepest_tree_level - level);
    entries[i] = {tree_key(unit * points[i], root) >> shift << shift, i, level};
  }
  const auto before = [&](const Entry& a, const Entry& b) {
    if (a.key != b.key) return a.key < b.key;
    if (a.deepest != b.deepest) return a.deepest < b.deepest;
    return input_index(a.index) < input_index(b.index);
  };
  // A merge sort is the faster the fewer points are out of place.
  if (input_order.empty())
    __gnu_parallel::sort(entries.begin(), entries.end(), before);
  else
    __gnu_parallel::stable_sort(entries.begin(), entries.end(), before);

  SortedPoints sorted;
  sorted.levels = levels;
  sorted.keys.resize(n);
  sorted.order.resize(n);
  sorted.deepest.resize(deepest.empty() ? 0 : n);
  for (auto* axis : {&sorted.x, &sorted.y, &sorted.z}) axis->resize(n);
#pragma omp parallel for schedule(static)
  for (std::int32_t k = 0; k < n; ++k) {
    const std::int32_t i = entries[k].index;
    sorted.keys[k] = entries[k].key;
    sorted.order[k] = input_index(i);
    if (!deepest.empty()) sorted.deepest[k] = entries[k].deepest;
    const Vec3d p = unit * points[i];
    sorted.x[k] = p.x;
    sorted.y[k] = p.y;
    sorted.z[k] = p.z;
  }
  return sorted;
}

SortedPoints sort_keys(std::span<const Vec3d> points, double unit, const Cube& root) {
  SortedPoints sorted;
  sorted.keys.resize(points.size());
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < points.size(); ++i) sorted.keys[i] = tree_key(unit * points[i], root);
  __gnu_parallel::sort(sorted.keys.begin(), sorted.keys.end());
  return sorted;
}

}  // namespace fmbem::fmm
