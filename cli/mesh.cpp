#include <memory>

#include "cli/commands.hpp"
#include "cli/common_options.hpp"
#include "cli/report.hpp"
#include "fmbem/meshes/check.hpp"
#include "fmbem/meshes/load.hpp"
#include "fmbem/meshes/write.hpp"

namespace fmbem::cli {
namespace {

struct MeshArguments {
  MeshOptions mesh;
  OutputOptions output;
  std::string file;
};

ExitCode run(Context& context, const MeshArguments& options) {
  Console& console = context.console;
  console.set_quiet(options.output.quiet);
  ReportTarget target(console, options.output.json);
  refuse_overwriting({{"--output", options.file}, {"--json", options.output.json}},
                     {{"mesh", options.mesh.file}});
  check_output_path(options.file);
  Json report = start_report("mesh", context.arguments);
  console.begin_phase("reading " + options.mesh.file);
  const SurfaceMesh mesh = load_mesh(options.mesh.file, options.mesh.load_options());
  for (const std::string& sentence : mesh.notices) notice(console, report, sentence);
  const MeshReport check = check_mesh(mesh);
  write_mesh(options.file, mesh, {});
  console.print("wrote " + options.file + ": " + std::to_string(check.panels) + " panels, unit " +
                mesh.unit + (mesh.unit == "m" ? "" : "; read it with --unit " + mesh.unit) +
                (mesh.sizes.empty() ? "" : "\nsizes " + sizes_text(mesh)));
  report["mesh"] = mesh_summary(mesh, check);
  target.write(report);
  return ExitCode::solved;
}

}  // namespace

Command add_mesh(CLI::App& program) {
  auto options = std::make_shared<MeshArguments>();
  CLI::App* app = program.add_subcommand("mesh", "Write the mesh that would be solved on");
  app->footer(
      "Examples:\n"
      "  fmbem mesh examples/cube.geo --refine 1 -o cube.msh\n"
      "  fmbem mesh bus.step --grade 0.2 -o bus.vtu");
  add_mesh_options(*app, options->mesh);
  app->add_option("-o,--output", options->file, "for Gmsh and fmbem (.msh), or ParaView (.vtu)")
      ->type_name("FILE")
      ->group(output_group)
      ->required();
  add_output_options(*app, options->output);
  return {app, [options](Context& context) { return run(context, *options); }};
}

}  // namespace fmbem::cli
