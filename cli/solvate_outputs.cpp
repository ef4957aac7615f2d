#include "cli/solvate_outputs.hpp"

#include <utility>

#include "cli/molecular_forces.hpp"
#include "cli/picture_options.hpp"
#include "cli/site_report.hpp"
#include "cli/solvate_report.hpp"
#include "fmbem/meshes/dx_file.hpp"
#include "fmbem/meshes/output_file.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/meshes/vertex_means.hpp"
#include "fmbem/meshes/view_script.hpp"
#include "fmbem/meshes/write.hpp"
#include "fmbem/problems/solvation/potential_volume.hpp"

namespace fmbem::cli {
namespace {

/// Whether a file can be written, and has one of these endings.
void check_path(const std::string& option, const std::optional<std::string>& path,
                const std::vector<std::string>& endings) {
  if (!path) return;
  std::string all;
  bool fits = false;
  for (std::size_t k = 0; k < endings.size(); ++k) {
    all += (k == 0 ? "" : " and ") + ("." + endings[k]);
    fits = fits || ending(*path) == endings[k];
  }
  FMBEM_REQUIRE(fits, option << " writes " << all << ", not " << *path);
  OutputFile probe(*path);
}

std::vector<double> in_kt(const Solvation& solvation, std::vector<double> values) {
  for (double& value : values) value /= solvation.model.thermal_energy();
  return values;
}

RegularGrid volume_grid(const SolvateOptions& options, Vec3d low, Vec3d high) {
  return grid_over(low, high, options.margin.value_or(10), options.spacing.value_or(1));
}

void write_volume(const std::string& path, const SolvateOptions& options,
                  const SolvedMolecule& solved) {
  Vec3d low = solved.mesh.vertices[0], high = low;
  for (const Vec3d& x : solved.mesh.vertices)
    for (int axis = 0; axis < 3; ++axis) {
      low[axis] = std::min(low[axis], x[axis]);
      high[axis] = std::max(high[axis], x[axis]);
    }
  const RegularGrid grid = volume_grid(options, low, high);
  write_dx(path, grid,
           in_kt(solved.solvation, potential_on_grid(solved.solvation, solved.molecule, grid)),
           "potential of " + solved.molecule.file + " in kT/e at " +
               decimal(solved.solvation.model.temperature) + " K");
}

}  // namespace

void check_outputs(SolveRun& job, const SolvateOptions& options,
                   const std::vector<std::vector<std::string>>& surfaces) {
  std::vector<std::pair<std::string, std::string>> inputs{{"molecule", options.molecule}};
  if (options.sites) inputs.emplace_back("sites", *options.sites);
  for (const std::vector<std::string>& files : surfaces)
    for (const std::string& file : files) inputs.emplace_back("surface", file);
  std::vector<std::pair<std::string, std::optional<std::string>>> outputs{
      {"--output", options.file},   {"--potentials", options.potentials},
      {"--forces", options.forces}, {"--site-energies", options.site_energies},
      {"--volume", options.volume}, {"--picture", options.picture}};
  if (options.view)
    for (const std::string& file : files_of_view(*options.view))
      outputs.emplace_back("--view", file);
  job.check_outputs(outputs, inputs);
  FMBEM_REQUIRE(!options.site_energies || options.sites,
                "--site-energies goes with --sites, whose energies it writes");
  if (options.file) check_output_path(*options.file);
  check_path("--potentials", options.potentials, {"pqr", "csv"});
  check_path("--forces", options.forces, {"csv"});
  check_path("--site-energies", options.site_energies, {"csv", "npy"});
  check_path("--volume", options.volume, {"dx"});
  FMBEM_REQUIRE(options.volume || !(options.spacing || options.margin),
                "--spacing and --margin are for --volume FILE: give that, too");
  if (options.volume) volume_grid(options, {}, {});
  if (options.view)
    for (const std::string& file : files_of_view(*options.view)) OutputFile probe(file);
  FMBEM_REQUIRE(!options.range || drawn_range(options),
                "--range is for --picture FILE and --view FILE: give one of them, too");
  check_range(options.range);
  check_picture(options.picture);
}

std::optional<double> drawn_range(const SolvateOptions& options) {
  if (!options.picture && !options.view) return {};
  return options.range.value_or(drawn_potential);
}

void put_out(SolveRun& job, const SolvateOptions& options, const SolvedMolecule& solved) {
  const auto& [mesh, solvation, molecule, sites, forces, fields] = solved;
  const auto wrote = [&](const std::string& file) { job.console().print_wrote(file); };
  if (options.file) {
    std::vector<PanelField> all = fields;
    if (forces)
      for (PanelField& field : pressure_fields(solvation, *forces)) all.push_back(std::move(field));
    write_mesh(*options.file, mesh, all, vertex_means(mesh, all));
    wrote(*options.file);
  }
  if (options.potentials) {
    write_potentials(*options.potentials, solvation, molecule);
    wrote(*options.potentials);
  }
  if (options.forces) {
    write_forces(*options.forces, *forces, molecule);
    wrote(*options.forces);
  }
  if (options.site_energies) {
    write_site_energies(*options.site_energies, sites, solvation.site_energies);
    wrote(*options.site_energies);
  }
  if (options.volume) {
    job.console().begin_phase("potential on the grid");
    write_volume(*options.volume, options, solved);
    wrote(*options.volume);
  }
  if (options.view) {
    write_view(*options.view, {.mesh = mesh,
                               .values = fields[0].values,
                               .range = *drawn_range(options),
                               .molecule = molecule.file});
    for (const std::string& file : files_of_view(*options.view)) wrote(file);
  }
}

void draw(SolveRun& job, const SolvateOptions& options, const SolvedMolecule& solved) {
  draw_result(job.console(), options.picture,
              [&](const std::string& path) { return write_vtu(path, solved.mesh, solved.fields); },
              {.range = options.range});
}

}  // namespace fmbem::cli
