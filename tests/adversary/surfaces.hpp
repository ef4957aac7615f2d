#pragma once

// Surfaces of the kinds on which fast methods go wrong first: lines, needles, sheets a hair apart
// and the like, at random from a seed.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

#include "tests/unit/points.hpp"
#include "tests/unit/surfaces.hpp"

namespace fmbem::test {

/// A random direction and two more that are orthogonal to it and to each other; or the axes x, y
/// and z, on which panels lie along the faces of boxes.
struct Frame {
  Vec3d u{1, 0, 0}, v{0, 1, 0}, w{0, 0, 1};

  Frame() = default;
  explicit Frame(Uniform& uniform) {
    u = sphere_point(uniform);
    v = cross(u, sphere_point(uniform));
    v = v / norm(v);
    w = cross(u, v);
  }
};

/// n steps from 0 to 1 that differ by up to a factor of 1 + jitter.
inline std::vector<double> uneven_steps(int n, double jitter, Uniform& uniform) {
  std::vector<double> at{0};
  for (int i = 0; i < n; ++i) at.push_back(at.back() + uniform(1, 1 + jitter));
  for (double& s : at) s /= at.back();
  return at;
}

/// A grid over corner + s u + t v.
inline void add_ribbon(SurfaceMesh& mesh, int group, const std::vector<double>& us,
                       const std::vector<double>& vs, Vec3d corner, Vec3d u, Vec3d v) {
  const int first = static_cast<int>(mesh.vertices.size()), nv = static_cast<int>(vs.size());
  for (const double s : us)
    for (const double t : vs) add_vertex(mesh, corner + s * u + t * v);
  for (int i = 0; i + 1 < static_cast<int>(us.size()); ++i) {
    for (int j = 0; j + 1 < nv; ++j) {
      const int at = first + i * nv + j;
      add_triangle(mesh, at, at + nv, at + nv + 1, group);
      add_triangle(mesh, at, at + nv + 1, at + 1, group);
    }
  }
}

/// A tube with `sides` sides about the line from `start` along `axis`. Its radius goes from
/// `radius` to `end_radius`, its cross lines are at `at`; normals outward, ends open.
inline void add_tube(SurfaceMesh& mesh, int group, const std::vector<double>& at, int sides,
                     Vec3d start, Vec3d axis, const Frame& frame, double radius,
                     double end_radius) {
  const int first = static_cast<int>(mesh.vertices.size());
  for (const double s : at)
    for (int k = 0; k < sides; ++k) {
      const double angle = 2 * std::numbers::pi * k / sides, r = (1 - s) * radius + s * end_radius;
      add_vertex(mesh,
                 start + s * axis + r * std::cos(angle) * frame.v + r * std::sin(angle) * frame.w);
    }
  for (int i = 0; i + 1 < static_cast<int>(at.size()); ++i)
    for (int k = 0; k < sides; ++k) {
      const int next = (k + 1) % sides, a = first + i * sides + k, b = first + i * sides + next,
                c = a + sides, d = b + sides;
      add_triangle(mesh, a, b, d, group);
      add_triangle(mesh, a, d, c, group);
    }
}

/// n panels in a row of cells that are `aspect` times as long as wide.
inline SurfaceMesh line(int n, const Frame& frame, double jitter, double aspect, Uniform& uniform) {
  SurfaceMesh mesh;
  const int cells = std::max(1, n / 2);
  add_ribbon(mesh, add_group(mesh, "line"), uneven_steps(cells, jitter, uniform), {0, 1}, {},
             frame.u, 1 / (aspect * cells) * frame.v);
  return mesh;
}

/// A closed wire of six sides.
inline SurfaceMesh wire(int n, const Frame& frame, Uniform& uniform) {
  SurfaceMesh mesh;
  const int cells = std::max(1, n / 12), group = add_group(mesh, "wire");
  const double radius = 1.0 / cells;
  const std::vector<double> at = uneven_steps(cells, 0.5, uniform);
  add_tube(mesh, group, at, 6, {}, frame.u, frame, radius, radius);
  for (const int end : {0, cells}) {  // caps
    const int middle = add_vertex(mesh, at[end] * frame.u);
    for (int k = 0; k < 6; ++k) {
      const int a = 6 * end + k, b = 6 * end + (k + 1) % 6;
      add_triangle(mesh, middle, end == 0 ? b : a, end == 0 ? a : b, group);
    }
  }
  mesh.closed = true;
  return mesh;
}

/// Teeth that are as narrow as a panel, side by side on a back.
inline SurfaceMesh comb(int n, const Frame& frame, Uniform& uniform) {
  SurfaceMesh mesh;
  const int teeth = 3 + static_cast<int>(uniform(0, 6)), cells = std::max(1, n / (2 * teeth + 2)),
            group = add_group(mesh, "comb");
  const double width = 1.0 / cells;
  for (int k = 0; k < teeth; ++k)
    add_ribbon(mesh, group, uneven_steps(cells, 0.3, uniform), {0, 1},
               static_cast<double>(k) / teeth * frame.v, frame.u, width * frame.v);
  add_ribbon(mesh, group, uneven_steps(cells, 0.3, uniform), {0, 1}, -width * frame.u, frame.v,
             -width * frame.u);
  return mesh;
}

/// The edges of a cube, as strips one panel wide.
inline SurfaceMesh wire_frame(int n, const Frame& frame, Uniform& uniform) {
  SurfaceMesh mesh;
  const int cells = std::max(1, n / 24), group = add_group(mesh, "frame");
  const double width = 1.0 / cells;
  const Vec3d along[3] = {frame.u, frame.v, frame.w};
  for (int axis = 0; axis < 3; ++axis)
    for (int edge = 0; edge < 4; ++edge) {
      const Vec3d &p = along[(axis + 1) % 3], &q = along[(axis + 2) % 3];
      add_ribbon(mesh, group, uneven_steps(cells, 0.3, uniform), {0, 1},
                 (edge % 2) * p + (edge / 2) * q, along[axis], width * p);
    }
  return mesh;
}

/// Slender cones with three sides, scattered.
inline SurfaceMesh needles(int n, Uniform& uniform) {
  SurfaceMesh mesh;
  const int count = 4 + static_cast<int>(uniform(0, 8)), cells = std::max(2, n / (6 * count)),
            group = add_group(mesh, "needles");
  for (int k = 0; k < count; ++k) {
    const Frame frame(uniform);
    const double length = uniform(0.3, 1);
    add_tube(mesh, group, uneven_steps(cells, 0.5, uniform), 3, {uniform(), uniform(), uniform()},
             length * frame.u, frame, length / cells, 0.05 * length / cells);
  }
  return mesh;
}

/// Parallel sheets, `gap` apart. Their meshes match only if the gap is 0.
inline SurfaceMesh sheets(int n, int count, double gap, const Frame& frame, Uniform& uniform) {
  SurfaceMesh mesh;
  const int cells = std::max(1, static_cast<int>(std::sqrt(n / (2.0 * count))));
  for (int k = 0; k < count; ++k) {
    const double jitter = gap > 0 ? 0.3 : 0;
    const int group = add_group(mesh, ("sheet " + std::to_string(k)).c_str());
    const auto us = uneven_steps(cells, jitter, uniform), vs = uneven_steps(cells, jitter, uniform);
    add_ribbon(mesh, group, us, vs, k * gap * frame.w, frame.u, frame.v);
  }
  return mesh;
}

/// Small plates and spheres, far from each other, with sizes from 1 down to `smallest`.
inline SurfaceMesh clusters(int n, double smallest, Uniform& uniform) {
  SurfaceMesh mesh;
  const int count = 5, each = n / count;
  for (int k = 0; k < count; ++k) {
    const double size = std::pow(smallest, uniform(0, 1));
    const Vec3d at{uniform(0, 30), uniform(0, 30), uniform(0, 30)};
    if (k % 2 == 0) {
      const int level = std::max(0, static_cast<int>(std::log(each / 8.0) / std::log(4.0) + 0.3));
      add_ellipsoid(mesh, "ball", level, {size, size, size}, at);
      continue;
    }
    const Frame frame(uniform);
    const auto lines = steps(std::max(1, static_cast<int>(std::sqrt(each / 2.0))));
    add_ribbon(mesh, add_group(mesh, "plate"), lines, lines, at, size * frame.u, size * frame.v);
  }
  return mesh;
}

/// A plate graded by powers of both coordinates.
inline SurfaceMesh steep_plate(int n, double power, const Frame& frame) {
  const int cells = std::max(1, static_cast<int>(std::sqrt(n / 2.0)));
  return plate_of_lines(steps(cells, power), steps(cells, power), {}, frame.u, frame.v);
}

/// Triangles of any shape, with sizes over `span` powers of ten, anywhere in the unit cube.
inline SurfaceMesh dust(int n, double span, Uniform& uniform) {
  SurfaceMesh mesh;
  const int group = add_group(mesh, "dust");
  for (int k = 0; k < n; ++k) {
    const double size = 0.1 * std::pow(10, -span * uniform());
    const Vec3d at{uniform(), uniform(), uniform()};
    const Frame frame(uniform);
    const int a = add_vertex(mesh, at), b = add_vertex(mesh, at + size * frame.u),
              c = add_vertex(
                  mesh, at + size * uniform(-0.5, 1) * frame.u + size * uniform(0.1, 1) * frame.v);
    add_triangle(mesh, a, b, c, group);
  }
  return mesh;
}

/// A wire that stands on a plate with as many panels.
inline SurfaceMesh wire_on_plate(int n, const Frame& frame, Uniform& uniform) {
  SurfaceMesh mesh;
  const int group = add_group(mesh, "plate");
  const auto lines = steps(std::max(1, static_cast<int>(std::sqrt(n / 4.0))));
  add_ribbon(mesh, group, lines, lines, {}, frame.u, frame.v);
  const int cells = std::max(1, n / 8);
  add_tube(mesh, group, uneven_steps(cells, 0.3, uniform), 4, 0.5 * (frame.u + frame.v),
           2 * frame.w, frame, 1.0 / cells, 1.0 / cells);
  return mesh;
}

struct AdverseSurface {
  std::string name;
  SurfaceMesh mesh;
};

/// One of each kind with some n panels.
inline std::vector<AdverseSurface> adverse_surfaces(int n, std::uint64_t seed) {
  Uniform uniform(seed);
  const Frame axes;
  const auto any = [&] { return Frame(uniform); };
  std::vector<AdverseSurface> all;
  const auto add = [&](const char* name, SurfaceMesh mesh) {
    all.push_back({name, std::move(mesh)});
  };
  add("sphere", sphere(std::max(0L, std::lround(std::log2(n / 8.0) / 2))));
  add("cube", cube(std::max(1L, std::lround(std::sqrt(n / 12.0)))));
  add("line along an axis", line(n, axes, 0, 1, uniform));
  add("uneven line along an axis", line(n, axes, 1, 1, uniform));
  add("tilted line", line(n, any(), 0.3, 1, uniform));
  add("line of long panels", line(n, axes, 0, 30, uniform));
  add("wire along an axis", wire(n, axes, uniform));
  add("tilted wire", wire(n, any(), uniform));
  add("comb", comb(n, axes, uniform));
  add("tilted comb", comb(n, any(), uniform));
  add("edges of a cube", wire_frame(n, axes, uniform));
  add("needles", needles(n, uniform));
  add("plate", sheets(n, 1, 0, axes, uniform));
  add("sheets a hair apart", sheets(n, 2, std::pow(10, uniform(-8, -2)), axes, uniform));
  add("doubled sheets", sheets(n, 2, 0, axes, uniform));
  add("three tilted sheets", sheets(n, 3, std::pow(10, uniform(-4, -2)), any(), uniform));
  add("clusters", clusters(n, 1e-6, uniform));
  add("graded plate", steep_plate(n, 4, axes));
  add("steep plate", steep_plate(n, 8, any()));
  add("long plate", plate_of_lines(steps(4), steps(n / 8), {}, axes.u, axes.v));
  add("dust", dust(n, 3, uniform));
  add("wire on a plate", wire_on_plate(n, axes, uniform));
  return all;
}

}  // namespace fmbem::test
