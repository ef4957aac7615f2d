#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"

namespace fmbem {

/// The panels at each vertex.
struct PanelsAtVertices {
  explicit PanelsAtVertices(const Panels& panels)
      : begin(panels.vertices.size() + 1, 0), panel(3 * panels.size()) {
    for (const auto& corners : panels.corners)
      for (const int v : corners) ++begin[v + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<std::int64_t> next(begin.begin(), begin.end() - 1);
    for (std::size_t i = 0; i < panels.size(); ++i)
      for (const int v : panels.corners[i]) panel[next[v]++] = static_cast<std::int32_t>(i);
  }
  std::span<const std::int32_t> at(int vertex) const {
    return std::span(panel).subspan(begin[vertex], begin[vertex + 1] - begin[vertex]);
  }

  std::vector<std::int64_t> begin;  ///< [vertices + 1]
  std::vector<std::int32_t> panel;  ///< ascending at each
};

}  // namespace fmbem
