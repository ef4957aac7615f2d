#include "fmbem/problems/enclosures.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <utility>

#include "fmbem/bem/geometry/panel_images.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/touched.hpp"
#include "fmbem/fmm/tree/unions.hpp"
#include "fmbem/problems/panels_at_vertices.hpp"

namespace fmbem {
namespace {

/// By bounds.
bool lies_in(const Enclosure& part, const Enclosure& body) {
  for (int axis = 0; axis < 3; ++axis)
    if (part.low[axis] < body.low[axis] || part.high[axis] > body.high[axis]) return false;
  return true;
}

/// Whether each edge of panel i has one more panel of its part, which runs through it backwards.
bool is_closed_at(const Panels& panels, const PanelsAtVertices& at_vertices,
                  std::span<const std::int32_t> part, std::int32_t i) {
  for (int k = 0; k < 3; ++k) {
    const int a = panels.corners[i][k], b = panels.corners[i][(k + 1) % 3];
    int others = 0, backwards = 0;
    for (const std::int32_t j : at_vertices.at(a)) {
      if (j == i || part[j] != part[i]) continue;
      const auto& [u, v, w] = panels.corners[j];
      const int next = u == a ? v : v == a ? w : u, before = u == a ? w : v == a ? u : v;
      backwards += before == b;
      others += next == b;
    }
    if (backwards != 1 || others != 0) return false;
  }
  return true;
}

void find_open_edges(const Panels& panels, const PanelsAtVertices& at_vertices,
                     Enclosures& result) {
  const auto n = static_cast<std::int32_t>(panels.size());
  LargeVector<char> closed(n);
#pragma omp parallel for schedule(static)
  for (std::int32_t i = 0; i < n; ++i) closed[i] = is_closed_at(panels, at_vertices, result.of, i);
  for (std::int32_t i = 0; i < n; ++i)
    if (!closed[i]) result.parts[result.of[i]].closed = false;
}

/// Roots of panels that hang together: the first of them.
Unions connected(const PanelsAtVertices& at_vertices, const Panels& panels,
                 std::span<const int> class_of) {
  Unions unions(panels.size());
  const auto n_vertices = static_cast<std::int64_t>(panels.vertices.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t v = 0; v < n_vertices; ++v) {
    const std::span<const std::int32_t> at = at_vertices.at(static_cast<int>(v));
    for (std::size_t k = 1; k < at.size(); ++k)
      for (std::size_t l = k; l-- > 0;) {
        if (class_of[at[k]] != class_of[at[l]]) continue;
        unions.join(at[k], at[l]);
        break;  // that one hangs together with those before it
      }
  }
  return unions;
}

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
      const Vec3d origin = found.parts[p].low;  // so far
      if (at == own.size() || own[at].first != p)
        at = static_cast<std::size_t>(
            std::find_if(own.begin(), own.end(), [&](const auto& sum) { return sum.first == p; }) -
            own.begin());
      if (at == own.size()) own.push_back({p, {.low = origin, .high = origin}});
      Enclosure& sum = own[at].second;
      std::array<Vec3d, 3> d;
      for (int k = 0; k < 3; ++k) {
        const Vec3d v = panels.vertex(i, k);
        d[k] = v - origin;
        for (int axis = 0; axis < 3; ++axis) {
          sum.low[axis] = std::min(sum.low[axis], v[axis]);
          sum.high[axis] = std::max(sum.high[axis], v[axis]);
        }
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
      for (int axis = 0; axis < 3; ++axis) {
        part.low[axis] = std::min(part.low[axis], sum.low[axis]);
        part.high[axis] = std::max(part.high[axis], sum.high[axis]);
      }
    }
}

/// Of panels without images, or of the whole of them.
Enclosures enclosures_of_all(const Panels& panels, std::span<const int> class_of) {
  const auto n = static_cast<std::int32_t>(panels.size());
  const PanelsAtVertices at_vertices(panels);
  Unions unions = connected(at_vertices, panels, class_of);
  Enclosures result;
  resize_touched(result.of, n);
#pragma omp parallel for schedule(static)
  for (std::int32_t i = 0; i < n; ++i) result.of[i] = unions.root(i);
  LargeVector<std::int32_t> number(n);
  for (std::int32_t i = 0; i < n; ++i) {
    if (result.of[i] != i) continue;
    number[i] = static_cast<std::int32_t>(result.parts.size());
    const Vec3d at = panels.vertex(i, 0);
    result.parts.push_back({.first = i, .low = at, .high = at});
  }
#pragma omp parallel for schedule(static)
  for (std::int32_t i = 0; i < n; ++i) result.of[i] = number[result.of[i]];
  measure_parts(panels, result);
  find_open_edges(panels, at_vertices, result);
  return result;
}

}  // namespace

Enclosures find_enclosures(const Panels& panels, std::span<const int> class_of) {
  if (!panels.images) {
    Enclosures result = enclosures_of_all(panels, class_of);
    resize_touched(result.of_whole, result.of.size());
    std::copy(result.of.begin(), result.of.end(), result.of_whole.begin());
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
      own.low += shift;
      own.high += shift;
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
    result.parts.push_back({.first = i, .low = at, .high = at});
  }
  for (std::vector<std::int32_t>* of : {&result.of, &result.of_whole}) resize_touched(*of, n);
#pragma omp parallel for schedule(static)
  for (std::int32_t i = 0; i < n; ++i) result.of[i] = result.of_whole[i] = number[class_of[i]];
  measure_parts(panels, result);
  constexpr double rounding = 1e-11;  // a panel of a million has 1e-6 of the area
  for (Enclosure& part : result.parts)
    part.closed = norm(part.area) <= rounding * norm2(part.high - part.low);
  return result;
}

std::vector<std::vector<std::int32_t>> panels_of_parts(const Enclosures& enclosures) {
  std::vector<std::vector<std::int32_t>> result(enclosures.parts.size());
  if (result.size() == 1) {
    resize_touched(result[0], enclosures.of_whole.size());
    result[0].clear();
  }
  for (std::size_t w = 0; w < enclosures.of_whole.size(); ++w)
    if (enclosures.of_whole[w] >= 0)
      result[enclosures.of_whole[w]].push_back(static_cast<std::int32_t>(w));
  return result;
}

std::vector<std::optional<bool>> parts_inside(const Panels& panels, const Enclosures& enclosures,
                                              std::int32_t body,
                                              std::span<const std::int32_t> of_body) {
  const Panels& whole = whole_of(panels);
  const Vec3d shift = panels.origin - whole.origin;
  std::vector<std::optional<bool>> result;
  for (const Enclosure& part : enclosures.parts) {
    const double winding = &part != &enclosures.parts[body] && lies_in(part, enclosures.parts[body])
                               ? winding_number(whole, of_body, panels.centroid(part.first) + shift)
                               : 0;
    const bool is_inside = winding > 0.5;
    result.push_back(std::abs(winding - is_inside) < 0.25 ? std::optional(is_inside)
                                                          : std::nullopt);
  }
  return result;
}

double winding_number(const Panels& panels, std::span<const std::int32_t> part, Vec3d x) {
  double sum = 0;
  for (const std::int32_t i : part) sum += triangle_double_layer(panels.triangle(i), x);
  return std::abs(sum);
}

}  // namespace fmbem
