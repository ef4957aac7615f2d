#include "fmbem/meshes/write_points.hpp"

#include <charconv>
#include <cmath>
#include <fstream>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/output_file.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/meshes/vtu_writer.hpp"

namespace fmbem {
namespace {

bool is_csv(const std::string& path) {
  const std::string format = ending(path);
  FMBEM_REQUIRE(format == "csv" || format == "vtu",
                "cannot write " << path << ": points are written as .csv or .vtu");
  return format == "csv";
}

std::string with_unit(const std::string& name, const std::string& unit) {
  return name + " [" + unit + "]";
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
        names.push_back(with_unit(field.name + axis, field.unit));
  }
  std::string line;
  for (const std::string& name : names) (line += csv_field(name)) += ',';
  line.back() = '\n';
  return line;
}

void add_number(std::string& line, double value) {
  char digits[32];
  if (std::isnan(value))
    line += "nan";  // whatever its sign bit
  else
    line.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

/// Returns whether all of it was written.
bool write_csv(const std::string& path, const PointSet& set, const std::string& unit,
               const std::vector<PointField>& fields) {
  std::ofstream out(path, std::ios::binary);
  out << csv_header(unit, fields);
  std::string line;
  for (std::size_t i = 0; i < set.points.size(); ++i) {
    line.clear();
    for (int axis = 0; axis < 3; ++axis) {
      add_number(line, set.points[i][axis]);
      line += ',';
    }
    for (const PointField& field : fields)
      for (int k = 0; k < field.components; ++k) {
        add_number(line, field.values[i * field.components + k]);
        line += ',';
      }
    line.back() = '\n';
    out << line;
  }
  out.close();
  return static_cast<bool>(out);
}

std::uint8_t cell_type(PointCells cells) {
  constexpr std::uint8_t vertex = 1, line = 3, quad = 9;
  return cells == PointCells::single ? vertex : cells == PointCells::segments ? line : quad;
}

/// Returns whether all of it was written.
bool write_vtu(const std::string& path, const PointSet& set,
               const std::vector<PointField>& fields) {
  const std::vector<std::int64_t> corners = connectivity(set);
  const std::size_t of_cell = points_of_cell(set.cells);
  VtuGrid grid{.points = set.points,
               .connectivity = vtk_array("connectivity", corners),
               .n_cells = corners.size() / of_cell,
               .corners = of_cell,
               .cell_type = cell_type(set.cells)};
  for (const PointField& field : fields)
    grid.point_data.push_back(
        vtk_array(with_unit(field.name, field.unit), field.values, field.components));
  return write_vtu_grid(path, grid);
}

}  // namespace

void check_points_path(const std::string& path) {
  is_csv(path);
  OutputFile probe(path);
}

void write_points(const std::string& path, const PointSet& set, const std::string& unit,
                  const std::vector<PointField>& fields) {
  for (const PointField& field : fields) {
    FMBEM_REQUIRE(field.components == 1 || field.components == 3,
                  "the field '" << field.name << "' has " << field.components
                                << " components; 1 or 3 can be written");
    FMBEM_REQUIRE(field.values.size() == set.points.size() * field.components,
                  "the field '" << field.name << "' has " << field.values.size() << " values for "
                                << counted(set.points.size(), "point"));
  }
  const bool csv = is_csv(path);
  OutputFile file(path);
  const bool whole = csv ? write_csv(file.partial_path(), set, unit, fields)
                         : write_vtu(file.partial_path(), set, fields);
  if (!whole) throw ResourceError("cannot write " + path + ": is the disk full?");
  file.commit();
}

}  // namespace fmbem
