#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"

namespace fmbem {

/// The panels at each vertex.
struct PanelsAtVertices {
  explicit PanelsAtVertices(const Panels& panels) : begin(panels.vertices.size() + 1) {
    const auto n = static_cast<std::int64_t>(panels.size()),
               n_vertices = static_cast<std::int64_t>(panels.vertices.size());
    panel.resize(3 * panels.size());
    LargeVector<std::int32_t> count(n_vertices);
    LargeVector<std::array<std::int32_t, 3>> place(n);  // of a panel among those at its corners
#pragma omp parallel
    {
#pragma omp for schedule(static)
      for (std::int64_t v = 0; v < n_vertices; ++v) count[v] = 0;
#pragma omp for schedule(static)
      for (std::int64_t i = 0; i < n; ++i)
        for (int k = 0; k < 3; ++k)
          place[i][k] =
              std::atomic_ref(count[panels.corners[i][k]]).fetch_add(1, std::memory_order_relaxed);
    }
    begin[0] = 0;
    std::partial_sum(count.begin(), count.end(), begin.begin() + 1, std::plus<std::int64_t>());
#pragma omp parallel
    {
#pragma omp for schedule(static)
      for (std::int64_t i = 0; i < n; ++i)
        for (int k = 0; k < 3; ++k)
          panel[begin[panels.corners[i][k]] + place[i][k]] = static_cast<std::int32_t>(i);
#pragma omp for schedule(static)
      for (std::int64_t v = 0; v < n_vertices; ++v)
        std::sort(panel.begin() + begin[v], panel.begin() + begin[v + 1]);
    }
  }
  std::span<const std::int32_t> at(int vertex) const {
    return std::span(panel).subspan(begin[vertex], begin[vertex + 1] - begin[vertex]);
  }

  LargeVector<std::int64_t> begin;  ///< [vertices + 1]
  LargeVector<std::int32_t> panel;  ///< ascending at each
};

}  // namespace fmbem
