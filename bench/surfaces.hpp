#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>

#include "fmbem/meshes/load.hpp"
#include "tests/unit/surfaces.hpp"

namespace fmbem::bench {

/// A surface of about so many panels, and the place of the point charge whose potential is its
/// data.
struct Surface {
  std::function<SurfaceMesh(double panels)> make;
  Vec3d source;
};

inline int level_for(double panels, double first) {
  return static_cast<int>(std::lround(std::log2(panels / first) / 2));
}

inline SurfaceMesh two_spheres(double panels) {
  SurfaceMesh mesh;
  const int level = level_for(panels, 16);
  test::add_ellipsoid(mesh, "left", level, {1, 1, 1}, {-1.005, 0, 0});
  test::add_ellipsoid(mesh, "right", level, {1, 1, 1}, {1.005, 0, 0});
  mesh.closed = true;
  return mesh;
}

/// A CAD geometry of that area, meshed by Gmsh with sixteen times larger triangles, which are split
/// twice.
inline SurfaceMesh cad_part(double panels) {
  constexpr double area = 21200, of_side_1 = 0.433;
  return load_mesh(FMBEM_EXAMPLES "/part.geo",
                   {.mesh_size = 4 * std::sqrt(area / (of_side_1 * panels)), .refine = 2});
}

inline const std::map<std::string, Surface>& surfaces() {
  static const std::map<std::string, Surface> all{
      {"sphere", {[](double n) { return test::sphere(level_for(n, 8)); }, {0.3, 0.2, 0.4}}},
      {"icosphere", {[](double n) { return test::icosphere(level_for(n, 20)); }, {0.3, 0.2, 0.4}}},
      {"cube",
       {[](double n) { return test::cube(std::max(1L, std::lround(std::sqrt(n / 12)))); },
        {0.3, 0.2, 0.6}}},
      {"bracket",
       {[](double n) { return test::bracket(std::max(3L, std::lround(std::sqrt(n / 28)))); },
        {0.6, 0.3, 0.7}}},
      {"part", {cad_part, {30, 45, 4}}},
      {"plate",
       {[](double n) { return test::plate(std::lround(std::sqrt(n / 2))); }, {0.3, 0.2, 0.3}}},
      // Unit plates: of 4 cells in one direction; graded by x⁴; graded by x⁴ and y⁴.
      {"long plate",
       {[](double n) {
          return test::plate_of_lines(test::steps(4), test::steps(std::lround(n / 8)), {},
                                      {1, 0, 0}, {0, 1, 0});
        },
        {0.3, 0.2, 0.3}}},
      {"graded plate",
       {[](double n) {
          const int cells = static_cast<int>(std::lround(std::sqrt(n / 2)));
          return test::plate_of_lines(test::steps(cells, 4), test::steps(cells), {}, {1, 0, 0},
                                      {0, 1, 0});
        },
        {0.3, 0.2, 0.3}}},
      {"corner plate",
       {[](double n) { return test::graded_plate(std::lround(std::sqrt(n / 2))); },
        {0.3, 0.2, 0.3}}},
      {"spheres", {two_spheres, {-0.7, 0.2, 0.4}}}};
  return all;
}

}  // namespace fmbem::bench
