#include "cli/surface_output.hpp"

#include <algorithm>
#include <utility>

#include "cli/point_output.hpp"
#include "fmbem/meshes/output_file.hpp"
#include "fmbem/meshes/panel_values.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/problems/superpose.hpp"

namespace fmbem::cli {
namespace {

/// In the mesh's order: σ in V/m, φ, and flux densities into the regions inside and outside.
std::vector<std::vector<double>> surface_values(const ProblemSolution& solution, std::size_t k) {
  std::vector<double> density = solution.panels.to_input_order(solution.sigma[k]);
  for (double& value : density) value /= solution.scale_to_m;
  const SurfaceValues& surface = solution.results[k].surface;
  return {std::move(density), surface.potential, surface.inside, surface.outside};
}

std::vector<PanelField> surface_fields(const ProblemSolution& solution) {
  const bool conducts = solution.problem.conducts();
  const std::string unit = conducts ? " [A/m^2]" : " [C/m^2]";
  const std::string inward = "flux density inward" + unit, outward = "flux density outward" + unit;
  std::vector<PanelField> fields;
  for (std::size_t k = 0; k < solution.results.size(); ++k) {
    const std::string prefix = prefix_of(solution, k);
    std::vector<std::vector<double>> values = surface_values(solution, k);
    fields.push_back({prefix + "density [V/m]", std::move(values[0])});
    fields.push_back({prefix + "potential [V]", std::move(values[1])});
    if (!conducts && k < solution.charge_density.size())
      fields.push_back({prefix + "charge density [C/m^2]", solution.charge_density[k]});
    fields.push_back({prefix + inward, std::move(values[2])});
    fields.push_back({prefix + outward, std::move(values[3])});
  }
  return fields;
}

/// Whether a solution is one of conductors, with each at 1 V in turn or at given voltages.
bool is_of_conductors(const ProblemSolution& solution) {
  return std::all_of(solution.results.begin(), solution.results.end(),
                     [](const ProblemResult& result) { return result.conductor_at_1_volt >= 0; });
}

}  // namespace

std::vector<PanelField> panel_fields(const ProblemSolution& solution) {
  if (!is_of_conductors(solution)) return surface_fields(solution);
  std::vector<PanelField> fields;
  for (std::size_t j = 0; j < solution.charge_density.size(); ++j)
    fields.push_back({"charge density [C/m^2]", solution.charge_density[j]});
  if (has_unit_voltages(solution))
    for (std::size_t j = 0; j < fields.size(); ++j)
      fields[j].name += ", " + solution.conductors[j].name + " at 1 V";
  return fields;
}

void check_surface_path(const std::string& file) {
  if (is_npy(file))
    OutputFile probe(file);
  else
    check_output_path(file);
}

void write_surface(const std::string& file, const SurfaceMesh& mesh,
                   const ProblemSolution& solution) {
  if (!is_npy(file)) return write_mesh(file, mesh, surface_fields(solution));
  NumberArray array{{solution.results.size(), mesh.triangles.size(), 4}, {}};
  for (std::size_t k = 0; k < solution.results.size(); ++k) {
    const std::vector<std::vector<double>> values = surface_values(solution, k);
    for (std::size_t i = 0; i < mesh.triangles.size(); ++i)
      for (const std::vector<double>& column : values) array.values.push_back(column[i]);
  }
  write_npy(file, array);
}

}  // namespace fmbem::cli
