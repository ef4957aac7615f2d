#include <algorithm>
#include <iomanip>
#include <memory>
#include <sstream>

#include "cli/commands.hpp"
#include "cli/common_options.hpp"
#include "cli/provenance.hpp"
#include "cli/report.hpp"
#include "fmbem/meshes/assess.hpp"
#include "fmbem/meshes/check.hpp"
#include "fmbem/meshes/load.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem::cli {
namespace {

struct MeshInfoArguments {
  MeshOptions mesh;
  OutputOptions output;
};

Json gaps_json(const SurfaceMesh& mesh, const std::vector<Gap>& gaps) {
  Json json = Json::array();
  for (const Gap& gap : gaps)
    json.push_back({{"groups", {mesh.groups[gap.a].name, mesh.groups[gap.b].name}},
                    {"distance", gap.distance},
                    {"edge", gap.edge},
                    {"place", {gap.place.x, gap.place.y, gap.place.z}}});
  return json;
}

Json check_results(const SurfaceMesh& mesh, const MeshReport& check, const std::vector<Gap>& gaps,
                   const std::vector<std::string>& limits) {
  const auto in_mesh = [](const char* unit, Json value) {
    return Json{{"value", std::move(value)}, {"unit", unit}, {"location", "mesh"}};
  };
  return {{"components", in_mesh("1", check.components)},
          {"volume", in_mesh("unit^3", check.volume ? number(*check.volume) : Json(nullptr))},
          {"open_edges", in_mesh("1", check.open_edges)},
          {"non_manifold_edges", in_mesh("1", check.non_manifold_edges)},
          {"flipped", in_mesh("1", check.flipped)},
          {"degenerate", in_mesh("1", check.degenerate)},
          {"duplicate_vertices", in_mesh("1", check.duplicate_vertices)},
          {"smallest_angle", in_mesh("degree", number(check.smallest_angle))},
          {"smallest_edge", in_mesh("unit", number(check.smallest_edge))},
          {"largest_edge", in_mesh("unit", number(check.largest_edge))},
          {"gaps", in_mesh("unit", gaps_json(mesh, gaps))},
          {"accuracy_limits", in_mesh("1", limits)}};
}

void print(Console& console, const SurfaceMesh& mesh, const MeshReport& check,
           const std::vector<Gap>& gaps, const std::vector<std::string>& limits) {
  std::ostringstream out;
  const auto line = [&](const char* name) -> std::ostream& {
    return out << '\n' << std::left << std::setw(20) << name;
  };
  out << mesh.file << " (unit " << mesh.unit << ")";
  line("panels") << check.panels;
  line("vertices") << check.vertices;
  line("components") << check.components << (mesh.closed ? ", closed" : ", open");
  line("area") << check.area << ' ' << mesh.unit << "^2";
  line("volume");
  if (check.volume)
    out << *check.volume << ' ' << mesh.unit << "^3";
  else
    out << "none (the surface is open)";
  line("edges") << "from " << check.smallest_edge << " to " << check.largest_edge << ' '
                << mesh.unit;
  if (!mesh.sizes.empty()) line("sizes") << sizes_text(mesh);
  line("smallest angle") << check.smallest_angle << " degrees";
  line("open edges") << check.open_edges;
  line("non-manifold edges") << check.non_manifold_edges;
  line("flipped triangles") << check.flipped;
  line("degenerate") << check.degenerate << " (height below a millionth of the longest edge)";
  line("duplicate vertices") << check.duplicate_vertices;
  for (const GroupReport& group : check.groups) {
    line("group");
    out << group_text(group, mesh.unit);
  }
  constexpr std::size_t most = 10;
  for (std::size_t i = 0; i < std::min(most, gaps.size()); ++i)
    line("gap") << decimal(gaps[i].distance) << ' ' << mesh.unit << " between "
                << printable(mesh.groups[gaps[i].a].name) << " and "
                << printable(mesh.groups[gaps[i].b].name) << " at " << place(gaps[i].place)
                << ", edges there up to " << decimal(gaps[i].edge);
  if (gaps.size() > most) line("gap") << "and " << counted(gaps.size() - most, "wider one");
  for (const std::string& limit : limits) line("limits accuracy") << printable(limit);
  console.print_result(out.str());
}

ExitCode run(Context& context, const MeshInfoArguments& options) {
  Console& console = context.console;
  console.set_quiet(options.output.quiet);
  refuse_overwriting({{"--json", options.output.json}}, {{"mesh", options.mesh.file}});
  ReportTarget target(console, options.output.json);
  Json report = start_report("mesh-info", context.arguments);
  console.begin_phase("reading " + options.mesh.file);
  const SurfaceMesh mesh = load_mesh(options.mesh.file, options.mesh.load_options());
  for (const std::string& sentence : mesh.notices) notice(console, report, sentence);
  const MeshReport check = check_mesh(mesh);
  const std::vector<Gap> gaps = find_gaps(mesh);
  const std::vector<std::string> limits = accuracy_limits(mesh, check, gaps);
  print(console, mesh, check, gaps, limits);
  add_inputs(report["run"]["inputs"], options.mesh.file);
  report["mesh"] = mesh_summary(mesh, check);
  report["results"] = check_results(mesh, check, gaps, limits);
  target.write(report);
  return ExitCode::solved;
}

}  // namespace

Command add_mesh_info(CLI::App& program) {
  auto options = std::make_shared<MeshInfoArguments>();
  CLI::App* app = program.add_subcommand("mesh-info", "Check a surface mesh and describe it");
  app->footer("Example:\n  fmbem mesh-info examples/cube.geo --refine 1");
  add_mesh_options(*app, options->mesh);
  add_output_options(*app, options->output);
  return {app, [options](Context& context) { return run(context, *options); }};
}

}  // namespace fmbem::cli
