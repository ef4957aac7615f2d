#include "tests/fuzz/corpus.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <sstream>

#include <gmsh.h>

#include "fmbem/meshes/read_file.hpp"
#include "fmbem/meshes/write_vtu.hpp"
#include "tests/unit/meshes/temporary_folder.hpp"

namespace fmbem::fuzz {
namespace {

constexpr std::array<std::array<int, 3>, 4> vertices{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
constexpr std::array<std::array<int, 3>, 4> faces{{{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}}};

/// Lines "a b c", each after `before`.
std::string lines(const std::array<std::array<int, 3>, 4>& rows, const std::string& before,
                  int first = 0) {
  std::ostringstream out;
  for (const auto& [a, b, c] : rows)
    out << before << a + first << ' ' << b + first << ' ' << c + first << '\n';
  return out.str();
}

/// With carriage returns, as Windows ends lines.
std::string crlf(const std::string& text) {
  std::string result;
  for (const char c : text) (c == '\n' ? result += '\r' : result) += c;
  return result;
}

/// Numbers as bytes.
class Bytes {
 public:
  explicit Bytes(bool big_endian) : big_endian_(big_endian) {}
  template <class T>
  Bytes& add(T x) {
    std::array<char, sizeof x> bytes;
    std::memcpy(bytes.data(), &x, sizeof x);
    if (big_endian_) std::reverse(bytes.begin(), bytes.end());
    text_.append(bytes.data(), bytes.size());
    return *this;
  }
  template <class T>
  Bytes& add_vertices() {
    for (const auto& vertex : vertices)
      for (const int x : vertex) add(static_cast<T>(x));
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  bool big_endian_;
  std::string text_;
};

std::string ply(const std::string& format) {
  const std::string head = "ply\nformat " + format +
                           " 1.0\nelement vertex 4\nproperty double x\nproperty double y\n"
                           "property double z\nelement face 4\n"
                           "property list uchar int vertex_indices\nend_header\n";
  if (format == "ascii") return head + lines(vertices, "") + lines(faces, "3 ");
  Bytes bytes(format == "binary_big_endian");
  bytes.add_vertices<double>();
  for (const auto& face : faces) {
    bytes.add(std::uint8_t{3});
    for (const int v : face) bytes.add(std::int32_t{v});
  }
  return head + bytes.text();
}

std::string legacy_vtk(bool binary) {
  const std::string head = std::string("# vtk DataFile Version 3.0\ntetrahedron\n") +
                           (binary ? "BINARY" : "ASCII") + "\nDATASET ";
  if (!binary)
    return head + "POLYDATA\nPOINTS 4 double\n" + lines(vertices, "") + "POLYGONS 4 16\n" +
           lines(faces, "3 ");
  Bytes cells(true), types(true);
  for (const auto& face : faces) {
    cells.add(std::int32_t{3});
    for (const int v : face) cells.add(std::int32_t{v});
    types.add(std::int32_t{5});
  }
  return head + "UNSTRUCTURED_GRID\nPOINTS 4 double\n" + Bytes(true).add_vertices<double>().text() +
         "\nCELLS 4 16\n" + cells.text() + "\nCELL_TYPES 4\n" + types.text() + "\n";
}

std::string ascii_vtu() {
  return "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"0.1\" "
         "byte_order=\"BigEndian\">\n<UnstructuredGrid>\n"
         "<Piece NumberOfPoints=\"4\" NumberOfCells=\"4\">\n<Points>\n<DataArray type=\"Float64\" "
         "NumberOfComponents=\"3\" format=\"ascii\">\n" +
         lines(vertices, "") +
         "</DataArray>\n</Points>\n<Cells>\n<DataArray type=\"Int32\" Name=\"connectivity\" "
         "format=\"ascii\">\n" +
         lines(faces, "") +
         "</DataArray>\n<DataArray type=\"Int32\" Name=\"offsets\" format=\"ascii\">3 6 9 12"
         "</DataArray>\n<DataArray type=\"UInt8\" Name=\"types\" format=\"ascii\">5 5 5 5"
         "</DataArray>\n</Cells>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n";
}

std::string ascii_stl() {
  std::string text = "solid tetrahedron\n";
  for (const auto& face : faces) {
    text += "facet normal 0 0 0\nouter loop\n";
    for (const int v : face) {
      const auto [x, y, z] = vertices[std::size_t(v)];
      text +=
          "vertex " + std::to_string(x) + ' ' + std::to_string(y) + ' ' + std::to_string(z) + '\n';
    }
    text += "endloop\nendfacet\n";
  }
  return text + "endsolid tetrahedron\n";
}

std::string binary_stl() {
  Bytes bytes(false);
  bytes.add(std::uint32_t{4});
  for (const auto& face : faces) {
    for (int k = 0; k < 3; ++k) bytes.add(0.0f);
    for (const int v : face)
      for (const int x : vertices[std::size_t(v)]) bytes.add(static_cast<float>(x));
    bytes.add(std::uint16_t{0});
  }
  return std::string(80, ' ') + bytes.text();
}

std::string compressed_vtu(const TemporaryFolder& folder) {
  SurfaceMesh mesh;
  for (const auto& [x, y, z] : vertices) mesh.vertices.push_back({1. * x, 1. * y, 1. * z});
  mesh.triangles = {faces.begin(), faces.end()};
  mesh.group_of = {0, 0, 0, 0};
  mesh.groups = {{"VDD", 0}};
  mesh.vertex_tags = mesh.triangle_tags = {1, 2, 3, 4};
  write_vtu(folder.file("a.vtu"), mesh, {{"charge", {1, 2, 3, 4}}});
  return read_file(folder.file("a.vtu"));
}

/// The lines of a file of IGES: 72 columns of text, a letter and a number.
class IgesSection {
 public:
  explicit IgesSection(char letter) : letter_(letter) {}
  int add(std::string text, int entity = 0) {
    text.resize(entity > 0 ? 64 : 72, ' ');
    char tail[32];
    if (entity > 0)
      std::snprintf(tail, sizeof tail, "%8d%c%7d\n", entity, letter_, ++n_);
    else
      std::snprintf(tail, sizeof tail, "%c%7d\n", letter_, ++n_);
    text_ += text + tail;
    return n_;
  }
  int n() const { return n_; }
  const std::string& text() const { return text_; }

 private:
  char letter_;
  int n_ = 0;
  std::string text_;
};

/// The unit cube's sides as ruled surfaces (118) between two lines (110) each.
std::string iges() {
  IgesSection start('S'), global('G'), directory('D'), parameters('P'), terminate('T');
  start.add("The sides of a unit cube");
  global.add("1H,,1H;,4Hcube,9Hcube.iges,5Hfmbem,5Hfmbem,32,38,6,308,15,4Hcube,1.,6,");
  global.add("1HM,1,0.001,15H20260101.000000,1.E-7,10.,5Hfmbem,5Hfmbem,11,0,");
  global.add("15H20260101.000000;");
  const auto entity = [&](int type, const std::string& text) {
    const int number = directory.n() + 1;
    const int at = parameters.add(std::to_string(type) + ',' + text + ';', number);
    char line[80];
    std::snprintf(line, sizeof line, "%8d%8d%8d%8d%8d%8d%8d%8d%08d", type, at, 0, 0, 0, 0, 0, 0, 0);
    directory.add(line);
    std::snprintf(line, sizeof line, "%8d%8d%8d%8d%8d%8s%8s%8s%8d", type, 0, 0, 1, 0, "", "", "",
                  0);
    directory.add(line);
    return number;
  };
  const auto line = [&](const std::array<int, 3>& a, const std::array<int, 3>& b) {
    std::string text;
    for (const auto& end : {a, b})
      for (const int x : end) text += std::to_string(x) + ".,";
    text.pop_back();
    return entity(110, text);
  };
  for (int axis = 0; axis < 3; ++axis)
    for (const int side : {0, 1}) {
      const auto corner = [&](int u, int v) {
        std::array<int, 3> x{};
        x[std::size_t(axis)] = side;
        x[std::size_t(axis + 1) % 3] = u;
        x[std::size_t(axis + 2) % 3] = v;
        return x;
      };
      const int first = line(corner(0, 0), corner(1, 0)), second = line(corner(0, 1), corner(1, 1));
      entity(118, std::to_string(first) + ',' + std::to_string(second) + ",0,0");
    }
  char counts[80];
  std::snprintf(counts, sizeof counts, "S%7dG%7dD%7dP%7d", start.n(), global.n(), directory.n(),
                parameters.n());
  terminate.add(counts);
  return start.text() + global.text() + directory.text() + parameters.text() + terminate.text();
}

/// The tetrahedron with what others write beside vertices and faces, and in several lines.
std::string odd_obj() {
  return "mtllib a.mtl\no body\n" + lines(vertices, "v ") +
         "vt 0 0\nvn 0 0 1\np 1\nl 1 2 \\\n3\ns off\nf 1/1/1 3//1\t2/1\nf 1 \\\r\n 2 4\n" +
         "f -4 -1 -2 # behind\nf 2 \\\n3 \\\n4\n";
}

/// A unit cube by OpenCASCADE, and its mesh, in the formats that Gmsh writes.
void add_by_gmsh(std::vector<File>& files, const TemporaryFolder& folder) {
  gmsh::initialize(0, nullptr, false);
  gmsh::option::setNumber("General.Terminal", 0);
  gmsh::model::occ::addBox(0, 0, 0, 1, 1, 1);
  gmsh::model::occ::synchronize();
  const auto write = [&](const std::string& name) {
    gmsh::write(folder.file(name));
    files.push_back({name, read_file(folder.file(name))});
  };
  for (const char* name : {"cube.step", "cube.brep"}) write(name);
  gmsh::model::addPhysicalGroup(2, {1, 2, 3, 4, 5, 6}, 1);
  gmsh::model::setPhysicalName(2, 1, "VDD");
  gmsh::option::setNumber("Mesh.MeshSizeMin", 1);
  gmsh::model::mesh::generate(2);
  for (const double version : {2.2, 4.1})
    for (const bool binary : {false, true}) {
      gmsh::option::setNumber("Mesh.MshFileVersion", version);
      gmsh::option::setNumber("Mesh.Binary", binary);
      write(std::string(version < 3 ? "2" : "4") + (binary ? "-binary" : "-ascii") + ".msh");
    }
  gmsh::model::mesh::partition(2);
  for (const bool binary : {false, true}) {
    gmsh::option::setNumber("Mesh.Binary", binary);
    write(binary ? "parts-binary.msh" : "parts-ascii.msh");
  }
  gmsh::finalize();
}

}  // namespace

std::vector<File> corpus() {
  const TemporaryFolder folder;
  const std::string obj =
      "# a tetrahedron\no body\n" + lines(vertices, "v ") + lines(faces, "f ", 1);
  const std::string off = "OFF\n4 4 6\n" + lines(vertices, "") + lines(faces, "3 ");
  std::vector<File> files{{"lf.obj", obj},
                          {"crlf.obj", crlf(obj)},
                          {"odd.obj", odd_obj()},
                          {"lf.off", off},
                          {"crlf.off", crlf(off)},
                          {"ascii.ply", ply("ascii")},
                          {"crlf.ply", crlf(ply("ascii"))},
                          {"little.ply", ply("binary_little_endian")},
                          {"big.ply", ply("binary_big_endian")},
                          {"ascii.vtk", legacy_vtk(false)},
                          {"crlf.vtk", crlf(legacy_vtk(false))},
                          {"binary.vtk", legacy_vtk(true)},
                          {"ascii.vtu", ascii_vtu()},
                          {"crlf.vtu", crlf(ascii_vtu())},
                          {"compressed.vtu", compressed_vtu(folder)},
                          {"ascii.stl", ascii_stl()},
                          {"crlf.stl", crlf(ascii_stl())},
                          {"binary.stl", binary_stl()},
                          {"cube.iges", iges()},
                          {"crlf.iges", crlf(iges())}};
  add_by_gmsh(files, folder);
  return files;
}

std::vector<File> molecules() {
  const std::string vertices_text =
                        "# MSMS solvent excluded surface vertices for m\n"
                        "#vertex #sphere density probe_r\n      4       1  1.00  1.50\n" +
                        lines(vertices, " "),
                    faces_text =
                        "# MSMS solvent excluded surface faces for m\n"
                        "#faces  #sphere density probe_r\n      4       1  1.00  1.50\n" +
                        lines(faces, " ", 1);
  std::string with_atoms;
  for (const auto& [x, y, z] : vertices)
    with_atoms += std::to_string(x) + ' ' + std::to_string(y) + ' ' + std::to_string(z) +
                  " 0.1 -0.2 0.9 0 12 2 CA_ALA_1\n";
  const std::string words =
      "ATOM 1 N ALA A 1 0.1 0.2 -0.3 0.5 1.5\nATOM 2 HA ALA A 1A 1.5-2.25-3 -0.5 0\n";
  const std::string columns =
      "REMARK 5 made by hand\n"
      "ATOM      1  N   ALA     1      11.104   6.134  -6.504 -0.3000 1.8500\n"
      "HETATM 1002  O  AHOH B1002    -111.104-106.134-116.504  0.1000 1.4000      O\n"
      "TER\nCONECT    1    2\nEND\n";
  const std::string models = "MODEL 1\n" + words + "ENDMDL\nMODEL 2\n" + words + "ENDMDL\n";
  return {{"a.vert", vertices_text},  {"b.face", faces_text},   {"c.vert", with_atoms},
          {"words.pqr", words},       {"columns.pqr", columns}, {"models.pqr", models},
          {"crlf.pqr", crlf(columns)}};
}

File other_half(const std::string& name) {
  const std::string letter = name.substr(0, 1);
  if (name.ends_with(".vert")) return {letter + ".face", lines(faces, " ", 1)};
  if (name.ends_with(".face")) return {letter + ".vert", lines(vertices, " ")};
  return {};
}

}  // namespace fmbem::fuzz
