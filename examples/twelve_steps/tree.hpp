// Boxes of the unit cube, as step 7 explains them: level by level, 8^level of them, by Morton key.
#pragma once

#include <algorithm>
#include <array>
#include <numeric>

#include "fmbem/fmm/tree/morton_bits.hpp"
#include "step.hpp"

/// A point's box on a level: three bits of its key a level say which of eight children.
inline std::size_t box_of(Vec3d x, int level) {
  return fmbem::morton_key(x, {{0, 0, 0}, 1}) >> 3 * (fmbem::deepest_level - level);
}
inline std::array<int, 3> cell_of_box(std::size_t box) {
  const fmbem::Cell cell = fmbem::grid_cell(box);
  return {cell.x, cell.y, cell.z};
}
inline Vec3d centre_of(std::size_t box, int level) {
  const double side = std::ldexp(1.0, -level);
  const auto cell = cell_of_box(box);
  return side * Vec3d{cell[0] + 0.5, cell[1] + 0.5, cell[2] + 0.5};
}
/// Boxes of the level that touch a box, with itself.
inline std::vector<std::size_t> neighbours(std::size_t box, int level) {
  const auto c = cell_of_box(box);
  const int n = 1 << level;
  std::vector<std::size_t> found;
  for (int x = std::max(c[0] - 1, 0); x <= std::min(c[0] + 1, n - 1); ++x)
    for (int y = std::max(c[1] - 1, 0); y <= std::min(c[1] + 1, n - 1); ++y)
      for (int z = std::max(c[2] - 1, 0); z <= std::min(c[2] + 1, n - 1); ++z)
        found.push_back(fmbem::grid_key({x, y, z}));
  return found;
}

/// Charges in the order of their boxes on the deepest level; box b has begin[b] … begin[b + 1].
struct Tree {
  Tree(const Charges& c, int deepest) : depth(deepest), order(c.x.size()) {
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<std::size_t> key(c.x.size());
    for (std::size_t i = 0; i < key.size(); ++i) key[i] = box_of(c.x[i], depth);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return key[a] < key[b]; });
    begin.assign((std::size_t{1} << 3 * depth) + 1, 0);
    for (const std::size_t b : key) ++begin[b + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    for (const std::size_t i : order) {
      sorted.x.push_back(c.x[i]);
      sorted.q.push_back(c.q[i]);
    }
  }
  /// The charges of a box of any level stand together.
  std::size_t first(std::size_t box, int level) const { return begin[box << 3 * (depth - level)]; }
  std::size_t last(std::size_t box, int level) const { return first(box + 1, level); }

  int depth;
  std::vector<std::size_t> order, begin;
  Charges sorted;
};
