#include "fmbem/meshes/vtu_writer.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "fmbem/meshes/vtk_blocks.hpp"

namespace fmbem {
namespace {

/// The header of a file with its arrays, in the order in which their data are appended.
class VtuText {
 public:
  explicit VtuText(const std::vector<VtkBlocks>& data) : data_(data) {}

  void line(const std::string& text) { out_ << text << '\n'; }

  /// `tuples`: a further attribute, for arrays that belong neither to points nor to cells.
  void array(const VtkArray& array, const std::string& tuples = "") {
    out_ << "<DataArray type=\"" << array.type << "\" Name=\"" << xml_escaped(array.name) << '"';
    // Left out where it is 1: else meshio has rows of one value each.
    if (array.components > 1) out_ << " NumberOfComponents=\"" << array.components << '"';
    out_ << tuples << " format=\"appended\" offset=\"" << offset_ << "\"/>\n";
    offset_ += data_[next_++].size();
  }

  void section(const std::string& name, const std::vector<VtkArray>& arrays, bool is_shown) {
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
  const std::vector<VtkBlocks>& data_;
  std::ostringstream out_;
  std::size_t next_ = 0, offset_ = 0;
};

/// Length of the UTF-8 sequence at the beginning of a text; 0 if it is none.
std::size_t utf8_length(const char* text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t n = byte(0) < 0x80                       ? 1
                        : byte(0) >= 0xC2 && byte(0) < 0xE0  ? 2
                        : byte(0) >= 0xE0 && byte(0) < 0xF0  ? 3
                        : byte(0) >= 0xF0 && byte(0) <= 0xF4 ? 4
                                                             : 0;
  for (std::size_t i = 1; i < n; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  return n;
}

}  // namespace

std::string xml_escaped(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
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
      default: {
        const std::size_t n = utf8_length(text.c_str() + i);
        if (n == 0)
          result += '?';
        else if (static_cast<unsigned char>(text[i]) < 32)
          result += ' ';
        else
          result.append(text, i, n);
        if (n > 1) i += n - 1;
      }
    }
  }
  return result;
}

bool write_vtu_grid(const std::string& path, const VtuGrid& grid) {
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

  std::vector<VtkArray> arrays = grid.field_data;
  arrays.insert(arrays.end(), {points, grid.connectivity, offsets, types});
  for (const auto* list : {&grid.point_data, &grid.cell_data})
    arrays.insert(arrays.end(), list->begin(), list->end());
  std::vector<std::span<const char>> bytes;
  for (const VtkArray& array : arrays) bytes.push_back(array.bytes);
  const std::vector<VtkBlocks> data = compress_for_vtk(bytes);

  VtuText text(data);
  text.line("<?xml version=\"1.0\"?>");
  text.line(
      "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" "
      "header_type=\"UInt64\" compressor=\"vtkZLibDataCompressor\">");
  text.line("<UnstructuredGrid>\n<FieldData>");
  for (const VtkArray& array : grid.field_data) text.array(array, " NumberOfTuples=\"1\"");
  text.line("</FieldData>");
  text.line("<Piece NumberOfPoints=\"" + std::to_string(grid.points.size()) +
            "\" NumberOfCells=\"" + std::to_string(grid.n_cells) + "\">\n<Points>");
  text.array(points);
  text.line("</Points>\n<Cells>");
  for (const VtkArray& array : {grid.connectivity, offsets, types}) text.array(array);
  text.line("</Cells>");
  text.section("PointData", grid.point_data, !grid.shows_cells);
  text.section("CellData", grid.cell_data, grid.shows_cells);
  text.line("</Piece>\n</UnstructuredGrid>");

  std::ofstream out(path, std::ios::binary);
  out << text.str() << "<AppendedData encoding=\"raw\">\n_";
  for (const VtkBlocks& array : data) {
    out << array.header;
    for (const std::string& block : array.blocks) out << block;
  }
  out << "\n</AppendedData>\n</VTKFile>\n";
  out.close();
  return static_cast<bool>(out);
}

}  // namespace fmbem
