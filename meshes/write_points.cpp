#include "fmbem/meshes/write_points.hpp"

#include <fstream>
#include <optional>
#include <tuple>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/csv_table.hpp"
#include "fmbem/meshes/outline.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/meshes/vtu_writer.hpp"

namespace fmbem {
namespace {

/// None for a table.
std::optional<VtkFormat> format_of(const std::string& path) {
  const std::string format = ending(path);
  FMBEM_REQUIRE(format == "csv" || format == "vtu" || format == "vtp" || format == "vti",
                "cannot write " << path << ": points are written as .csv, .vtu, .vtp or .vti");
  if (format == "csv") return {};
  return format == "vtu" ? VtkFormat::vtu : format == "vtp" ? VtkFormat::vtp : VtkFormat::vti;
}

/// Numbers without a unit have no brackets.
std::string with_unit(const std::string& name, const std::string& unit) {
  return unit.empty() ? name : name + " [" + unit + "]";
}

/// Ex, and "top at 1 V: Ex", but "force x": a word is set off.
std::string of_axis(const std::string& name, const char* axis) {
  const bool is_letter = name.size() == 1 || name[name.size() - 2] == ' ';
  return name + (is_letter ? "" : " ") + axis;
}

/// In double quotes where it would else be several fields.
std::string csv_field(const std::string& name) {
  if (name.find_first_of(",\"") == name.npos) return name;
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::string csv_header(const std::string& unit, const std::vector<PointField>& fields) {
  std::vector<std::string> names;
  for (const char* axis : {"x", "y", "z"}) names.push_back(with_unit(axis, unit));
  for (const PointField& field : fields) {
    if (field.components == 1) names.push_back(with_unit(field.name, field.unit));
    if (field.components == 3)
      for (const char* axis : {"x", "y", "z"})
        names.push_back(with_unit(of_axis(field.name, axis), field.unit));
  }
  std::string line;
  for (const std::string& name : names) (line += csv_field(name)) += ',';
  line.back() = '\n';
  return line;
}

/// Returns whether all of it was written.
bool write_csv(const std::string& path, const PointSet& set, const std::string& unit,
               const std::vector<PointField>& fields) {
  std::ofstream out(path, std::ios::binary);
  out << csv_header(unit, fields);
  std::string line;
  for (std::size_t i = 0; i < set.points.size(); ++i) {
    line.clear();
    for (int axis = 0; axis < 3; ++axis) line += shortest_digits(set.points[i][axis]) + ',';
    for (const PointField& field : fields)
      for (int k = 0; k < field.components; ++k)
        line += shortest_digits(field.values[i * field.components + k]) + ',';
    line.back() = '\n';
    out << line;
  }
  out.close();
  return static_cast<bool>(out);
}

std::uint8_t cell_type(PointCells cells) {
  constexpr std::uint8_t vertex = 1, line = 3, quad = 9, hexahedron = 12;
  switch (cells) {
    case PointCells::single:
      return vertex;
    case PointCells::segments:
      return line;
    case PointCells::quadrangles:
      return quad;
    case PointCells::hexahedra:
      return hexahedron;
  }
  return 0;
}

std::vector<VtkArray> point_data(const std::vector<PointField>& fields) {
  std::vector<VtkArray> arrays;
  for (const PointField& field : fields)
    arrays.push_back(vtk_array(with_unit(field.name, field.unit), field.values, field.components));
  return arrays;
}

template <class List>
void add_corners(std::vector<VtkArray>& arrays, const std::string& name, const List& list) {
  constexpr int n = int(3 * std::tuple_size_v<typename List::value_type>);
  if (!list.empty())
    arrays.push_back({name,
                      vtk_type(double{}),
                      n,
                      {reinterpret_cast<const char*>(list.data()), list.size() * sizeof list[0]},
                      sizeof(double)});
}

std::vector<VtkArray> field_data(const Surroundings& around, const std::string& unit) {
  std::vector<VtkArray> arrays;
  add_corners(arrays, with_unit("outline", unit), around.outline);
  add_corners(arrays, with_unit("interface", unit), around.interface);
  add_corners(arrays, with_unit("surface", unit), around.surface);
  return arrays;
}

}  // namespace

Surroundings surroundings(const SurfaceMesh& mesh, const PointSet& set) {
  Surroundings around;
  if (set.cells == PointCells::quadrangles) around.outline = outline_on_plane(mesh, set);
  if (set.cells == PointCells::hexahedra)
    for (const std::array<int, 3>& t : mesh.triangles)
      around.surface.push_back({mesh.vertices[t[0]], mesh.vertices[t[1]], mesh.vertices[t[2]]});
  return around;
}

bool write_vtk_points(const std::string& path, VtkFormat format, const PointSet& set,
                      const std::string& unit, const std::vector<PointField>& fields,
                      const Surroundings& around) {
  if (format == VtkFormat::vti)
    return write_vti_grid(
        path, {.origin = set.points[0],
               .steps = steps_of(set),
               .n = {set.columns, set.rows, set.points.size() / (set.columns * set.rows)},
               .point_data = point_data(fields),
               .field_data = field_data(around, unit)});
  const std::vector<std::int64_t> corners = connectivity(set);
  const std::size_t of_cell = points_of_cell(set.cells);
  const VtuGrid grid{.points = set.points,
                     .connectivity = vtk_array("connectivity", corners),
                     .n_cells = corners.size() / of_cell,
                     .corners = of_cell,
                     .cell_type = cell_type(set.cells),
                     .point_data = point_data(fields),
                     .field_data = field_data(around, unit)};
  return format == VtkFormat::vtp ? write_vtp_grid(path, grid) : write_vtu_grid(path, grid);
}

void check_points_fit(const std::string& path, const PointSet& set) {
  FMBEM_REQUIRE(format_of(path) != VtkFormat::vtp || set.cells != PointCells::hexahedra,
                "cannot write " << path << ": .vtp has no boxes; write .vti or .vtu");
  if (format_of(path) != VtkFormat::vti) return;
  FMBEM_REQUIRE(set.cells == PointCells::quadrangles || set.cells == PointCells::hexahedra,
                "cannot write " << path
                                << ": .vti is for planes and boxes; points and lines are "
                                   "written as .csv or .vtu");
  const auto [u, v, w] = steps_of(set);
  FMBEM_REQUIRE(std::abs(dot(u, v)) <= 1e-9 * norm(u) * norm(v),
                "cannot write " << path
                                << ": the plane's edges are not at right angles, as .vti "
                                   "needs them; write .vtu");
}

void check_points_path(const std::string& path) {
  format_of(path);
  OutputFile probe(path);
}

void write_points(const std::string& path, const PointSet& set, const std::string& unit,
                  const std::vector<PointField>& fields, const Surroundings& around) {
  check_points_fit(path, set);
  OutputFile file(path);
  write_points(file, set, unit, fields, around);
  file.commit();
}

void write_points(OutputFile& file, const PointSet& set, const std::string& unit,
                  const std::vector<PointField>& fields, const Surroundings& around) {
  for (const PointField& field : fields) {
    FMBEM_REQUIRE(field.components == 1 || field.components == 3,
                  "the field '" << field.name << "' has " << field.components
                                << " components; 1 or 3 can be written");
    FMBEM_REQUIRE(field.values.size() == set.points.size() * field.components,
                  "the field '" << field.name << "' has " << field.values.size() << " values for "
                                << counted(set.points.size(), "point"));
  }
  const std::optional<VtkFormat> format = format_of(file.path());
  const bool whole = format
                         ? write_vtk_points(file.partial_path(), *format, set, unit, fields, around)
                         : write_csv(file.partial_path(), set, unit, fields);
  if (!whole) throw ResourceError("cannot write " + file.path() + ": is the disk full?");
}

}  // namespace fmbem
