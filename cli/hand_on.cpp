#include "cli/hand_on.hpp"

#include <cmath>
#include <filesystem>
#include <utility>

#include "cli/common_options.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/csv_table.hpp"
#include "fmbem/meshes/output_file.hpp"
#include "fmbem/problems/export_system.hpp"
#include "fmbem/problems/write_spice.hpp"

namespace fmbem::cli {

std::vector<std::pair<std::string, std::optional<std::string>>> HandOnOptions::files() const {
  std::vector<std::pair<std::string, std::optional<std::string>>> all{
      {"--save", save}, {"--csv", csv}, {"--export", folder}};
  if (folder)
    for (std::string& file : exported_files(*folder)) all.emplace_back("--export", std::move(file));
  return all;
}

void HandOnOptions::check() const {
  for (const auto& file : {save, csv})
    if (file) OutputFile probe(*file);
  if (folder) check_export_folder(*folder);
}

void add_save_option(CLI::App& app, HandOnOptions& options) {
  app.add_option("--save", options.save,
                 "keep the solution (HDF5): fmbem field --from FILE takes it without solving "
                 "again, fmbem plot draws it")
      ->type_name("FILE")
      ->group(output_group);
}

void add_hand_on_options(CLI::App& app, HandOnOptions& options) {
  add_save_option(app, options);
  app.add_option("--csv", options.csv,
                 "capacitances, charges or currents of all conductors as a table")
      ->type_name("FILE")
      ->group(output_group);
  app.add_option("--export", options.folder,
                 "A x = b with residual, order of unknowns, centroids, areas and normals as "
                 "NumPy's .npy; A of up to 20,000 panels")
      ->type_name("DIR")
      ->group(output_group);
}

void add_spice_options(CLI::App& app, SpiceOptions& options) {
  app.add_option("--spice", options.file,
                 "the capacitors as a SPICE subcircuit, a pin for each net")
      ->type_name("FILE")
      ->group(output_group);
  app.add_option(
         "--spice-threshold", options.threshold,
         "leave out couplings below X of the smaller total capacitance of both nets; they go "
         "to ground (default: 0)")
      ->type_name("X")
      ->group(output_group);
}

void check_spice(const SpiceOptions& options) {
  FMBEM_REQUIRE(options.threshold == 0 || options.file,
                "--spice-threshold is for --spice FILE: give that, too");
  FMBEM_REQUIRE(options.threshold >= 0 && options.threshold <= 1,
                "--spice-threshold must be between 0 and 1, not " << options.threshold);
  if (options.file) OutputFile probe(*options.file);
}

void write_capacitance_csv(const std::string& file, const CapacitanceOfLevels& levels) {
  const std::vector<Conductor>& conductors = levels.solution.conductors;
  const SquareMatrix &maxwell = levels.solution.maxwell, mutual = mutual_capacitance(maxwell);
  const auto error = [&](double value) {
    return levels.estimate ? shortest_digits(value) : std::string();
  };
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < conductors.size(); ++i)
    for (std::size_t j = 0; j < conductors.size(); ++j)
      rows.push_back({conductors[i].name, conductors[j].name, shortest_digits(maxwell(i, j)),
                      error(levels.error.maxwell(i, j)), shortest_digits(mutual(i, j)),
                      error(levels.error.mutual(i, j))});
  write_csv_table(file,
                  {"conductor", "at 1 V", "Maxwell [F]", "error of Maxwell [F]", "mutual [F]",
                   "error of mutual [F]"},
                  rows);
}

void write_charge_csv(const std::string& file, const std::vector<double>& voltages,
                      const ChargesOfLevels& levels) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < voltages.size(); ++i)
    rows.push_back({levels.solution.conductors[i].name, shortest_digits(voltages[i]),
                    shortest_digits(levels.charges[i]),
                    levels.convergence ? shortest_digits(levels.error[i]) : ""});
  write_csv_table(file, {"conductor", "voltage [V]", "charge [C]", "error of charge [C]"}, rows);
}

void write_problem_csv(const std::string& file, const ProblemSolution& solution) {
  const std::string charge = solution.problem.conducts() ? "current [A]" : "charge [C]",
                    flux = solution.problem.conducts() ? "current" : "flux",
                    unit = solution.problem.conducts() ? " [A]" : " [C]";
  const auto field = [](double value) {
    return std::isfinite(value) ? shortest_digits(value) : std::string();
  };
  std::vector<std::vector<std::string>> rows;
  for (std::size_t k = 0; k < solution.results.size(); ++k) {
    const ProblemResult& result = solution.results[k];
    const std::string part = result.is_imaginary ? "imaginary" : "real";
    for (std::size_t c = 0; c < solution.conductors.size(); ++c)
      rows.push_back({result.name, part, "conductor", solution.conductors[c].name,
                      field(solution.potential[k][c]), field(result.conductor_flux[c]), "", ""});
    for (std::size_t g = 0; g < solution.groups.size(); ++g)
      rows.push_back({result.name, part, "group", solution.groups[g], "", "",
                      field(result.flux_inside[g]), field(result.flux_outside[g])});
  }
  write_csv_table(file,
                  {"result", "part", "kind", "name", "potential [V]", charge,
                   flux + " inward" + unit, flux + " outward" + unit},
                  rows);
}

void write_spice_file(const SpiceOptions& options, const CapacitanceOfLevels& levels) {
  SpiceCircuit circuit{
      .name = std::filesystem::path(levels.mesh.file).stem().string(),
      .nets = {},
      .maxwell = levels.solution.maxwell,
      .threshold = options.threshold,
      .notes = {"capacitances of " + levels.mesh.file + " by fmbem " + FMBEM_VERSION,
                "the ground node 0 stands for infinity"}};
  if (!levels.solution.converged)
    circuit.notes.emplace_back("the solve did not converge: these are not its capacitances");
  for (const Conductor& conductor : levels.solution.conductors)
    circuit.nets.push_back(conductor.name);
  write_spice(*options.file, circuit);
}

}  // namespace fmbem::cli
