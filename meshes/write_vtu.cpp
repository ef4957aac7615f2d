#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <span>

#include "fmbem/meshes/write_formats.hpp"

namespace fmbem {
namespace {

static_assert(std::endian::native == std::endian::little,
              "arrays are written as they lie in memory");

/// Base64 of a length in bytes followed by that many bytes, as VTK wants it for inline arrays.
std::string base64_with_length(std::span<const char> data) {
  static constexpr char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::uint64_t length = data.size();
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  bytes.append(data.data(), data.size());
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t n = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (k < n ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) text += k <= n ? digits[bits >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
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
        result += static_cast<unsigned char>(c) < 32 ? ' ' : c;
    }
  }
  return result;
}

class VtuWriter {
 public:
  explicit VtuWriter(const std::string& path) : out_(path, std::ios::binary) {}

  template <class T>
  void array(const char* type, const std::string& name, const std::vector<T>& values,
             int components = 1) {
    out_ << "<DataArray type=\"" << type << "\" Name=\"" << escaped(name)
         << "\" NumberOfComponents=\"" << components << "\" format=\"binary\">"
         << base64_with_length(
                {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)})
         << "</DataArray>\n";
  }

  /// VTK's string arrays: characters with a zero behind each string.
  void strings(const std::string& name, const std::vector<std::string>& values) {
    std::string characters;
    for (const std::string& value : values) characters.append(value.c_str(), value.size() + 1);
    out_ << "<Array type=\"String\" Name=\"" << name << "\" NumberOfTuples=\"" << values.size()
         << "\" format=\"binary\">" << base64_with_length(characters) << "</Array>\n";
  }

  std::ofstream& text() { return out_; }

 private:
  std::ofstream out_;
};

}  // namespace

bool write_vtu(const std::string& path, const SurfaceMesh& mesh,
               const std::vector<PanelField>& fields) {
  const std::size_t n = mesh.triangles.size();
  std::vector<double> points;
  points.reserve(3 * mesh.vertices.size());
  for (const Vec3d& v : mesh.vertices) points.insert(points.end(), {v.x, v.y, v.z});
  std::vector<std::int64_t> connectivity, offsets, element_tags, vertex_tags;
  for (std::size_t i = 0; i < n; ++i) {
    connectivity.insert(connectivity.end(), mesh.triangles[i].begin(), mesh.triangles[i].end());
    offsets.push_back(static_cast<std::int64_t>(3 * (i + 1)));
  }
  element_tags.assign(mesh.triangle_tags.begin(), mesh.triangle_tags.end());
  vertex_tags.assign(mesh.vertex_tags.begin(), mesh.vertex_tags.end());
  const std::vector<std::int32_t> groups(mesh.group_of.begin(), mesh.group_of.end());
  constexpr std::uint8_t vtk_triangle = 5;
  std::vector<std::string> group_names;
  for (const Group& group : mesh.groups) group_names.push_back(group.name);

  VtuWriter vtu(path);
  vtu.text()
      << "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" "
         "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<UnstructuredGrid>\n<FieldData>\n";
  vtu.strings("group_names", group_names);
  vtu.text() << "</FieldData>\n<Piece NumberOfPoints=\"" << mesh.vertices.size()
             << "\" NumberOfCells=\"" << n << "\">\n<Points>\n";
  vtu.array("Float64", "Points", points, 3);
  vtu.text() << "</Points>\n<Cells>\n";
  vtu.array("Int64", "connectivity", connectivity);
  vtu.array("Int64", "offsets", offsets);
  vtu.array("UInt8", "types", std::vector<std::uint8_t>(n, vtk_triangle));
  vtu.text() << "</Cells>\n<PointData>\n";
  vtu.array("Int64", "vertex_tag", vertex_tags);
  vtu.text() << "</PointData>\n<CellData"
             << (fields.empty() ? "" : " Scalars=\"" + escaped(fields[0].name) + "\"") << ">\n";
  for (const PanelField& field : fields) vtu.array("Float64", field.name, field.values);
  vtu.array("Int32", "group", groups);
  vtu.array("Int64", "element_tag", element_tags);
  vtu.text() << "</CellData>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n";
  vtu.text().close();
  return static_cast<bool>(vtu.text());
}

}  // namespace fmbem
