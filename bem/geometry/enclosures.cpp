#include "fmbem/bem/geometry/enclosures.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <utility>

#include "fmbem/bem/geometry/panel_images.hpp"
#include "fmbem/bem/geometry/panels_at_vertices.hpp"
#include "fmbem/fmm/base/chunks.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/tree/unions.hpp"

namespace fmbem {
namespace {

bool lies_in(const CoordinateBounds& part, const CoordinateBounds& body) {
  return body.contains(part.low) && body.contains(part.high);
}

/// A panel at a vertex, with the ends of its edges there: one runs from the vertex, one to it.
struct PanelAtVertex {
  std::int32_t panel;
  int of_class, next, previous;
};

PanelAtVertex panel_at_vertex(const Panels& panels, std::span<const int> class_of,
                              std::int32_t panel, int vertex) {
  const std::array<int, 3>& corners = panels.corners[panel];
  const int k = corners[0] == vertex ? 0 : corners[1] == vertex ? 1 : 2;
  return {panel, class_of[panel], corners[(k + 1) % 3], corners[(k + 2) % 3]};
}

/// Whether the edge from the vertex has one more panel of the class, which runs through it
/// backwards.
bool is_closed_at(std::span<const PanelAtVertex> at, const PanelAtVertex& own) {
  int others = 0, backwards = 0;
  for (const PanelAtVertex& other : at) {
    if (other.of_class != own.of_class || other.panel == own.panel) continue;
    backwards += other.previous == own.next;
    others += other.next == own.next;
  }
  return backwards == 1 && others == 0;
}

/// What hangs together: a root is the first panel. Panels of a class at a vertex are of one part,
/// so that an edge is looked at where it begins.
struct Connections {
  Unions unions;
  LargeVector<char> is_open;  ///< [n panels]: whether one of its edges is not closed

  Connections(const Panels& panels, std::span<const int> class_of)
      : unions(panels.size()), is_open(panels.size()) {
    const PanelsAtVertices at_vertices(panels);
    const auto n = static_cast<std::int64_t>(panels.size()),
               n_vertices = static_cast<std::int64_t>(panels.vertices.size());
#pragma omp parallel
    {
      std::vector<PanelAtVertex> at;
#pragma omp for schedule(static)
      for (std::int64_t i = 0; i < n; ++i) is_open[i] = false;
#pragma omp for schedule(static)
      for (std::int64_t v = 0; v < n_vertices; ++v) {
        at.clear();
        for (const std::int32_t i : at_vertices.at(static_cast<int>(v)))
          at.push_back(panel_at_vertex(panels, class_of, i, static_cast<int>(v)));
        for (std::size_t k = 0; k < at.size(); ++k) {
          if (!is_closed_at(at, at[k]))
            std::atomic_ref(is_open[at[k].panel]).store(true, std::memory_order_relaxed);
          for (std::size_t l = k; l-- > 0;) {
            if (at[k].of_class != at[l].of_class) continue;
            unions.join(at[k].panel, at[l].panel);
            break;  // that one hangs together with those before it
          }
        }
      }
    }
  }
};

/// Bounds, volumes and areas of parts, of which each has its first panel. Sums over blocks of
/// panels are added up in their order, so that they are the same for any number of threads.
void measure_parts(const Panels& panels, Enclosures& found) {
  constexpr std::int64_t block = 1 << 14;
  const auto n = static_cast<std::int64_t>(panels.size()), blocks = (n + block - 1) / block;
  using OfBlock = std::vector<std::pair<std::int32_t, Enclosure>>;  // parts in it
  std::vector<OfBlock> sums(blocks);
#pragma omp parallel for schedule(static)
  for (std::int64_t b = 0; b < blocks; ++b) {
    OfBlock& own = sums[b];
    std::size_t at = 0;
    for (std::int64_t i = b * block; i < std::min(n, (b + 1) * block); ++i) {
      const std::int32_t p = found.of[i];
      const Vec3d origin = found.parts[p].bounds.low;  // so far
      if (at == own.size() || own[at].first != p)
        at = static_cast<std::size_t>(
            std::find_if(own.begin(), own.end(), [&](const auto& sum) { return sum.first == p; }) -
            own.begin());
      if (at == own.size()) own.push_back({p, {.bounds = {origin, origin}}});
      Enclosure& sum = own[at].second;
      std::array<Vec3d, 3> d;
      for (int k = 0; k < 3; ++k) {
        const Vec3d v = panels.vertex(i, k);
        d[k] = v - origin;
        sum.bounds.add(v);
      }
      sum.volume += dot(d[0], cross(d[1], d[2])) / 6;
      sum.area += 0.5 * cross(d[1] - d[0], d[2] - d[0]);
    }
  }
  for (const OfBlock& own : sums)
    for (const auto& [p, sum] : own) {
      Enclosure& part = found.parts[p];
      part.volume += sum.volume;
      part.area += sum.area;
      part.bounds.add(sum.bounds);
    }
}

/// Of panels without images, or of the whole of them.
Enclosures enclosures_of_all(const Panels& panels, std::span<const int> class_of) {
  const auto n = static_cast<std::int32_t>(panels.size());
  Connections connections(panels, class_of);
  Enclosures result;
  result.of.resize(n);
#pragma omp parallel for schedule(static)
  for (std::int32_t i = 0; i < n; ++i) result.of[i] = connections.unions.root(i);
  const std::vector<std::int32_t> first =
      numbers_where(n, [&](std::int64_t i) { return result.of[i] == i; });
  LargeVector<std::int32_t> number(n);
  for (std::size_t p = 0; p < first.size(); ++p) {
    number[first[p]] = static_cast<std::int32_t>(p);
    const Vec3d at = panels.vertex(first[p], 0);
    result.parts.push_back({.first = first[p], .bounds = {at, at}});
  }
  std::vector<char> is_open(first.size(), false);
#pragma omp parallel for schedule(static)
  for (std::int32_t i = 0; i < n; ++i) {
    result.of[i] = number[result.of[i]];
    if (connections.is_open[i])
      std::atomic_ref(is_open[result.of[i]]).store(true, std::memory_order_relaxed);
  }
  for (std::size_t p = 0; p < first.size(); ++p) result.parts[p].closed = !is_open[p];
  measure_parts(panels, result);
  return result;
}

}  // namespace

Enclosures find_enclosures(const Panels& panels, std::span<const int> class_of) {
  if (!panels.images) {
    Enclosures result = enclosures_of_all(panels, class_of);
    result.of_whole = result.of;
    return result;
  }
  const PanelImages& images = *panels.images;
  const Enclosures all = enclosures_of_all(images.whole, images.copies(class_of));
  const Vec3d shift = images.whole.origin - panels.origin;
  Enclosures result;
  std::vector<std::int32_t> number(all.parts.size(), -1);
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const std::int32_t part = all.of[images.itself(i)];
    if (number[part] < 0) {
      number[part] = static_cast<std::int32_t>(result.parts.size());
      Enclosure own = all.parts[part];
      own.first = static_cast<std::int32_t>(i);
      own.bounds.low += shift;
      own.bounds.high += shift;
      result.parts.push_back(own);
    }
    result.of.push_back(number[part]);
  }
  for (std::size_t w = 0; w < all.of.size(); ++w) {
    result.of_whole.push_back(number[all.of[w]]);
    if (result.of_whole[w] >= 0 && images.sign[w] < 0)
      result.parts[result.of_whole[w]].grounded = true;
  }
  return result;
}

Enclosures enclosures_of_classes(const Panels& panels, std::span<const int> class_of) {
  FMBEM_REQUIRE(!panels.images, "enclosures of classes know no mirror planes");
  const auto n = static_cast<std::int32_t>(panels.size());
  int classes = 0;
#pragma omp parallel for schedule(static) reduction(max : classes)
  for (std::int32_t i = 0; i < n; ++i) classes = std::max(classes, class_of[i] + 1);
  std::vector<std::int32_t> first(classes, n);
#pragma omp parallel for schedule(static)
  for (std::int32_t i = 0; i < n; ++i) {
    const std::atomic_ref own(first[class_of[i]]);
    std::int32_t least = own.load(std::memory_order_relaxed);
    while (i < least && !own.compare_exchange_weak(least, i, std::memory_order_relaxed)) {
    }
  }
  std::vector<std::int32_t> begins;
  for (const std::int32_t i : first)
    if (i < n) begins.push_back(i);
  std::sort(begins.begin(), begins.end());
  std::vector<std::int32_t> number(classes);
  Enclosures result;
  for (const std::int32_t i : begins) {
    number[class_of[i]] = static_cast<std::int32_t>(result.parts.size());
    const Vec3d at = panels.vertex(i, 0);
    result.parts.push_back({.first = i, .bounds = {at, at}});
  }
  result.of.resize(n);
  result.of_whole.resize(n);
#pragma omp parallel for schedule(static)
  for (std::int32_t i = 0; i < n; ++i) result.of[i] = result.of_whole[i] = number[class_of[i]];
  measure_parts(panels, result);
  constexpr double rounding = 1e-11;  // a panel of a million has 1e-6 of the area
  for (Enclosure& part : result.parts)
    part.closed = norm(part.area) <= rounding * norm2(part.bounds.high - part.bounds.low);
  return result;
}

GroupOrder panels_of_parts(const Enclosures& enclosures) {
  const std::size_t parts = enclosures.parts.size();
  const auto n = static_cast<std::int64_t>(enclosures.of_whole.size());
  GroupOrder order = sort_by_group(n, static_cast<std::int64_t>(parts) + 1, [&](std::int64_t w) {
    const std::int32_t part = enclosures.of_whole[w];
    return part < 0 ? static_cast<std::int32_t>(parts) : part;
  });
  order.begin.pop_back();  // without those of no part, which are the last
  return order;
}

std::vector<std::optional<bool>> parts_inside(const Panels& panels, const Enclosures& enclosures,
                                              std::int32_t body,
                                              std::span<const std::int32_t> of_body) {
  const Panels& whole = whole_of(panels);
  const Vec3d shift = panels.origin - whole.origin;
  std::vector<std::optional<bool>> result;
  for (const Enclosure& part : enclosures.parts) {
    const double winding =
        &part != &enclosures.parts[body] && lies_in(part.bounds, enclosures.parts[body].bounds)
            ? winding_number(whole, of_body, panels.centroid(part.first) + shift)
            : 0;
    const bool is_inside = winding > 0.5;
    result.push_back(std::abs(winding - is_inside) < 0.25 ? std::optional(is_inside)
                                                          : std::nullopt);
  }
  return result;
}

double winding_number(const Panels& panels, std::span<const std::int32_t> part, Vec3d x) {
  return std::abs(sum_of(static_cast<std::int64_t>(part.size()), [&](std::int64_t k) {
    return triangle_double_layer(panels.triangle(part[k]), x);
  }));
}

}  // namespace fmbem
