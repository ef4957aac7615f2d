#include "fmbem/fmm/tree/prune.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "fmbem/fmm/base/chunks.hpp"

namespace fmbem::fmm {

LargeVector<std::int32_t> prune_octree(Octree& tree, std::span<const std::uint8_t> stays_split) {
  const std::size_t n = tree.boxes.size();
  const std::vector<std::int32_t> kept =
      numbers_where(static_cast<std::int64_t>(n),
                    [&](std::int64_t b) { return b == 0 || stays_split[tree.boxes[b].parent]; });
  LargeVector<std::int32_t> place(n);
#pragma omp parallel for schedule(static)
  for (std::size_t b = 0; b < n; ++b) place[b] = -1;
#pragma omp parallel for schedule(static)
  for (std::size_t k = 0; k < kept.size(); ++k) place[kept[k]] = static_cast<std::int32_t>(k);
  if (kept.size() == n) return place;
  const auto now = [&](std::int32_t b) { return b < 0 ? -1 : place[b]; };
  LargeVector<Box> boxes(kept.size());
  LargeVector<std::array<std::int32_t, 27>> colleagues(kept.size());
#pragma omp parallel for schedule(static)
  for (std::size_t k = 0; k < kept.size(); ++k) {
    Box& box = boxes[k] = tree.boxes[kept[k]];
    box.is_leaf = !stays_split[kept[k]];
    box.parent = now(box.parent);
    for (std::int32_t& child : box.child) child = now(child);
    for (int place_about = 0; place_about < 27; ++place_about)
      colleagues[k][place_about] = now(tree.colleagues[kept[k]][place_about]);
  }
  tree.boxes = std::move(boxes);
  tree.colleagues = std::move(colleagues);
  std::vector<std::int32_t> level_begin;
  for (const std::int32_t begin : tree.level_begin)
    level_begin.push_back(static_cast<std::int32_t>(
        std::lower_bound(kept.begin(), kept.end(), begin) - kept.begin()));
  level_begin.erase(std::unique(level_begin.begin(), level_begin.end()), level_begin.end());
  tree.level_begin = std::move(level_begin);
  return place;
}

}  // namespace fmbem::fmm
