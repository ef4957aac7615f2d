#include "fmbem/bem/near/near_panels.hpp"

#include <algorithm>
#include <utility>

namespace fmbem {

NearPanels::NearPanels(std::shared_ptr<const fmm::PointTree> tree,
                       std::shared_ptr<const PanelPieces> pieces)
    : tree_(std::move(tree)), pieces_(std::move(pieces)) {
  if (!pieces_) return;
  std::vector<std::vector<std::int32_t>> of_row(rows());
#pragma omp parallel
  {
    std::vector<Stretch> found;
#pragma omp for schedule(dynamic, 8)
    for (std::size_t row = 0; row < of_row.size(); ++row) {
      stretches(row, found);
      for (const Stretch& s : found)
        if (of_row[row].empty() || of_row[row].back() != s.panel) of_row[row].push_back(s.panel);
    }
  }
  begin_.push_back(0);
  for (const auto& panels : of_row) {
    panels_.insert(panels_.end(), panels.begin(), panels.end());
    begin_.push_back(static_cast<std::int64_t>(panels_.size()));
  }
}

void NearPanels::stretches(std::size_t row, std::vector<Stretch>& found) const {
  std::vector<std::int32_t> near;
  for_near_sources(*tree_, near_row(*tree_, row),
                   [&](std::int32_t piece) { near.push_back(piece); });
  std::sort(near.begin(), near.end());
  found.clear();
  for (const std::int32_t piece : near) {
    const std::int32_t panel = pieces_->panel(piece);
    if (!found.empty() && found.back().panel == panel && found.back().end == piece)
      ++found.back().end;
    else
      found.push_back({panel, piece, piece + 1});
  }
}

std::int64_t NearPanels::count(std::size_t row) const {
  return pieces_ ? begin_[row + 1] - begin_[row]
                 : near_sources(tree_->octree, tree_->lists.p2p, row);
}

std::int64_t NearPanels::entries() const {
  std::int64_t entries = 0;
  for (std::size_t row = 0; row < rows(); ++row)
    entries += count(row) * near_row(*tree_, row).targets.size();
  return entries;
}

}  // namespace fmbem
