// Potential and field around a conductor at 1 V, along a line: example_field MESH
#include <exception>
#include <iostream>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/load.hpp"
#include "fmbem/problems/conductor_field.hpp"
#include "fmbem/problems/solve_capacitance.hpp"

int main(int argc, char** argv) try {
  if (argc < 2) throw fmbem::InputError("usage: example_field MESH");

  const fmbem::SurfaceMesh mesh = fmbem::load_mesh(argv[1]);
  const fmbem::CapacitanceSolution solution = fmbem::solve_capacitance(mesh, {});

  const fmbem::Panels& panels = solution.panels;

  std::vector<fmbem::Vec3d> points;
  for (double t = 0; t <= 1; t += 0.125)
    points.push_back(panels.origin + t * fmbem::Vec3d{panels.extent, panels.extent, panels.extent});
  const fmbem::Field field = fmbem::conductor_field(solution, 0, points);
  for (std::size_t i = 0; i < points.size(); ++i)
    std::cout << points[i].x << ' ' << field.potential[i] << " V, E_x = " << field.e[i].x
              << " V/m\n";
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
