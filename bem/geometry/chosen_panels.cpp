#include "fmbem/bem/geometry/chosen_panels.hpp"

#include <array>
#include <memory>
#include <vector>

namespace fmbem {

Panels chosen_panels(const Panels& panels, std::span<const std::int32_t> chosen) {
  struct Arrays {
    std::shared_ptr<const void> vertices;
    std::vector<std::array<int, 3>> corners;
    std::vector<std::int64_t> input_index, leaf_begin;
    std::vector<std::uint64_t> key;
  };
  const auto arrays = std::make_shared<Arrays>();
  arrays->vertices = panels.arrays;
  for (const std::int32_t i : chosen) {
    arrays->corners.push_back(panels.corners[i]);
    arrays->input_index.push_back(panels.input_index[i]);
    arrays->key.push_back(panels.key[i]);
  }
  arrays->leaf_begin = {0, static_cast<std::int64_t>(chosen.size())};
  Panels some;
  some.vertices = panels.vertices;
  some.corners = arrays->corners;
  some.input_index = arrays->input_index;
  some.key = arrays->key;
  some.leaf_begin = arrays->leaf_begin;
  some.origin = panels.origin;
  some.extent = panels.extent;
  some.arrays = arrays;
  return some;
}

}  // namespace fmbem
