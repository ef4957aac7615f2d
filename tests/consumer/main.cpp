#include <cmath>
#include <iostream>

#include <fmbem/meshes/load.hpp>
#include <fmbem/problems/solve_capacitance.hpp>

int main(int, char** argv) {
  const fmbem::SurfaceMesh mesh = fmbem::load_mesh(argv[1]);
  const auto solution = fmbem::solve_capacitance(mesh, {});
  std::cout << solution.maxwell(0, 0) << " F\n";
  return std::abs(solution.maxwell(0, 0) / 73.51e-12 - 1) < 0.002 ? 0 : 1;
}
