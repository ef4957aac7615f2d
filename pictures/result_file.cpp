#include "fmbem/pictures/result_file.hpp"

#include <algorithm>
#include <cmath>

#include <vtkCell.h>
#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkFieldData.h>
#include <vtkImageData.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>
#include <vtkUnstructuredGrid.h>
#include <vtkXMLImageDataReader.h>
#include <vtkXMLPolyDataReader.h>
#include <vtkXMLUnstructuredGridReader.h>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/foreign/vtk_complaints.hpp"
#include "fmbem/meshes/read_file.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem {
namespace {

constexpr const char* nothing_to_draw =
    " holds neither the triangles of a surface nor points in space, on a plane or in a box, of "
    "which pictures are drawn";

template <class Reader>
auto read_with(const std::string& path, const std::string& name) {
  const VtkComplaints complaints;
  vtkNew<Reader> reader;
  reader->SetFileName(path.c_str());
  reader->Update();
  auto output = vtk::MakeSmartPointer(reader->GetOutput());
  FMBEM_REQUIRE(complaints.first().empty(),
                name << " is damaged or no result of fmbem: VTK reports: " << complaints.first());
  return output;
}

/// Potentials and forces that the FMM alone has made have no units.
std::optional<Quantity> quantity_of(const std::string& name, const std::string& unit) {
  if (unit.empty() && name == "potential") return Quantity::potential;
  if (unit.empty() && name == "force") return Quantity::field;
  if (unit == "C/m^2" || unit == "A/m^2") return Quantity::charge;
  if (unit == "V" || unit == "kT/e") return Quantity::potential;
  if (unit == "V/m") return Quantity::field;
  return {};
}

std::vector<double> values_of(vtkDataArray* array) {
  std::vector<double> values;
  values.reserve(std::size_t(array->GetNumberOfValues()));
  for (vtkIdType i = 0; i < array->GetNumberOfTuples(); ++i)
    for (int k = 0; k < array->GetNumberOfComponents(); ++k)
      values.push_back(array->GetComponent(i, k));
  return values;
}

/// What a name says, such as "charge density [C/m^2], top at 1 V", "top at 1 V: potential [V]",
/// where that of the net may have brackets, too, and "potential" of numbers without a unit.
ResultArray described(const std::string& name) {
  const std::size_t open = name.ends_with(']') ? name.rfind(" [") : name.find(" ["),
                    close = name.find(']', open);
  ResultArray found{};
  if (open == std::string::npos || close == std::string::npos) {
    found.name = name;
    return found;
  }
  const std::size_t colon = name.rfind(": ", open);
  const bool is_named_before = colon != std::string::npos;
  found.name = is_named_before ? name.substr(colon + 2, open - colon - 2) : name.substr(0, open);
  found.unit = name.substr(open + 2, close - open - 2);
  found.of = is_named_before            ? name.substr(0, colon)
             : close + 3 <= name.size() ? name.substr(close + 3)
                                        : "";
  return found;
}

std::vector<ResultArray> arrays_of(vtkFieldData* data) {
  std::vector<ResultArray> result;
  for (int a = 0; a < data->GetNumberOfArrays(); ++a) {
    vtkDataArray* array = data->GetArray(a);
    if (!array || !array->GetName()) continue;
    ResultArray found = described(array->GetName());
    found.components = array->GetNumberOfComponents();
    const std::optional<Quantity> quantity = quantity_of(found.name, found.unit);
    if (!quantity || found.components != (quantity == Quantity::field ? 3 : 1)) continue;
    found.quantity = *quantity;
    found.values = values_of(array);
    result.push_back(std::move(found));
  }
  return result;
}

std::vector<Vec3d> points_of(vtkDataSet* set, const std::string& name) {
  std::vector<Vec3d> points(std::size_t(set->GetNumberOfPoints()));
  for (std::size_t i = 0; i < points.size(); ++i) {
    set->GetPoint(vtkIdType(i), &points[i].x);
    FMBEM_REQUIRE(std::isfinite(norm2(points[i])),
                  name << " is damaged: its point " << i << " is not at a finite position");
  }
  return points;
}

/// Groups by number, each an array of its name with its number, and lengths' unit with outlines.
void read_field_data(vtkFieldData* data, Result& result) {
  std::vector<Group>& groups = result.surface.groups;
  for (int a = 0; a < data->GetNumberOfArrays(); ++a) {
    vtkDataArray* array = data->GetArray(a);
    if (!array || !array->GetName()) continue;
    const std::string name = array->GetName();
    const auto unit_after = [&](const std::string& start) {
      if (name.starts_with(start) && name.ends_with(']'))
        result.length_unit = name.substr(start.size(), name.size() - start.size() - 1);
      return name.starts_with(start) && name.ends_with(']');
    };
    const auto read_corners = [&](auto& list) {
      const std::vector<double> x = values_of(array);
      const std::size_t n = list.emplace_back().size();
      list.resize(x.size() / (3 * n));
      for (std::size_t i = 0; i < list.size() * n; ++i)
        list[i / n][i % n] = {x[3 * i], x[3 * i + 1], x[3 * i + 2]};
    };
    const int components = array->GetNumberOfComponents();
    if (components == 6 && unit_after("outline [")) read_corners(result.outline);
    if (components == 6 && unit_after("interface [")) read_corners(result.interface);
    if (components == 9 && unit_after("surface [")) read_corners(result.walls);
    // Numbers of other kinds are those of other programs, such as times.
    if (array->GetNumberOfValues() != 1 || array->GetDataType() != VTK_INT) continue;
    const double number = array->GetTuple1(0);
    if (!(number >= 0 && number < 1e6)) continue;
    groups.resize(std::max(groups.size(), std::size_t(number) + 1));
    groups[std::size_t(number)].name = name;
  }
}

void read_surface(vtkUnstructuredGrid* grid, const std::string& name, Result& result) {
  SurfaceMesh& mesh = result.surface;
  mesh.vertices = points_of(grid, name);
  for (vtkIdType cell = 0; cell < grid->GetNumberOfCells(); ++cell) {
    const vtkIdType* corners = nullptr;
    vtkIdType n = 0;
    grid->GetCellPoints(cell, n, corners);
    for (int k = 0; k < 3; ++k)
      FMBEM_REQUIRE(n == 3 && corners[k] >= 0 && corners[k] < grid->GetNumberOfPoints(),
                    name << " is damaged: its cell " << cell << " has corners that do not exist");
    mesh.triangles.push_back({int(corners[0]), int(corners[1]), int(corners[2])});
  }
  vtkDataArray* numbers = grid->GetCellData()->GetArray("group");
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const double group = numbers ? numbers->GetComponent(vtkIdType(i), 0) : 0;
    FMBEM_REQUIRE(!numbers || (group >= 0 && group < double(mesh.groups.size())),
                  name << " is damaged: its cell " << i << " is in a group that has no name");
    mesh.group_of.push_back(int(group));
  }
  if (mesh.groups.empty()) mesh.groups.emplace_back();
  result.arrays = arrays_of(grid->GetCellData());
}

void read_plane(vtkUnstructuredGrid* grid, const std::string& name, Result& result) {
  result.points = points_of(grid, name);
  const vtkIdType* corners = nullptr;
  vtkIdType n = 0;
  grid->GetCellPoints(0, n, corners);
  const auto columns = n == 4 ? std::size_t(corners[3]) : 0;
  FMBEM_REQUIRE(columns >= 2 && result.points.size() % columns == 0 &&
                    std::size_t(grid->GetNumberOfCells()) ==
                        (columns - 1) * (result.points.size() / columns - 1),
                name << " holds quadrangles that are not the rows and columns of a plane");
  result.n = {columns, result.points.size() / columns, 1};
  result.arrays = arrays_of(grid->GetPointData());
}

void read_points(vtkDataSet* set, const std::string& name, Result& result) {
  result.points = points_of(set, name);
  result.arrays = arrays_of(set->GetPointData());
}

void read_image(vtkImageData* image, const std::string& name, Result& result) {
  int n[3];
  image->GetDimensions(n);
  for (const int points : n)
    FMBEM_REQUIRE(points > 0, name << " is damaged: its grid has no points");
  result.points = points_of(image, name);
  // A plane may lie in any two of the directions.
  std::size_t axis = 0;
  result.n = {1, 1, 1};
  for (const int points : n)
    if (points > 1) result.n[axis++] = std::size_t(points);
  FMBEM_REQUIRE(axis >= 2, name << " holds a grid of fewer than two directions");
  result.arrays = arrays_of(image->GetPointData());
}

std::string word(Quantity quantity) {
  return quantity == Quantity::charge ? "charge" : quantity == Quantity::potential ? "V" : "E";
}

Result read(const std::string& path, const std::string& name) {
  Result result;
  if (ending(name) == "vti") {
    const auto image = read_with<vtkXMLImageDataReader>(path, name);
    read_field_data(image->GetFieldData(), result);
    read_image(image, name, result);
  } else if (ending(name) == "vtp") {
    const auto polygons = read_with<vtkXMLPolyDataReader>(path, name);
    FMBEM_REQUIRE(polygons->GetNumberOfVerts() > 0 &&
                      polygons->GetNumberOfVerts() == polygons->GetNumberOfCells(),
                  name << nothing_to_draw);
    read_field_data(polygons->GetFieldData(), result);
    read_points(polygons, name, result);
  } else {
    const auto grid = read_with<vtkXMLUnstructuredGridReader>(path, name);
    FMBEM_REQUIRE(grid->GetNumberOfCells() > 0, name << " is empty: it has no cells to draw");
    FMBEM_REQUIRE(grid->GetCells()->IsValid(),
                  name << " is damaged: the offsets of its cells do not fit");
    read_field_data(grid->GetFieldData(), result);
    const int type = grid->IsHomogeneous() ? grid->GetCellType(0) : VTK_EMPTY_CELL;
    switch (type) {
      case VTK_TRIANGLE:
        read_surface(grid, name, result);
        break;
      case VTK_QUAD:
        read_plane(grid, name, result);
        break;
      case VTK_VERTEX:
        read_points(grid, name, result);
        break;
      default:
        throw InputError(name + nothing_to_draw);
    }
  }
  const std::size_t n =
      result.points.empty() ? result.surface.triangles.size() : result.points.size();
  for (const ResultArray& array : result.arrays)
    FMBEM_REQUIRE(array.values.size() == n * std::size_t(array.components),
                  name << " is damaged: " << array.name << " has " << array.values.size()
                       << " values for " << n << " places");
  FMBEM_REQUIRE(!result.arrays.empty(),
                name << " is no result: it has neither charge densities [C/m^2] nor potentials [V] "
                        "or [kT/e] or fields [V/m], which fmbem writes");
  return result;
}

}  // namespace

Result read_result(const std::string& path, const std::string& name) {
  return read_what_is_there(name, [&] { return read(path, name); });
}

const ResultArray& find_array(const Result& result, const PictureOptions& options,
                              const std::string& name) {
  const auto& arrays = result.arrays;
  const Quantity quantity = options.quantity.value_or(arrays.front().quantity);
  std::string nets, quantities;
  const auto add = [](std::string& list, const std::string& text) {
    if ((", " + list + ",").find(", " + text + ",") == std::string::npos)
      list += (list.empty() ? "" : ", ") + text;
  };
  for (const ResultArray& array : arrays) {
    add(quantities, word(array.quantity));
    if (array.quantity != quantity) continue;
    const std::string net =
        array.of.ends_with(" at 1 V") ? array.of.substr(0, array.of.size() - 7) : array.of;
    if (!options.net || *options.net == net || *options.net == array.of) return array;
    if (!net.empty()) add(nets, net);
  }
  const bool has = std::any_of(arrays.begin(), arrays.end(), [&](const ResultArray& array) {
    return array.quantity == quantity;
  });
  FMBEM_REQUIRE(has, name << " has no --quantity " << word(quantity) << "; it has: " << quantities);
  FMBEM_REQUIRE(!nets.empty(), name << " holds one solution, not one for each net at 1 V: leave "
                                       "out --net");
  throw InputError(name + " has no solution with the net \"" + *options.net +
                   "\" at 1 V, or of that name; it has: " + nets);
}

}  // namespace fmbem
