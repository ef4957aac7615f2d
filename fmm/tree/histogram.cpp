#include "fmbem/fmm/tree/histogram.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "fmbem/fmm/base/chunks.hpp"
#include "fmbem/fmm/tree/radix_sort.hpp"

namespace fmbem::fmm {
namespace {

/// Cells with more points are sorted by all threads, one after the other.
constexpr std::int32_t large_cell = 2048;

}  // namespace

int histogram_level(std::int64_t points) {
  int level = 0;
  while (level < deepest_histogram && std::int64_t{4} << 3 * (level + 1) <= points) ++level;
  return level;
}

SortedPoints sort_by_histogram(std::span<const Vec3d> points, double unit, const Cube& root) {
  const auto n = static_cast<std::int64_t>(points.size());
  const int level = histogram_level(n), shift = 3 * (deepest_level - level);
  const std::int64_t cells = std::int64_t{1} << 3 * level;
  LargeVector<std::uint64_t> keys(n);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < n; ++i) keys[i] = morton_key(unit * points[i], root);
  GroupOrder in_cells = sort_by_group(n, cells, [&](std::int64_t i) { return keys[i] >> shift; });
  LargeVector<KeyedPoint> sorted(n);
#pragma omp parallel for schedule(static)
  for (std::int64_t k = 0; k < n; ++k) sorted[k] = {keys[in_cells.number[k]], in_cells.number[k]};
  const auto in_cell = [&](std::int64_t cell) {
    return std::span(sorted).subspan(in_cells.begin[cell],
                                     in_cells.begin[cell + 1] - in_cells.begin[cell]);
  };
  const auto is_large = [&](std::int64_t cell) { return in_cell(cell).size() > large_cell; };
#pragma omp parallel for schedule(dynamic, 256)
  for (std::int64_t cell = 0; cell < cells; ++cell)
    if (!is_large(cell)) radix_sort(in_cell(cell));
  for (const std::int32_t cell : numbers_where(cells, is_large)) radix_sort(in_cell(cell));
  SortedPoints result = points_in_order(points, unit, root, sorted);
  result.bookmarks = {level, std::move(in_cells.begin)};
  return result;
}

}  // namespace fmbem::fmm
