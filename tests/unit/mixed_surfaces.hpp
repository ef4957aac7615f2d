#pragma once

// Boundary value problems with rows of several kinds, made without the code under test.
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/layer/mixed_rows.hpp"
#include "tests/unit/surfaces.hpp"

namespace fmbem::test {

/// The kind of a group of panels.
struct Boundary {
  enum class Kind { conductor, floating, interface, neumann, robin } kind;
  /// The potential; the total charge; of Neumann and Robin ∂ₙφ and φ + ∂ₙφ.
  double value = 0;
  /// Permittivities of an interface, the normal pointing from the first to the second.
  double behind = 1, ahead = 1;
  bool is_closed = false;     ///< an interface with Gauss's law
  std::vector<int> inside{};  ///< groups

  double beta() const {
    if (kind == Kind::neumann || kind == Kind::robin) return 2;
    return kind == Kind::interface ? 2 * (behind - ahead) / (behind + ahead) : 0;
  }
};

inline Boundary conductor(double potential) { return {Boundary::Kind::conductor, potential}; }
inline Boundary floating(double charge) { return {Boundary::Kind::floating, charge}; }
inline Boundary interface(double behind, double ahead) {
  return {Boundary::Kind::interface, 0, behind, ahead};
}
inline Boundary closed_interface(double behind, double ahead, std::vector<int> inside = {}) {
  return {Boundary::Kind::interface, 0, behind, ahead, true, std::move(inside)};
}

/// Surfaces whose groups are such boundaries, in a field applied from outside.
struct MixedSurface {
  SurfaceMesh mesh;
  std::vector<Boundary> boundary;  ///< [groups]
  Vec3d applied{};                 ///< E
  MixedSurface& add(const Boundary& next) {
    boundary.push_back(next);
    return *this;
  }
};

inline int group_of(const MixedSurface& surface, const Panels& panels, std::size_t i) {
  return surface.mesh.group_of[panels.input_index[i]];
}

/// Rows of V over the extent of all panels, so that units do not matter.
inline MixedRows mixed_rows(const MixedSurface& surface, const Panels& panels) {
  using Kind = Boundary::Kind;
  MixedRows rows;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const int group = group_of(surface, panels, i);
    const Boundary& b = surface.boundary[group];
    const bool is_conductor = b.kind == Kind::conductor || b.kind == Kind::floating;
    rows.alpha.push_back(is_conductor ? 1 / panels.extent : b.kind == Kind::robin ? 2 : 0);
    rows.beta.push_back(b.beta());
    rows.gamma.push_back(is_conductor ? 0 : 1);
    rows.part.push_back(group);
  }
  for (int group = 0; group < static_cast<int>(surface.boundary.size()); ++group) {
    const Boundary& b = surface.boundary[group];
    if (b.kind != Kind::floating && !b.is_closed) continue;
    ChargeEquation equation{group};
    for (const int other : b.inside)
      equation.others.push_back({other, -b.beta() / (1 - b.beta() / 2)});
    rows.equations.push_back(equation);
  }
  return rows;
}

/// y_i ← y_i − (mean of y over the part) + value(part), of parts with a charge equation.
template <class Value>
void replace_means(const Panels& panels, const MixedRows& rows, std::vector<double>& y,
                   Value&& value) {
  for (const ChargeEquation& equation : rows.equations) {
    double area = 0, sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (rows.part[i] != equation.part) continue;
      area += panels.area(i);
      sum += panels.area(i) * y[i];
    }
    const double change = value(equation, area) - sum / area;
    for (std::size_t i = 0; i < y.size(); ++i)
      if (rows.part[i] == equation.part) y[i] += change;
  }
}

/// The right-hand side of its densities.
inline std::vector<double> right_hand_side(const MixedSurface& surface, const Panels& panels) {
  using Kind = Boundary::Kind;
  std::vector<double> b;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const Boundary& of = surface.boundary[group_of(surface, panels, i)];
    const Vec3d normal = panels.triangle(i).normal;
    if (of.kind == Kind::neumann || of.kind == Kind::robin)
      b.push_back(2 * of.value);
    else if (of.kind == Kind::interface)
      b.push_back(of.beta() * dot(normal, surface.applied));
    else
      b.push_back((of.value + dot(surface.applied, panels.centroid(i))) / panels.extent);
  }
  replace_means(panels, mixed_rows(surface, panels), b,
                [&](const ChargeEquation& equation, double area) {
                  const Boundary& of = surface.boundary[equation.part];
                  return of.kind == Kind::floating ? of.value / area : 0;
                });
  return b;
}

/// A ball's surface of 12 n² panels, from that of a cube.
inline void add_ball(SurfaceMesh& mesh, int n, double radius, Vec3d centre) {
  const int group = add_group(mesh, "ball");
  const std::size_t first = mesh.vertices.size();
  for (int axis = 0; axis < 3; ++axis) {
    for (const double side : {-1.0, 1.0}) {
      Vec3d corner{-1, -1, -1}, u{}, v{};
      corner[axis] = side;
      u[(axis + (side > 0 ? 1 : 2)) % 3] = 2;
      v[(axis + (side > 0 ? 2 : 1)) % 3] = 2;
      add_grid(mesh, group, n, corner, u, v);
    }
  }
  for (std::size_t k = first; k < mesh.vertices.size(); ++k) {
    Vec3d& x = mesh.vertices[k];
    // Equal angles between the lines of a face.
    for (int axis = 0; axis < 3; ++axis) x[axis] = std::tan(std::numbers::pi / 4 * x[axis]);
    x = centre + (radius / norm(x)) * x;
  }
}

/// The surface of a box with so many cells along its edges, normals outward; `faces` are its
/// groups: at low x, y, z, then high.
inline void add_box(SurfaceMesh& mesh, const std::array<int, 6>& faces, Vec3d low, Vec3d size,
                    std::array<int, 3> cells) {
  for (int face = 0; face < 6; ++face) {
    const int axis = face % 3;
    const bool is_high = face >= 3;
    const int a = (axis + (is_high ? 1 : 2)) % 3, b = (axis + (is_high ? 2 : 1)) % 3;
    const int first = static_cast<int>(mesh.vertices.size());
    for (int i = 0; i <= cells[a]; ++i) {
      for (int j = 0; j <= cells[b]; ++j) {
        Vec3d x = low;
        if (is_high) x[axis] += size[axis];
        x[a] += size[a] * i / cells[a];
        x[b] += size[b] * j / cells[b];
        add_vertex(mesh, x);
      }
    }
    const auto at = [&](int i, int j) { return first + i * (cells[b] + 1) + j; };
    for (int i = 0; i < cells[a]; ++i) {
      for (int j = 0; j < cells[b]; ++j) {
        add_triangle(mesh, at(i, j), at(i + 1, j), at(i + 1, j + 1), faces[face]);
        add_triangle(mesh, at(i, j), at(i + 1, j + 1), at(i, j + 1), faces[face]);
      }
    }
  }
}

/// Nine bars on three interfaces, with 1e4 below, 3.9 and 100 between and 1 above; the bars on the
/// middle interface run across the others. One bar may float. 600 n² panels.
inline MixedSurface memory_cell(int n, bool has_floating_bar) {
  MixedSurface cell;
  const double permittivity[] = {1e4, 3.9, 100, 1};
  for (int level = 0; level < 3; ++level) {
    const double height = 2 * level;
    const int along = level % 2, across = 1 - along;
    const int plane = add_group(cell.mesh, "interface");
    cell.add(interface(permittivity[level], permittivity[level + 1]));
    // Unit squares outside of the bars, which are a unit wide and high and five long.
    for (int i = 0; i < 7; ++i) {
      for (int j = 0; j < 7; ++j) {
        const int along_at = along == 0 ? i : j, across_at = along == 0 ? j : i;
        if (across_at % 2 == 1 && along_at >= 1 && along_at < 6) continue;
        add_grid(cell.mesh, plane, n, {1.0 * i, 1.0 * j, height}, {1, 0, 0}, {0, 1, 0});
      }
    }
    for (int bar = 0; bar < 3; ++bar) {
      const int group = add_group(cell.mesh, "bar");
      cell.add(has_floating_bar && level == 1 && bar == 1 ? floating(0) : conductor(bar - 1.0));
      Vec3d low{0, 0, height}, size{1, 1, 1};
      std::array<int, 3> cells{n, n, n};
      low[along] = 1;
      low[across] = 1 + 2 * bar;
      size[along] = 5;
      cells[along] = 5 * n;
      add_box(cell.mesh, {group, group, group, group, group, group}, low, size, cells);
    }
  }
  return cell;
}

/// A plate of no thickness in the middle of a box's upper face: 108 n² panels.
inline MixedSurface plate_on_substrate(int n, double permittivity) {
  MixedSurface surface;
  const int box = add_group(surface.mesh, "substrate"), plate = add_group(surface.mesh, "plate");
  surface.add(interface(permittivity, 1)).add(conductor(1));
  add_box(surface.mesh, {box, box, box, box, box, box}, {}, {1, 1, 1}, {3 * n, 3 * n, 3 * n});
  const double third = 1.0 / 3;
  for (std::size_t t = 0; t < surface.mesh.triangles.size(); ++t) {
    const auto [a, b, c] = surface.mesh.triangles[t];
    const Vec3d x =
        (surface.mesh.vertices[a] + surface.mesh.vertices[b] + surface.mesh.vertices[c]) / 3.0;
    if (x.z > 1 - 1e-9 && std::abs(x.x - 0.5) < third / 2 && std::abs(x.y - 0.5) < third / 2)
      surface.mesh.group_of[t] = plate;
  }
  return surface;
}

/// The unit cube with potentials on three faces, fluxes on two and one more or a sum of both on
/// another, lines of a power p graded towards its edges if p > 1: 12 n² panels.
inline MixedSurface mixed_cube(int n, bool has_robin, double power = 1) {
  MixedSurface cube;
  const double values[] = {0, 1, -0.5, 0.3, -1, 0.2};
  std::array<int, 6> faces{};
  for (int face = 0; face < 6; ++face) {
    faces[face] = add_group(cube.mesh, "face");
    if (face < 3)
      cube.add(conductor(values[face]));
    else if (face == 3 && has_robin)
      cube.add({Boundary::Kind::robin, values[face]});
    else
      cube.add({Boundary::Kind::neumann, values[face]});
  }
  add_box(cube.mesh, faces, {}, {1, 1, 1}, {n, n, n});
  const auto graded = [&](double s) {
    return s < 0.5 ? 0.5 * std::pow(2 * s, power) : 1 - 0.5 * std::pow(2 - 2 * s, power);
  };
  for (Vec3d& x : cube.mesh.vertices) x = {graded(x.x), graded(x.y), graded(x.z)};
  return cube;
}

/// A spherical shell of outer radius 1 in a field: 24 n² panels.
inline MixedSurface shell(int n, double thickness, double permittivity) {
  MixedSurface surface;
  add_ball(surface.mesh, n, 1, {});
  add_ball(surface.mesh, n, 1 - thickness, {});
  surface.add(closed_interface(permittivity, 1, {1})).add(closed_interface(1, permittivity));
  surface.applied = {0.3, 0.2, 1};
  return surface;
}

/// A plate 1 × 1 × thickness in a field: 4 n² + 8 n panels.
inline MixedSurface thin_plate(int n, double thickness, double permittivity) {
  MixedSurface surface;
  const int group = add_group(surface.mesh, "plate");
  add_box(surface.mesh, {group, group, group, group, group, group}, {}, {1, 1, thickness},
          {n, n, 1});
  surface.add(closed_interface(permittivity, 1));
  surface.applied = {0.3, 0.2, 1};
  return surface;
}

/// Two unit spheres a gap apart in a field: 24 n² panels.
inline MixedSurface two_balls(int n, double gap, double permittivity) {
  MixedSurface surface;
  for (const double side : {-1.0, 1.0}) {
    add_ball(surface.mesh, n, 1, {side * (1 + gap / 2), 0, 0});
    surface.add(closed_interface(permittivity, 1));
  }
  surface.applied = {1, 0.2, 0.3};
  return surface;
}

inline void add_plates(MixedSurface& surface, int n, Vec3d corner, double side, double distance) {
  for (const double at : {0.0, 1.0}) {
    add_grid(surface.mesh, add_group(surface.mesh, "plate"), n, corner + Vec3d{0, 0, at * distance},
             {side, 0, 0}, {0, side, 0});
    surface.add(conductor(2 * at - 1));
  }
}

/// A floating sphere between two plates: 28 n² panels.
inline MixedSurface floating_ball(int n) {
  MixedSurface surface;
  add_ball(surface.mesh, n, 1, {0.1, 0.2, 0.3});
  surface.add(floating(0.5));
  add_plates(surface, 2 * n, {-2, -2, -1.5}, 4, 3);
  return surface;
}

/// A conducting sphere in a coat: 24 n² panels.
inline MixedSurface coated_conductor(int n, double permittivity) {
  MixedSurface surface;
  add_ball(surface.mesh, n, 1, {});
  add_ball(surface.mesh, n, 0.6, {0.1, 0, 0.05});
  surface.add(closed_interface(permittivity, 1, {1})).add(conductor(1));
  return surface;
}

/// side³ dielectric spheres between two plates, every other one a floating conductor if asked for:
/// 12 n² panels each, 4 (side n)² for the plates.
inline MixedSurface balls_between_plates(int side, int n, double permittivity, bool half_floating) {
  MixedSurface surface;
  for (int i = 0; i < side; ++i)
    for (int j = 0; j < side; ++j)
      for (int k = 0; k < side; ++k) {
        add_ball(surface.mesh, n, 0.35, {1.0 * i, 1.0 * j, 1.0 * k});
        surface.add(half_floating && (i + j + k) % 2 == 1 ? floating(0)
                                                          : closed_interface(permittivity, 1));
      }
  add_plates(surface, side * n, {-1, -1, -0.8}, side + 1, side + 0.6);
  return surface;
}

/// The cases by which a preconditioner is judged (docs/decisions.md), of two sizes for tests.
struct MixedCase {
  std::string name;
  std::function<MixedSurface(int n)> make;
  int coarse, fine;
};
inline const std::vector<MixedCase>& mixed_cases() {
  static const std::vector<MixedCase> all{
      {"memory cell", [](int n) { return memory_cell(n, false); }, 1, 2},
      {"memory cell, a bar floating", [](int n) { return memory_cell(n, true); }, 1, 2},
      {"plate on a substrate", [](int n) { return plate_on_substrate(n, 1e4); }, 3, 5},
      {"Dirichlet-Neumann cube", [](int n) { return mixed_cube(n, false); }, 9, 15},
      {"with a Robin face", [](int n) { return mixed_cube(n, true); }, 9, 15},
      {"graded cube", [](int n) { return mixed_cube(n, false, 2.5); }, 10, 16},
      {"shell 0.05 thick", [](int n) { return shell(n, 0.05, 1e4); }, 6, 10},
      {"shell 0.01 thick", [](int n) { return shell(n, 0.01, 1e4); }, 6, 10},
      {"shell 0.001 thick", [](int n) { return shell(n, 0.001, 1e4); }, 6, 10},
      {"plate 0.01 thick", [](int n) { return thin_plate(n, 0.01, 1e4); }, 16, 24},
      {"plate 0.001 thick", [](int n) { return thin_plate(n, 0.001, 1e4); }, 16, 24},
      {"two spheres 0.01 apart", [](int n) { return two_balls(n, 0.01, 1e4); }, 6, 10},
      {"floating sphere between plates", floating_ball, 6, 9},
      {"coated conductor", [](int n) { return coated_conductor(n, 1e6); }, 6, 10},
      {"27 spheres between plates", [](int n) { return balls_between_plates(3, n, 1e6, false); }, 2,
       3},
      {"64 spheres between plates", [](int n) { return balls_between_plates(4, n, 1e6, false); }, 1,
       2},
      {"half of 64 floating", [](int n) { return balls_between_plates(4, n, 1e6, true); }, 1, 2},
  };
  return all;
}

}  // namespace fmbem::test
