#include "cli/common_options.hpp"

#include <filesystem>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem::cli {
namespace {

/// NAME=X
std::pair<std::string, double> parse_set(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::optional<double> value = equals == std::string::npos
                                          ? std::nullopt
                                          : parse_number(std::string_view(text).substr(equals + 1));
  FMBEM_REQUIRE(value && equals > 0, "--set takes NAME=X with a number, not \"" << text << "\"");
  return {text.substr(0, equals), *value};
}

}  // namespace

void add_mesh_options(CLI::App& app, MeshOptions& options) {
  app.add_option("MESH", options.file,
                 "geometry (.step, .iges, .brep, .geo) or a surface mesh (.msh, .stl, .obj, .ply, "
                 ".off, .vtk, "
                 ".vtu), or whatever else Gmsh opens")
      ->required();
  app.add_option_function<std::string>(
         "--mesh-size", [&options](const std::string& text) { options.mesh_size = Length(text); },
         "edges when geometry is meshed, such as 2 or 2um (default: a fortieth of the bounding "
         "box's diagonal, or less as curvature, conductors, their faces and gaps between them "
         "need)")
      ->type_name("H");
  app.add_option(
         "--grade", options.grade,
         "edges at the sharp edges of a geometry over those elsewhere, such as 0.2 (default: "
         "1, not graded)")
      ->type_name("RATIO");
  app.add_option("--refine", options.refine,
                 "split every triangle into four, K times, with new vertices on the geometry")
      ->type_name("K");
  app.add_option("--unit", options.unit,
                 "m, cm, mm, um, nm or angstrom: of results, of what is given, and of files that "
                 "carry no unit (default: that of a STEP or IGES file, otherwise m)")
      ->type_name("U");
  app.add_option_function<std::vector<std::string>>(
         "--set",
         [&options](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) options.numbers.push_back(parse_set(text));
         },
         "a number that a .geo defines in DefineConstant[…]")
      ->type_name("NAME=X")
      ->allow_extra_args(false);
}

void add_output_options(CLI::App& app, OutputOptions& options) {
  app.add_option("--json", options.json, "write a report, to standard output if FILE is -")
      ->type_name("FILE");
  app.add_flag("--quiet", options.quiet, "print errors and warnings only");
}

void refuse_overwriting(const std::optional<std::string>& output,
                        const std::optional<std::string>& json,
                        const std::vector<std::pair<std::string, std::string>>& inputs) {
  namespace fs = std::filesystem;
  const auto same = [](const std::string& a, const std::string& b) {
    std::error_code error;  // of files that do not exist, and of empty names
    return fs::weakly_canonical(fs::absolute(a, error), error) ==
           fs::weakly_canonical(fs::absolute(b, error), error);
  };
  FMBEM_REQUIRE(!output || !json || !same(*output, *json),
                "--output and --json name the same file, " << *json);
  for (const auto& file : {output, json})
    for (const auto& [what, input] : inputs)
      FMBEM_REQUIRE(!file || !same(*file, input), "the output " << *file << " would overwrite the "
                                                                << what
                                                                << ": give it another name");
}

}  // namespace fmbem::cli
