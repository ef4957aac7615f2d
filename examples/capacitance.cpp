// Capacitance of the conductors of a mesh: example_capacitance MESH
#include <exception>
#include <iostream>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/load.hpp"
#include "fmbem/meshes/write.hpp"
#include "fmbem/problems/solve_capacitance.hpp"

int main(int argc, char** argv) try {
  if (argc < 2) throw fmbem::InputError("usage: example_capacitance MESH [FILE.vtu]");

  const fmbem::SurfaceMesh mesh = fmbem::load_mesh(argv[1]);
  fmbem::ConductorOptions options;
  options.solver.tolerance = 1e-8;
  const fmbem::CapacitanceSolution solution = fmbem::solve_capacitance(mesh, options);

  for (std::size_t i = 0; i < solution.maxwell.n; ++i)
    for (std::size_t j = 0; j < solution.maxwell.n; ++j)
      std::cout << solution.conductors[i].name << ", " << solution.conductors[j].name << ": "
                << 1e12 * solution.maxwell(i, j) << " pF\n";
  if (argc > 2)
    fmbem::write_mesh(argv[2], mesh, {{"charge density [C/m^2]", solution.charge_density[0]}});
  return solution.converged ? 0 : 3;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
