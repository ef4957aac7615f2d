#include "cli/common_options.hpp"

#include <algorithm>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/input_files.hpp"
#include "fmbem/meshes/output_file.hpp"
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
                 ".off, .vtk, .vtu, .vtp), or whatever else Gmsh opens")
      ->required();
  app.add_option_function<std::string>(
         "--mesh-size", [&options](const std::string& text) { options.mesh_size = Length(text); },
         "edges to aim at when geometry is meshed, such as 2 or 2um (default: a fortieth of the "
         "bounding box's diagonal, or less as curvature, conductors, their faces and gaps between "
         "them need)")
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

void add_footer(CLI::App& app, const std::string& examples, const std::string& notes) {
  app.footer("Examples:" + examples + "\n" + notes +
             "A single dash with more than one letter is a PETSc option.");
}

void let_outputs_be_left_out(CLI::App& app) {
  for (CLI::Option* option : app.get_options())
    if (option->get_group() == output_group) option->required(false);
}

CutOption parse_cut(const std::string& text) {
  FMBEM_REQUIRE(text.size() > 2 && text[0] >= 'x' && text[0] <= 'z' && text[1] == '=',
                "--cut takes x=, y= or z= and a length, such as z=0.5, not \"" << text << "\"");
  return {text[0] - 'x', Length(text.substr(2))};
}

void add_output_options(CLI::App& app, OutputOptions& options) {
  app.add_option("--json", options.json, "write a report, to standard output if FILE is -")
      ->type_name("FILE")
      ->group(output_group);
  app.add_flag("--quiet", options.quiet, "print the results alone, and errors and warnings");
}

void refuse_overwriting(
    const std::vector<std::pair<std::string, std::optional<std::string>>>& outputs,
    const std::vector<std::pair<std::string, std::string>>& inputs) {
  const auto same = [](const std::string& a, const std::string& b) {
    std::error_code error;  // of files that do not exist, and of empty names
    return behind_links(a, error) == behind_links(b, error);
  };
  std::vector<std::pair<std::string, std::string>> read;
  for (const auto& [what, input] : inputs)
    for (const std::string& file : files_read_with(input)) read.emplace_back(what, file);
  for (auto one = outputs.begin(); one != outputs.end(); ++one) {
    if (!one->second) continue;
    const std::string& file = *one->second;
    FMBEM_REQUIRE(file != "-" || one->first == "--json",
                  one->first << " takes the name of a file: reports alone go to standard output, "
                                "by --json -");
    for (auto other = one + 1; other != outputs.end(); ++other)
      FMBEM_REQUIRE(!other->second || !same(file, *other->second),
                    one->first << " and " << other->first << " name the same file, " << file);
    for (const auto& [what, input] : read)
      FMBEM_REQUIRE(!same(file, input), "the output " << file << " of " << one->first
                                                      << " would overwrite the " << what
                                                      << ": give it another name or folder");
  }
}

}  // namespace fmbem::cli
