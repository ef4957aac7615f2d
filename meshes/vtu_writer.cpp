#include "fmbem/meshes/vtu_writer.hpp"

#include <algorithm>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <utility>

#include "fmbem/meshes/text.hpp"
#include "fmbem/meshes/vtk_blocks.hpp"

namespace fmbem {
namespace {

/// With names that the file shows, each its own: readers know arrays by them.
std::vector<VtkArray> named_apart(std::vector<VtkArray> arrays) {
  std::vector<std::string> names;
  for (const VtkArray& array : arrays) names.push_back(printable(array.name));
  make_unique(names);
  for (std::size_t k = 0; k < arrays.size(); ++k) arrays[k].name = std::move(names[k]);
  return arrays;
}

/// The header of a file with its arrays, in the order in which their data are appended.
class VtuText {
 public:
  explicit VtuText(const std::vector<VtkBlocks>& data) : data_(data) {}

  void line(const std::string& text) { out_ << text << '\n'; }

  /// `is_of_whole`: arrays that belong neither to points nor to cells give their length.
  void array(const VtkArray& array, bool is_of_whole = false) {
    out_ << "<DataArray type=\"" << array.type << "\" Name=\"" << xml_escaped(array.name) << '"';
    // Left out where it is 1: else meshio has rows of one value each.
    if (array.components > 1) out_ << " NumberOfComponents=\"" << array.components << '"';
    if (is_of_whole) out_ << " NumberOfTuples=\"" << tuples(array) << '"';
    out_ << " format=\"appended\" offset=\"" << offset_ << "\"/>\n";
    offset_ += data_[next_++].size();
  }

  void field_data(const std::vector<VtkArray>& arrays) {
    line("<FieldData>");
    for (const VtkArray& one : named_apart(arrays)) array(one, true);
    line("</FieldData>");
  }

  void section(const std::string& name, const std::vector<VtkArray>& as_given, bool is_shown) {
    const std::vector<VtkArray> arrays = named_apart(as_given);
    out_ << '<' << name;
    const auto of_components = [&](const char* attribute, int components) {
      const auto found = std::find_if(arrays.begin(), arrays.end(), [&](const VtkArray& array) {
        return array.components == components;
      });
      if (is_shown && found != arrays.end())
        out_ << ' ' << attribute << "=\"" << xml_escaped(found->name) << '"';
    };
    of_components("Scalars", 1);
    of_components("Vectors", 3);
    out_ << ">\n";
    for (const VtkArray& one : arrays) array(one);
    out_ << "</" << name << ">\n";
  }

  std::string str() const { return out_.str(); }

 private:
  static std::size_t tuples(const VtkArray& array) {
    return array.bytes.size() / (array.value_bytes * std::size_t(array.components));
  }

  const std::vector<VtkBlocks>& data_;
  std::ostringstream out_;
  std::size_t next_ = 0, offset_ = 0;
};

std::string opening(const std::string& type) {
  return "<?xml version=\"1.0\"?>\n<VTKFile type=\"" + type +
         "\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\" "
         "compressor=\"vtkZLibDataCompressor\">";
}

std::vector<VtkBlocks> compressed(const std::vector<VtkArray>& arrays) {
  std::vector<std::span<const char>> bytes;
  for (const VtkArray& array : arrays) bytes.push_back(array.bytes);
  return compress_for_vtk(bytes);
}

/// The header with its data behind it. Returns whether all of it was written.
bool write_with_data(const std::string& path, const std::string& header,
                     const std::vector<VtkBlocks>& data) {
  std::ofstream out(path, std::ios::binary);
  out << header << "<AppendedData encoding=\"raw\">\n_";
  for (const VtkBlocks& array : data) {
    out << array.header;
    for (const std::string& block : array.blocks) out << block;
  }
  out << "\n</AppendedData>\n</VTKFile>\n";
  out.close();
  return static_cast<bool>(out);
}

std::string numbers(Vec3d x) {
  std::ostringstream text;
  text << std::setprecision(17) << x.x << ' ' << x.y << ' ' << x.z;
  return text.str();
}

/// Of a step of a grid, of unit length; a plane's missing one is across it.
Vec3d direction_of(const VtiGrid& grid, int k) {
  const Vec3d step =
      grid.n[k] > 1 ? grid.steps[k] : cross(grid.steps[(k + 1) % 3], grid.steps[(k + 2) % 3]);
  return step / norm(step);
}

}  // namespace

std::string xml_escaped(const std::string& text) {
  std::string result;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

namespace {

/// The part of a file that has the cells.
struct CellSection {
  std::string file, name;
  bool has_types;  ///< of each cell, where the part's name does not say it
};

bool write_cells(const std::string& path, const VtuGrid& grid, const CellSection& section) {
  std::vector<std::int64_t> offset_list(grid.n_cells);
  for (std::size_t i = 0; i < grid.n_cells; ++i)
    offset_list[i] = static_cast<std::int64_t>(grid.corners * (i + 1));
  const std::vector<std::uint8_t> type_list(grid.n_cells, grid.cell_type);
  const VtkArray points{
      "Points",
      vtk_type(double{}),
      3,
      {reinterpret_cast<const char*>(grid.points.data()), grid.points.size_bytes()}},
      offsets = vtk_array("offsets", offset_list), types = vtk_array("types", type_list);

  std::vector<VtkArray> cells{grid.connectivity, offsets};
  if (section.has_types) cells.push_back(types);
  std::vector<VtkArray> arrays = grid.field_data;
  arrays.push_back(points);
  arrays.insert(arrays.end(), cells.begin(), cells.end());
  for (const auto* list : {&grid.point_data, &grid.cell_data})
    arrays.insert(arrays.end(), list->begin(), list->end());
  const std::vector<VtkBlocks> data = compressed(arrays);

  VtuText text(data);
  text.line(opening(section.file));
  text.line("<" + section.file + ">");
  text.field_data(grid.field_data);
  text.line("<Piece NumberOfPoints=\"" + std::to_string(grid.points.size()) + "\" NumberOf" +
            section.name + "=\"" + std::to_string(grid.n_cells) + "\">\n<Points>");
  text.array(points);
  text.line("</Points>\n<" + section.name + ">");
  for (const VtkArray& array : cells) text.array(array);
  text.line("</" + section.name + ">");
  text.section("PointData", grid.point_data, !grid.shows_cells);
  text.section("CellData", grid.cell_data, grid.shows_cells);
  text.line("</Piece>\n</" + section.file + ">");

  return write_with_data(path, text.str(), data);
}

}  // namespace

bool write_vtu_grid(const std::string& path, const VtuGrid& grid) {
  return write_cells(path, grid, {"UnstructuredGrid", "Cells", true});
}

bool write_vtp_grid(const std::string& path, const VtuGrid& grid) {
  return write_cells(path, grid,
                     {"PolyData",
                      grid.corners == 1   ? "Verts"
                      : grid.corners == 2 ? "Lines"
                                          : "Polys",
                      false});
}

bool write_vti_grid(const std::string& path, const VtiGrid& grid) {
  std::vector<VtkArray> arrays = grid.field_data;
  arrays.insert(arrays.end(), grid.point_data.begin(), grid.point_data.end());
  const std::vector<VtkBlocks> data = compressed(arrays);
  std::ostringstream extent, lattice;
  lattice << std::setprecision(17) << "Origin=\"" << numbers(grid.origin) << "\" Spacing=\"";
  for (int k = 0; k < 3; ++k) {
    extent << (k > 0 ? " 0 " : "0 ") << grid.n[k] - 1;
    const double step = norm(grid.steps[k]);
    lattice << (k > 0 ? " " : "") << (step > 0 ? step : 1);
  }
  lattice << "\" Direction=\"";
  for (int row = 0; row < 3; ++row)  // its columns are the steps' directions
    for (int k = 0; k < 3; ++k) lattice << (row + k > 0 ? " " : "") << direction_of(grid, k)[row];

  VtuText text(data);
  text.line(opening("ImageData"));
  text.line("<ImageData WholeExtent=\"" + extent.str() + "\" " + lattice.str() + "\">");
  text.field_data(grid.field_data);
  text.line("<Piece Extent=\"" + extent.str() + "\">");
  text.section("PointData", grid.point_data, true);
  text.line("</Piece>\n</ImageData>");
  return write_with_data(path, text.str(), data);
}

}  // namespace fmbem
