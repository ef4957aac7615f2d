#include "fmbem/meshes/size_limits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "fmbem/meshes/topology.hpp"

namespace fmbem {
namespace {

constexpr double no_limit = std::numeric_limits<double>::infinity();

std::array<Vec3d, 3> corners(const SurfaceMesh& mesh, std::size_t i) {
  const auto& [a, b, c] = mesh.triangles[i];
  return {mesh.vertices[a], mesh.vertices[b], mesh.vertices[c]};
}

Vec3d centre(const SurfaceMesh& mesh, std::size_t i) {
  const auto [a, b, c] = corners(mesh, i);
  return (1. / 3) * (a + b + c);
}

Vec3d unit_normal_of(const SurfaceMesh& mesh, int i) {
  const auto [a, b, c] = corners(mesh, std::size_t(i));
  const Vec3d n = cross(b - a, c - a);
  return n * (1 / norm(n));
}

/// [n triangles]: what is connected, and what is in one group.
std::vector<int> bodies_of(const SurfaceMesh& mesh) {
  const Components components = connected_components(mesh);
  std::vector<int> body(std::size_t(components.n) + 1);
  std::iota(body.begin(), body.end(), 0);
  const auto root = [&](int c) {
    while (body[c] != c) c = body[c] = body[body[c]];
    return c;
  };
  std::map<int, int> first_of_group;
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const int g = mesh.group_of[i];
    if (g < 0) continue;
    const int other = first_of_group.try_emplace(g, components.of[i]).first->second;
    const int a = root(components.of[i]), b = root(other);
    body[std::max(a, b)] = std::min(a, b);
  }
  std::vector<int> of;
  of.reserve(components.of.size());
  for (const int c : components.of) of.push_back(root(c));
  return of;
}

/// Whether the surface is smooth across an edge of two triangles.
bool is_smooth(const SurfaceMesh& mesh, std::span<const EdgeSide> sides, double sharp) {
  if (sides.size() != 2) return false;
  // The normals of neighbours that run through their common edge in the same direction are
  // opposite.
  const double same_side = sides[0].forward != sides[1].forward ? 1 : -1;
  return same_side *
             dot(unit_normal_of(mesh, sides[0].triangle), unit_normal_of(mesh, sides[1].triangle)) >
         std::cos(sharp);
}

}  // namespace

const char* name(SizeReason reason) {
  switch (reason) {
    case SizeReason::option:
      return "option";
    case SizeReason::file:
      return "file";
    case SizeReason::box:
      return "box";
    case SizeReason::extent:
      return "extent";
    case SizeReason::curvature:
      return "curvature";
    case SizeReason::width:
      return "width";
    case SizeReason::gap:
      return "gap";
    case SizeReason::least:
      return "least";
    case SizeReason::neighbour:
      return "neighbour";
    case SizeReason::edge:
      return "edge";
  }
  return "";
}

/// What can be seen on the coarse mesh.
class SizeLimits::Survey {
 public:
  Survey(const SurfaceMesh& mesh, const std::vector<int>& surface_of, double sharp)
      : body(bodies_of(mesh)) {
    for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
      const std::array<Vec3d, 3> at = corners(mesh, i);
      items.push_back({at, body[i]});
      Box& box = boxes_.try_emplace(body[i], Box{at[0], at[0]}).first->second;
      for (const Vec3d& x : at) enclose(box, x);
      extents_[surface_of[i]].area += triangle_area(mesh, i);
    }
    EdgeTable(mesh).for_each_edge([&](int lo, int hi, std::span<const EdgeSide> sides) {
      const bool inside =
          sides.size() == 2 && surface_of[sides[0].triangle] == surface_of[sides[1].triangle];
      if (inside) return;
      const Vec3d a = mesh.vertices[lo], b = mesh.vertices[hi];
      for (const EdgeSide& side : sides)
        extents_[surface_of[side.triangle]].perimeter += norm(b - a);
      if (is_smooth(mesh, sides, sharp)) return;
      sharp_edges.push_back({{a, b, b}, 0});
      sharp_sides += double(sides.size()) * norm(b - a);
    });
  }

  std::size_t bodies() const { return boxes_.size(); }
  double diagonal(std::size_t triangle) const {
    const Box& box = boxes_.at(body[triangle]);
    return norm(box.max - box.min);
  }
  /// The width of a strip; a sphere, which has no perimeter, has none.
  double width(int surface) const {
    const auto& [area, perimeter] = extents_.at(surface);
    return perimeter > 0 ? 2 * area / perimeter : no_limit;
  }

  std::vector<int> body;                    // [n triangles]
  std::vector<BodyTree::Item> items;        // [n triangles], without sizes
  std::vector<BodyTree::Item> sharp_edges;  // with a size of 0
  double sharp_sides = 0;                   // their length, times the faces at each

 private:
  struct Extent {
    double area = 0, perimeter = 0;
  };
  std::map<int, Box> boxes_;       // of bodies
  std::map<int, Extent> extents_;  // of faces
};

SizeLimits::SizeLimits(const SurfaceMesh& coarse, const std::vector<int>& surface_of,
                       const std::vector<double>& curvature, const std::vector<CurvedPoint>& points,
                       const LargestSize& largest, const SizeRules& rules)
    : rules_(rules), largest_(largest) {
  Survey survey(coarse, surface_of, rules.sharp);
  for (std::size_t i = 0; i < coarse.triangles.size(); ++i) {
    if (faces_.contains(surface_of[i])) continue;
    const double diagonal = survey.diagonal(i);
    faces_[surface_of[i]] = {survey.body[i], diagonal / rules.per_extent,
                             survey.width(surface_of[i]) / rules.per_width,
                             diagonal * rules.smallest};
  }
  if (survey.bodies() > 1) bodies_ = BodyTree(survey.items);
  if (largest.grade < 1) {
    edges_ = BodyTree(std::move(survey.sharp_edges));
    graded_sides_ = survey.sharp_sides;
  }
  std::vector<BodyTree::Item> small;
  for (std::size_t i = 0; i < survey.items.size(); ++i) {
    BodyTree::Item& item = survey.items[i];
    const Face& face = faces_.at(surface_of[i]);
    item.size = std::min(std::max(face.width, face.least), curved_size(curvature[i]));
    if (item.size < std::min(face.extent, largest.size)) small.push_back(item);
  }
  for (const auto& [x, curvature_there] : points)
    if (curved_size(curvature_there) < largest.size)
      small.push_back({{x, x, x}, 0, curved_size(curvature_there)});
  small_ = BodyTree(std::move(small));
}

double SizeLimits::curved_size(double curvature) const {
  return 2 * std::acos(-1.) / rules_.per_turn / curvature;
}

SizeLimit SizeLimits::why(int surface, Vec3d x, double curvature) const {
  SizeLimit limit{largest_.reason, largest_.size, x, 0, 1};
  const auto found = faces_.find(surface);
  if (found == faces_.end()) return limit;
  const Face& face = found->second;
  const auto lower = [&](SizeReason reason, double size) {
    if (size >= limit.size) return;
    limit.reason = reason;
    limit.size = size;
  };
  const auto lower_to_least = [&](SizeReason reason, double size) {
    lower(size < face.least ? SizeReason::least : reason, std::max(size, face.least));
  };
  lower(SizeReason::extent, face.extent);
  lower_to_least(SizeReason::width, face.width);
  if (rules_.per_gap > 0)
    lower_to_least(SizeReason::gap, bodies_.least(x, 1 / rules_.per_gap, limit.size, face.body));
  const SizeLimit own = limit;
  lower(SizeReason::neighbour, small_.least(x, rules_.growth, limit.size));
  // A size that is hardly smaller is the face's own, found at a point beside x.
  constexpr double hardly = 0.8;
  if (hardly * own.size < limit.size) limit.reason = own.reason;
  if (hardly * curved_size(curvature) < limit.size) limit.reason = SizeReason::curvature;
  if (largest_.grade < 1) {
    const double at_edge = limit.size * largest_.grade;
    lower(SizeReason::edge, at_edge + edges_.least(x, rules_.growth, limit.size - at_edge));
  }
  return limit;
}

double SizeLimits::least() const {
  double size = largest_.size;
  for (const auto& [surface, face] : faces_)
    if (rules_.smallest > 0) size = std::min(size, face.least);
  return size * largest_.grade;
}

double SizeLimits::estimated_triangles(const SurfaceMesh& mesh,
                                       const std::vector<int>& surface_of) const {
  double n = 4 / std::sqrt(3.) * graded_sides_ / (rules_.growth * largest_.grade * largest_.size);
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const double size = at(surface_of[i], centre(mesh, i));
    n += triangle_area(mesh, i) / (std::sqrt(3.) / 4 * size * size);
  }
  return n;
}

std::vector<SizeLimit> sizes_of_triangles(const SurfaceMesh& mesh,
                                          const std::vector<int>& surface_of,
                                          const std::vector<double>& curvature,
                                          const SizeLimits& limits) {
  constexpr double too_short = 0.4, too_long = 2;  // Gmsh's edges are 0.6 to 1.4 of the size
  std::vector<SizeLimit> sizes(mesh.triangles.size());
#pragma omp parallel for schedule(dynamic, 256)
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    sizes[i] = limits.why(surface_of[i], centre(mesh, i), limits.uniform() ? 0 : curvature[i]);
    const double longest = triangle_shape(mesh, i).longest_edge;
    if (longest >= too_short * sizes[i].size && longest <= too_long * sizes[i].size) continue;
    sizes[i].reason = SizeReason::file;
    sizes[i].size = longest;
  }
  return sizes;
}

std::vector<SizeLimit> smallest_sizes(const std::vector<SizeLimit>& of_triangles,
                                      const std::vector<int>& group_of) {
  std::map<std::pair<int, SizeReason>, SizeLimit> smallest;
  for (std::size_t i = 0; i < of_triangles.size(); ++i) {
    SizeLimit mine = of_triangles[i];
    mine.group = group_of[i];
    const auto [known, is_new] = smallest.try_emplace({mine.group, mine.reason}, mine);
    if (is_new) continue;
    const std::size_t triangles = known->second.triangles + mine.triangles;
    if (mine.size < known->second.size) known->second = mine;
    known->second.triangles = triangles;
  }
  std::vector<SizeLimit> sizes;
  for (const auto& [of, limit] : smallest) sizes.push_back(limit);
  return sizes;
}

}  // namespace fmbem
