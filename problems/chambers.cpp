#include "fmbem/problems/chambers.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <tuple>

#include "fmbem/fmm/base/vec3.hpp"
#include "fmbem/fmm/tree/unions.hpp"

namespace fmbem {
namespace {

/// Panels closer than this round an edge fall together, radians.
constexpr double least_angle = 1e-7;

/// An edge from vertex a to b > a, of panel number k of those chosen.
struct PanelEdge {
  int a, b;
  std::int32_t k;
  Vec3d across;     ///< into the panel
  bool is_forward;  ///< the panel runs through it from a to b
  double angle = 0;

  // The side that the next panel round the edge is on, and the other one.
  std::int32_t next_side() const { return 2 * k + (is_forward ? 1 : 0); }
  std::int32_t last_side() const { return 2 * k + (is_forward ? 0 : 1); }
};

std::vector<PanelEdge> edges_of(const Panels& panels, std::span<const std::int32_t> chosen) {
  std::vector<PanelEdge> edges;
  edges.reserve(3 * chosen.size());
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    const auto& corners = panels.corners[chosen[k]];
    for (int c = 0; c < 3; ++c) {
      const int a = corners[c], b = corners[(c + 1) % 3];
      edges.push_back({std::min(a, b), std::max(a, b), static_cast<std::int32_t>(k),
                       panels.vertex(chosen[k], (c + 2) % 3) - panels.vertex(chosen[k], c), a < b});
    }
  }
  std::sort(edges.begin(), edges.end(), [](const PanelEdge& e, const PanelEdge& f) {
    return std::tie(e.a, e.b, e.k) < std::tie(f.a, f.b, f.k);
  });
  return edges;
}

/// Sorts the panels at one edge by their angle round it. False if two fall together.
bool sort_round(std::span<PanelEdge> edges, Vec3d along) {
  if (edges.size() == 1) return true;
  const Vec3d axis = along / norm(along);
  const auto perpendicular = [&](Vec3d v) { return v - dot(v, axis) * axis; };
  const Vec3d x = perpendicular(edges[0].across), y = cross(axis, x);
  for (PanelEdge& edge : edges.subspan(1)) {
    edge.angle = std::atan2(dot(edge.across, y), dot(edge.across, x));
    if (edge.angle < 0) edge.angle += 2 * std::numbers::pi;
  }
  std::sort(edges.begin(), edges.end(),
            [](const PanelEdge& e, const PanelEdge& f) { return e.angle < f.angle; });
  for (std::size_t k = 0; k < edges.size(); ++k) {
    const double next =
        k + 1 < edges.size() ? edges[k + 1].angle : edges[0].angle + 2 * std::numbers::pi;
    if (next - edges[k].angle < least_angle) return false;
  }
  return true;
}

}  // namespace

Chambers find_chambers(const Panels& panels, std::span<const std::int32_t> chosen) {
  std::vector<PanelEdge> edges = edges_of(panels, chosen);
  Unions sides(2 * chosen.size());
  std::vector<std::int32_t> unclear;
  for (std::size_t first = 0, last; first < edges.size(); first = last) {
    last = first;
    while (last < edges.size() && edges[last].a == edges[first].a &&
           edges[last].b == edges[first].b)
      ++last;
    const std::span<PanelEdge> round(edges.data() + first, last - first);
    const Vec3d along = panels.vertices[round[0].b] - panels.vertices[round[0].a];
    if (!sort_round(round, along))
      for (const PanelEdge& edge : round)
        unclear.insert(unclear.end(), {2 * edge.k, 2 * edge.k + 1});
    for (std::size_t k = 0; k < round.size(); ++k)
      sides.join(round[k].next_side(), round[(k + 1) % round.size()].last_side());
  }

  Chambers result;
  std::vector<std::int32_t> number(2 * chosen.size(), -1);
  const Vec3d origin = chosen.empty() ? Vec3d{} : panels.vertex(chosen[0], 0);
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    auto& of_panel = result.of.emplace_back();
    const std::int32_t i = chosen[k];
    const double cone = dot(panels.vertex(i, 0) - origin,
                            cross(panels.vertex(i, 1) - origin, panels.vertex(i, 2) - origin)) /
                        6;
    for (int side = 0; side < 2; ++side) {
      const std::int32_t root = sides.root(static_cast<std::int32_t>(2 * k + side));
      if (number[root] < 0) {
        number[root] = static_cast<std::int32_t>(result.all.size());
        result.all.emplace_back();
      }
      of_panel[side] = number[root];
      result.all[number[root]].volume += side == 0 ? cone : -cone;
    }
  }
  for (const std::int32_t side : unclear) result.all[number[sides.root(side)]].is_clear = false;
  return result;
}

}  // namespace fmbem
