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
  const std::size_t n = chosen.size();
  arrays->corners.resize(n);
  arrays->input_index.resize(n);
  arrays->key.resize(n);
#pragma omp parallel for
  for (std::size_t k = 0; k < n; ++k) {
    arrays->corners[k] = panels.corners[chosen[k]];
    arrays->input_index[k] = panels.input_index[chosen[k]];
    arrays->key[k] = panels.key[chosen[k]];
  }
  arrays->leaf_begin = {0, static_cast<std::int64_t>(n)};
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
