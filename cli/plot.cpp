#include <cmath>
#include <filesystem>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/common_options.hpp"
#include "cli/picture_options.hpp"
#include "cli/report.hpp"
#include "cli/surface_output.hpp"
#include "fmbem/meshes/load.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/meshes/write_vtu.hpp"
#include "fmbem/pictures/draw_picture.hpp"
#include "fmbem/problems/solution_file.hpp"

namespace fmbem::cli {
namespace {

struct PlotArguments {
  std::string file;
  std::optional<std::string> picture, cut;
  PictureOptions how;
  bool quiet = false;
};

/// In the file's unit, which is known where the file is read.
Cut cut_of(const CutOption& option) {
  FMBEM_REQUIRE(!option.at.unit,
                "--cut is in the file's own unit here: leave out \"" << *option.at.unit << "\"");
  return {option.axis, option.at.value};
}

/// A surface with values on its panels.
struct SurfaceResult {
  SurfaceMesh mesh;
  std::vector<PanelField> fields;
  bool converged = true;
};

SurfaceResult kept_result(const std::string& file) {
  KeptSolution kept = load_solution(file);
  const Json report = Json::parse(kept.report, nullptr, false);
  return {std::move(kept.mesh), panel_fields(kept.solution),
          report.is_object() && report.value("status", Json()) == "solved"};
}

/// Gmsh knows elements by their tags.
SurfaceResult msh_result(const std::string& file) {
  SurfaceResult result{load_mesh(file), {}};
  std::unordered_map<std::size_t, std::size_t> triangle_of;
  for (std::size_t i = 0; i < result.mesh.triangles.size(); ++i)
    triangle_of[result.mesh.triangle_tags[i]] = i;
  for (const ElementData& data : read_element_data(file)) {
    PanelField field{data.name, std::vector<double>(triangle_of.size(), NAN)};
    for (std::size_t k = 0; k < data.tags.size(); ++k)
      if (const auto found = triangle_of.find(data.tags[k]); found != triangle_of.end())
        field.values[found->second] = data.values[k];
    result.fields.push_back(std::move(field));
  }
  return result;
}

bool is_vtk(const std::string& file) {
  const std::string format = ending(file);
  return format == "vtu" || format == "vtp" || format == "vti";
}

/// A picture that has been drawn.
struct Drawn {
  std::string notice;     ///< what the user has to be told of it; may be empty
  bool converged = true;  ///< what it shows, as far as the file says
};

Drawn draw(const std::string& file, const std::string& picture, const PictureOptions& how) {
  const bool is_msh = ending(file) == "msh";
  if (is_vtk(file) || (!is_msh && !is_solution_file(file)))
    return {draw_picture(file, picture, how)};
  check_picture_path(picture);
  const SurfaceResult result = is_msh ? msh_result(file) : kept_result(file);
  OutputFile output(picture);
  std::string notice = draw_result(file, output, how, [&](const std::string& path) {
    return write_vtu(path, result.mesh, result.fields);
  });
  output.commit();
  return {std::move(notice), result.converged};
}

ExitCode run(Context& context, const PlotArguments& options) {
  context.console.set_quiet(options.quiet);
  PictureOptions how = options.how;
  check_range(how.range);
  FMBEM_REQUIRE(!how.range || !how.log,
                "--range and --log exclude each other: logarithmic colours have no zero");
  if (options.cut) how.cut = cut_of(parse_cut(*options.cut));
  const std::string picture =
      options.picture.value_or(std::filesystem::path(options.file).replace_extension(".png"));
  refuse_overwriting({{"--output", picture}}, {{"result", options.file}});
  const auto [notice, converged] = draw(options.file, picture, how);
  context.console.print_wrote(picture);
  if (!notice.empty()) context.console.notice(notice);
  if (!converged)
    context.console.warning("the solution in " + options.file +
                            " had not converged when it was kept");
  return converged ? ExitCode::solved : ExitCode::not_converged;
}

}  // namespace

Command add_plot(CLI::App& program) {
  auto options = std::make_shared<PlotArguments>();
  CLI::App* app =
      program.add_subcommand("plot", "Draw a result: a picture, or a page for a browser");
  app->footer(
      "Examples:\n"
      "  fmbem plot cube.vtu -o cube.png\n"
      "  fmbem plot bus.vtu --net VDD --log -o bus.html\n"
      "  fmbem plot coated.h5 --quantity V -o coated.svg\n"
      "  fmbem plot box.vti --cut x=0 --quantity E -o cut.svg\n"
      "  fmbem plot ion.vtu --range 2 -o ion.png");
  app->add_option("FILE", options->file,
                  "a result: a surface (.vtu, .msh), a plane, a box or points (.vti, .vtu, .vtp), "
                  "or a solution that --save has kept")
      ->required();
  app->add_option("-o,--output", options->picture,
                  "a picture (.png, .svg), or a page to turn it in a browser (.html) (default: "
                  "FILE with the ending .png)")
      ->type_name("PICTURE");
  add_choice(*app, "--quantity", options->how.quantity,
             {{"auto", std::nullopt},
              {"charge", Quantity::charge},
              {"V", Quantity::potential},
              {"E", Quantity::field}},
             "charge density (of currents: the flux density inward), potential or the field's "
             "magnitude; auto: what the file holds first");
  app->add_option("--net", options->how.net,
                  "of several solutions in a file: the conductor that is at 1 V, or the "
                  "solution's name (default: the first)")
      ->type_name("NAME");
  app->add_option("--cut", options->cut, "of a box: the plane to show, in the file's unit")
      ->type_name("x=X");
  app->add_flag("--log", options->how.log,
                "logarithmic colours, over four decades at the most (default: for positive values "
                "over more than two decades, but for kT/e)");
  add_range_option(*app, options->how.range, "of molecules");
  app->add_flag("--quiet", options->quiet, "print errors and warnings alone");
  return {app, [options](Context& context) { return run(context, *options); }};
}

}  // namespace fmbem::cli
