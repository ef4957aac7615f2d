#include "fmbem/meshes/gmsh/tag_index.hpp"

#include <algorithm>
#include <numeric>

namespace fmbem {

TagIndex::TagIndex(std::vector<std::size_t> tags) {
  if (tags.empty()) return;
  const std::size_t largest = *std::max_element(tags.begin(), tags.end());
  // A table of 4 bytes for each possible tag takes less memory than the tags themselves.
  if (largest < 4 * tags.size() + 1000) {
    table_.assign(largest + 1, -1);
    for (std::size_t i = 0; i < tags.size(); ++i) {
      int& entry = table_[tags[i]];
      if (entry >= 0) duplicate_ = tags[i];
      entry = static_cast<int>(i);
    }
    return;
  }
  position_.resize(tags.size());
  std::iota(position_.begin(), position_.end(), 0);
  const auto tag_at = [&](int i) { return tags[static_cast<std::size_t>(i)]; };
  std::sort(position_.begin(), position_.end(),
            [&](int a, int b) { return tag_at(a) < tag_at(b); });
  for (int i : position_) sorted_.push_back(tag_at(i));
  const auto twice = std::adjacent_find(sorted_.begin(), sorted_.end());
  if (twice != sorted_.end()) duplicate_ = *twice;
}

int TagIndex::find(std::size_t tag) const {
  if (!table_.empty()) return tag < table_.size() ? table_[tag] : -1;
  const auto it = std::lower_bound(sorted_.begin(), sorted_.end(), tag);
  if (it == sorted_.end() || *it != tag) return -1;
  return position_[static_cast<std::size_t>(it - sorted_.begin())];
}

}  // namespace fmbem
