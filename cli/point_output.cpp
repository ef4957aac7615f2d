#include "cli/point_output.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "cli/common_options.hpp"
#include "cli/point_report.hpp"
#include "fmbem/bem/geometry/panel_images.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/output_file.hpp"
#include "fmbem/meshes/panel_values.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/problems/conductor_field.hpp"
#include "fmbem/problems/surroundings.hpp"

namespace fmbem::cli {
namespace {

constexpr std::size_t most_sets = 50;

/// FOLDER/STEM-NAME.ENDING
std::string numbered(const std::string& file, const std::string& name) {
  const std::filesystem::path path(file);
  return path.parent_path() / (path.stem().string() + "-" + name + path.extension().string());
}

/// Potential and field of one result of a run.
struct NamedField {
  std::string prefix;  ///< of the names of its columns; "" where there is one result
  Field field;
  std::vector<int> region;  ///< [n points], number of each one's region; empty without regions
};
/// Of all results of a problem, or of conductors' one problem where there are none.
std::vector<NamedField> fields_at(const SurfaceMesh& mesh, const ProblemSolution& solution,
                                  std::span<const Vec3d> points, const FieldOptions& how) {
  if (solution.results.empty()) return {{"", conductor_field(solution, 0, points, how), {}}};
  std::vector<NamedField> fields;
  for (std::size_t k = 0; k < solution.results.size(); ++k) {
    ProblemField field = problem_field(mesh, solution, k, points, how);
    fields.push_back(
        {prefix_of(solution, k), std::move(static_cast<Field&>(field)), std::move(field.region)});
  }
  return fields;
}

/// φ, E_x, E_y, E_z: [results][points][4].
NumberArray array_of(const std::vector<NamedField>& fields) {
  NumberArray array{{fields.size(), fields[0].field.potential.size(), 4}, {}};
  for (const auto& [prefix, field, region] : fields)
    for (std::size_t i = 0; i < field.e.size(); ++i)
      array.values.insert(array.values.end(),
                          {field.potential[i], field.e[i].x, field.e[i].y, field.e[i].z});
  return array;
}

std::vector<PointField> columns_of(const std::vector<NamedField>& fields) {
  std::vector<PointField> columns;
  for (const auto& [prefix, field, region] : fields)
    for (PointField& column : point_fields(field, prefix)) columns.push_back(std::move(column));
  const std::vector<int>& region = fields[0].region;
  if (!region.empty()) columns.push_back({"region", "number", {region.begin(), region.end()}});
  return columns;
}

/// Of several sets a list of what each has.
void add_results(Json& results, const Json& of_set, bool is_list) {
  for (const auto& [name, result] : of_set.items()) {
    if (!is_list)
      results[name] = result;
    else if (results.contains(name))
      results[name]["value"].push_back(result["value"]);
    else
      results[name] = {{"value", Json::array({result["value"]})},
                       {"unit", result["unit"]},
                       {"location", result["location"]}};
  }
}

/// The file of a set of points, written but not committed.
std::unique_ptr<OutputFile> written(const std::string& path, const PointSet& set,
                                    const std::string& unit, const std::vector<NamedField>& fields,
                                    const Surroundings& around) {
  auto file = std::make_unique<OutputFile>(path);
  if (is_npy(path))
    write_npy(*file, array_of(fields));
  else
    write_points(*file, set, unit, columns_of(fields), around);
  return file;
}

}  // namespace

std::string prefix_of(const ProblemSolution& solution, std::size_t result) {
  return solution.results.size() == 1 ? "" : solution.results[result].name + ": ";
}

PointOutput::PointOutput(const FieldCommandOptions& where, const std::optional<std::string>& file,
                         const std::optional<std::string>& picture, bool is_repeated)
    : where_(where) {
  check_field_tolerance(where.how.tolerance);
  check_picture(picture);
  add_sets();
  FMBEM_REQUIRE(!has_points() || file || picture || is_repeated,
                "points are given, but no --output to write to");
  FMBEM_REQUIRE(has_points() || !file,
                "--output is for points: give --points, --line, --plane, --box or --cut");
  name_files(file, picture);
}

void PointOutput::require_points() const {
  FMBEM_REQUIRE(has_points(),
                "give points: --points, --line, --plane, --box or --cut (see fmbem field --help)");
}

void PointOutput::add_sets() {
  const auto add = [&](const char* kind, const std::vector<std::string>& texts, bool is_plane,
                       const std::function<std::optional<PointSet>(const std::string&)>& read) {
    for (std::size_t k = 0; k < texts.size(); ++k)
      sets_.push_back({std::string(kind) + "-" + std::to_string(k + 1),
                       texts[k],
                       read(texts[k]),
                       {},
                       {},
                       is_plane});
  };
  add("points", where_.points, false, read_points);
  add("line", where_.line, false, points_of_line);
  add("plane", where_.plane, true, points_of_plane);
  add("box", where_.box, false, points_of_box);
  add("cut", where_.cut, true, [](const std::string& text) -> std::optional<PointSet> {
    parse_cut(text);
    return {};
  });
  FMBEM_REQUIRE(sets_.size() <= most_sets, "there are " << sets_.size()
                                                        << " sets of points; one run takes up to "
                                                        << most_sets);
}

void PointOutput::name_files(const std::optional<std::string>& file,
                             const std::optional<std::string>& picture) {
  const auto path = [&](const std::string& whole, const Asked& asked) {
    return sets_.size() == 1 ? whole : numbered(whole, asked.name);
  };
  bool has_plane = false;
  for (Asked& asked : sets_) {
    has_plane = has_plane || asked.is_plane;
    if (file) asked.file = path(*file, asked);
    if (picture && asked.is_plane) asked.picture = path(*picture, asked);
    if (!asked.file) continue;
    if (is_npy(*asked.file)) {
      OutputFile probe(*asked.file);
      continue;
    }
    check_points_path(*asked.file);
    if (asked.set) check_points_fit(*asked.file, *asked.set);
  }
  FMBEM_REQUIRE(!picture || !has_points() || has_plane,
                "--picture is for the points of --cut or --plane"
                    << (where_.box.empty() ? "" : "; fmbem plot --cut draws a plane of a box"));
}

std::vector<std::pair<std::string, std::optional<std::string>>> PointOutput::outputs() const {
  std::vector<std::pair<std::string, std::optional<std::string>>> all;
  for (const Asked& asked : sets_) {
    all.emplace_back("--output", asked.file);
    all.emplace_back("--picture", asked.picture);
  }
  return all;
}

std::vector<std::pair<std::string, std::string>> PointOutput::inputs() const {
  std::vector<std::pair<std::string, std::string>> all;
  for (const std::string& file : where_.points) all.emplace_back("points", file);
  return all;
}

Json PointOutput::put_out(Console& console, Json& report, const SurfaceMesh& mesh,
                          const ProblemSolution& solution) {
  Json results = Json::object(), names = Json::array();
  std::vector<std::unique_ptr<OutputFile>> files;
  const bool is_list = sets_.size() > 1;
  for (const Asked& asked : sets_) {
    const PointSet set =
        asked.set ? *asked.set : points_of_cut(asked.source, mesh, planes_of(solution.panels));
    console.begin_phase("evaluating at " + counted(set.points.size(), "point"));
    const std::vector<NamedField> fields = fields_at(mesh, solution, set.points, where_.how);
    console.print_result(field_text(fields[0].field, is_list ? asked.name : ""));
    warn_singular(console, report, fields[0].field);
    add_results(results, field_json(fields[0].field), is_list);
    names.push_back(asked.name);
    if (!asked.file && !asked.picture) continue;
    const Surroundings around = surroundings(mesh, solution, set);
    if (asked.file) files.push_back(written(*asked.file, set, mesh.unit, fields, around));
    if (asked.picture)
      to_draw_.push_back(
          std::make_unique<ResultToDraw>(*asked.picture, [&](const std::string& path) {
            return write_vtk_points(path, VtkFormat::vtu, set, mesh.unit, columns_of(fields),
                                    around);
          }));
  }
  {
    const HeldInterrupts held;
    for (const auto& file : files) file->commit();
  }
  for (const auto& file : files) console.print_wrote(file->path());
  if (is_list) report["point_sets"] = names;
  report["tolerance"]["field"] = where_.how.tolerance;
  return results;
}

void PointOutput::draw(Console& console) const {
  for (const auto& result : to_draw_) result->draw(console);
}

}  // namespace fmbem::cli
