#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/foreign/polygons.hpp"

#ifdef FMBEM_WITH_VTK
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkCellIterator.h>
#include <vtkCellType.h>
#include <vtkDataArray.h>
#include <vtkFieldData.h>
#include <vtkGenericDataObjectReader.h>
#include <vtkNew.h>
#include <vtkPolyData.h>
#include <vtkUnstructuredGrid.h>
#include <vtkXMLPolyDataReader.h>
#include <vtkXMLUnstructuredGridReader.h>

#include "fmbem/meshes/foreign/vtk_complaints.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem {
namespace {

template <class Reader>
vtkSmartPointer<vtkDataObject> read_with(const std::string& file) {
  const VtkComplaints complaints;
  vtkNew<Reader> reader;
  reader->SetFileName(file.c_str());
  reader->Update();
  vtkSmartPointer<vtkDataObject> output = reader->GetOutputDataObject(0);
  FMBEM_REQUIRE(complaints.first().empty(),
                file << " is damaged or truncated: VTK reports: " << complaints.first());
  FMBEM_REQUIRE(output, file << " is no file that VTK reads");
  return output;
}

vtkSmartPointer<vtkPointSet> read_points(const std::string& file) {
  const std::string format = ending(file);
  const vtkSmartPointer<vtkDataObject> object =
      format == "vtk"   ? read_with<vtkGenericDataObjectReader>(file)
      : format == "vtu" ? read_with<vtkXMLUnstructuredGridReader>(file)
                        : read_with<vtkXMLPolyDataReader>(file);
  vtkSmartPointer<vtkPointSet> points = vtkPointSet::SafeDownCast(object);
  const auto is_valid = [](vtkCellArray* cells) { return !cells || cells->IsValid(); };
  bool valid = true;
  if (auto* surface = vtkPolyData::SafeDownCast(points))
    valid = is_valid(surface->GetVerts()) && is_valid(surface->GetLines()) &&
            is_valid(surface->GetPolys()) && is_valid(surface->GetStrips());
  else if (auto* grid = vtkUnstructuredGrid::SafeDownCast(points))
    valid = is_valid(grid->GetCells());
  else
    throw InputError(file + " holds " + object->GetClassName() +
                     "; surfaces are read from PolyData and UnstructuredGrid");
  FMBEM_REQUIRE(valid, file << " is damaged: the offsets of its cells do not fit");
  return points;
}

/// Whether it is a number that VTK or simulation programs keep in the field data.
bool is_of_a_simulation(std::string name) {
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  static const std::set<std::string> known{"cycle",    "time",      "timevalue",
                                           "timestep", "time_step", "iteration"};
  return known.contains(name);
}

/// The number of a cell's group; −1 of what is no such number.
int group_number(vtkDataArray* numbers, vtkIdType cell) {
  const double number = cell < numbers->GetNumberOfTuples() ? numbers->GetTuple1(cell) : -1;
  return number >= 0 && number <= std::numeric_limits<int>::max() ? static_cast<int>(number) : -1;
}

/// Names of the groups that cells are in, by their numbers: an array of one integer for each in the
/// field data, as write_vtu() makes them. Other programs have numbers of their own there, which
/// name nothing, unless it is a file of write_vtu() with a group that has no other name.
std::map<int, std::string> group_names(vtkPointSet* set, vtkDataArray* numbers,
                                       const std::string& file) {
  std::set<int> used;
  for (vtkIdType cell = 0; cell < numbers->GetNumberOfTuples(); ++cell)
    used.insert(group_number(numbers, cell));
  std::map<int, std::string> names, of_simulations;
  vtkFieldData* const data = set->GetFieldData();
  for (int i = 0; i < data->GetNumberOfArrays(); ++i) {
    vtkDataArray* const array = data->GetArray(i);
    if (!array || !array->GetName() || array->GetNumberOfValues() != 1 ||
        array->GetDataType() != VTK_INT)
      continue;
    const auto number = static_cast<int>(array->GetTuple1(0));
    if (!used.contains(number)) continue;
    const bool is_name = !is_of_a_simulation(array->GetName());
    const auto [found, is_new] =
        (is_name ? names : of_simulations).try_emplace(number, array->GetName());
    FMBEM_REQUIRE(is_new || !is_name, "the group " << number << " of " << file
                                                   << " has two names, '" << found->second
                                                   << "' and '" << array->GetName()
                                                   << "': leave one of these arrays out");
  }
  if (set->GetCellData()->HasArray("element_tag")) names.merge(of_simulations);
  return names;
}

/// Turns the cells of a VTK file into polygons.
class CellReader {
 public:
  CellReader(vtkPointSet* set, const std::string& file) : file_(file) {
    numbers_ = set->GetCellData()->GetArray("group");
    if (numbers_ && numbers_->GetNumberOfComponents() == 1)
      names_ = group_names(set, numbers_, file_);
  }

  void add(int type, vtkIdType cell, vtkIdList* points) {
    const auto n = static_cast<std::size_t>(points->GetNumberOfIds());
    switch (type) {
      case VTK_EMPTY_CELL:
      case VTK_VERTEX:
      case VTK_POLY_VERTEX:
      case VTK_LINE:
      case VTK_POLY_LINE:
        return;
      case VTK_TRIANGLE:
      case VTK_QUAD:
      case VTK_POLYGON:
        return add_polygon(cell, points, n);
      case VTK_PIXEL:  // its corners go by rows
        if (n == 4) {
          const vtkIdType last = points->GetId(3);
          points->SetId(3, points->GetId(2));
          points->SetId(2, last);
        }
        return add_polygon(cell, points, n);
      case VTK_QUADRATIC_TRIANGLE:
      case VTK_BIQUADRATIC_TRIANGLE:
        ++polygons.repairs.curved_elements;
        return add_polygon(cell, points, 3);
      case VTK_QUADRATIC_QUAD:
      case VTK_BIQUADRATIC_QUAD:
        ++polygons.repairs.curved_elements;
        return add_polygon(cell, points, 4);
      case VTK_TRIANGLE_STRIP:
        return add_strip(cell, points);
      default:
        FMBEM_REQUIRE(is_volume(type), "in " << file_ << " the cell " << cell
                                             << " is of VTK's type " << type
                                             << "; only triangles and quadrangles can be read");
        ++polygons.repairs.ignored_elements;
    }
  }

  Polygons polygons;

 private:
  static bool is_volume(int type) {
    return (type >= VTK_TETRA && type <= VTK_HEXAGONAL_PRISM) || type == VTK_QUADRATIC_TETRA ||
           type == VTK_QUADRATIC_HEXAHEDRON || type == VTK_QUADRATIC_WEDGE ||
           type == VTK_QUADRATIC_PYRAMID || type == VTK_POLYHEDRON;
  }

  void add_polygon(vtkIdType cell, vtkIdList* points, std::size_t n) {
    std::vector<std::size_t> corners;
    for (std::size_t k = 0; k < n && k < std::size_t(points->GetNumberOfIds()); ++k)
      corners.push_back(static_cast<std::size_t>(points->GetId(vtkIdType(k))));
    polygons.corners.push_back(std::move(corners));
    add_group(cell);
  }

  void add_strip(vtkIdType cell, vtkIdList* points) {
    for (vtkIdType k = 0; k + 2 < points->GetNumberOfIds(); ++k) {
      const auto corner = [&](vtkIdType i) { return std::size_t(points->GetId(i)); };
      polygons.corners.push_back(
          {corner(k), corner(k % 2 == 0 ? k + 1 : k + 2), corner(k % 2 == 0 ? k + 2 : k + 1)});
      add_group(cell);
    }
  }

  void add_group(vtkIdType cell) {
    if (names_.empty()) return;
    const auto name = names_.find(group_number(numbers_, cell));
    FMBEM_REQUIRE(name != names_.end(),
                  "in " << file_ << " the cell " << cell << " is in a group that has no name");
    const auto [index, is_new] = index_.try_emplace(name->first, int(polygons.groups.size()));
    if (is_new) polygons.groups.push_back({name->second, 0});
    polygons.group_of.push_back(index->second);
  }

  std::string file_;
  vtkDataArray* numbers_ = nullptr;
  std::map<int, std::string> names_;
  std::map<int, int> index_;
};

}  // namespace

Polygons read_with_vtk(const std::string& file) {
  const vtkSmartPointer<vtkPointSet> set = read_points(file);
  CellReader reader(set, file);
  reader.polygons.points.resize(std::size_t(set->GetNumberOfPoints()));
  for (std::size_t i = 0; i < reader.polygons.points.size(); ++i) {
    double x[3];
    set->GetPoint(vtkIdType(i), x);
    reader.polygons.points[i] = {x[0], x[1], x[2]};
  }
  const auto cells = vtk::TakeSmartPointer(set->NewCellIterator());
  for (cells->InitTraversal(); !cells->IsDoneWithTraversal(); cells->GoToNextCell())
    reader.add(cells->GetCellType(), cells->GetCellId(), cells->GetPointIds());
  return std::move(reader.polygons);
}

std::vector<double> read_cell_data_with_vtk(const std::string& file, const std::string& array) {
  const vtkSmartPointer<vtkPointSet> set = read_points(file);
  vtkDataArray* const data = set->GetCellData()->GetArray(array.c_str());
  FMBEM_REQUIRE(data && data->GetNumberOfComponents() == 1,
                file << " has no cell array of numbers \"" << array << '"');
  std::vector<double> values;
  const auto cells = vtk::TakeSmartPointer(set->NewCellIterator());
  for (cells->InitTraversal(); !cells->IsDoneWithTraversal(); cells->GoToNextCell()) {
    if (cells->GetCellDimension() != 2) continue;
    const vtkIdType cell = cells->GetCellId();
    FMBEM_REQUIRE(cell < data->GetNumberOfTuples() && std::isfinite(data->GetTuple1(cell)),
                  file << " has no finite number in \"" << array << "\" for the cell " << cell);
    values.push_back(data->GetTuple1(cell));
  }
  return values;
}

}  // namespace fmbem

#else

namespace fmbem {

Polygons read_with_vtk(const std::string& file) {
  throw InputError("cannot read " + file +
                   ": this fmbem was built without VTK, which reads .vtk, .vtu and .vtp");
}
std::vector<double> read_cell_data_with_vtk(const std::string& file, const std::string&) {
  read_with_vtk(file);
  return {};
}

}  // namespace fmbem
#endif
