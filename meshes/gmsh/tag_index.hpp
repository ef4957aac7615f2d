#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace fmbem {

/// Finds the position of a tag in a list: by a table where tags are dense, by bisection otherwise.
class TagIndex {
 public:
  TagIndex() = default;
  explicit TagIndex(std::vector<std::size_t> tags);

  /// Position of the tag in the list, −1 if it is not there.
  int find(std::size_t tag) const;
  /// A tag that occurs more than once.
  std::optional<std::size_t> duplicate() const { return duplicate_; }

 private:
  std::vector<int> table_;           // by tag; or, where that would be too large,
  std::vector<std::size_t> sorted_;  // the tags in order
  std::vector<int> position_;        // and their positions
  std::optional<std::size_t> duplicate_;
};

}  // namespace fmbem
