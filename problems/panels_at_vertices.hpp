#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
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
#pragma omp parallel for schedule(static)
    for (std::int64_t v = 0; v <= n_vertices; ++v) begin[v] = 0;
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < n; ++i)
      for (const int v : panels.corners[i])
        std::atomic_ref(begin[v]).fetch_add(1, std::memory_order_relaxed);
    std::partial_sum(begin.begin(), begin.end(), begin.begin());  // ends, which become begins
#pragma omp parallel
    {
#pragma omp for schedule(static)
      for (std::int64_t i = 0; i < n; ++i)
        for (const int v : panels.corners[i])
          panel[std::atomic_ref(begin[v]).fetch_sub(1, std::memory_order_relaxed) - 1] =
              static_cast<std::int32_t>(i);
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
