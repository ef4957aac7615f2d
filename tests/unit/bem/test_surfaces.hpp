#pragma once

// Surfaces on which fast operators are compared with dense ones.
#include <functional>
#include <string>
#include <vector>

#include "tests/unit/surfaces.hpp"

namespace fmbem::test {

/// A panel a hundred times as large as others beside it, above it and across its edge.
inline SurfaceMesh one_large_panel() {
  SurfaceMesh mesh;
  const int group = add_group(mesh, "surface");
  const int a = add_vertex(mesh, {0, 0, 0}), b = add_vertex(mesh, {1, 0, 0}),
            c = add_vertex(mesh, {0, 1, 0});
  add_triangle(mesh, a, b, c, group);
  add_grid(mesh, group, 20, {1, 0, 0}, {0.2, 0, 0}, {0, 0.2, 0});
  add_grid(mesh, group, 20, {0.25, 0.25, 0.02}, {0.2, 0, 0}, {0, 0.2, 0});
  return mesh;
}

struct Surface {
  std::string name;
  std::function<SurfaceMesh()> make;
};
inline const std::vector<Surface>& surfaces() {
  static const std::vector<Surface> all{{"sphere", [] { return sphere(4); }},
                                        {"cube", [] { return cube(13); }},
                                        {"bracket", [] { return bracket(14); }},
                                        {"plate", [] { return plate(32); }},
                                        {"one large panel", one_large_panel},
                                        {"long panels", [] { return long_plate(4, 500); }},
                                        {"graded plate", [] { return graded_plate(40); }},
                                        {"small and far off",
                                         [] {
                                           return sphere(4, 1e-9, {3, -2, 1});
                                         }},
                                        {"tiny", [] { return sphere(4, 1e-25); }},
                                        {"huge", [] { return sphere(4, 1e30); }}};
  return all;
}

}  // namespace fmbem::test
