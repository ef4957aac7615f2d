#include "fmbem/meshes/gmsh/write_msh.hpp"

#include <algorithm>
#include <fstream>
#include <utility>

#include <gmsh.h>

#include "fmbem/meshes/gmsh/gmsh_session.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem {
namespace {

constexpr int gmsh_triangle = 2;

/// Tags for the physical surfaces: the file's where it had any, and new ones above these.
std::vector<int> physical_tags(const std::vector<Group>& groups) {
  int next = 0;
  for (const Group& group : groups) next = std::max(next, group.tag);
  std::vector<int> tags;
  for (const Group& group : groups) tags.push_back(group.tag > 0 ? group.tag : ++next);
  return tags;
}

/// Whether it is neither the first byte of a character in UTF-8 nor one by itself.
bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

/// Names that MSH can hold, each its own: they end at quotation marks, lines and a number of bytes.
std::vector<std::string> names_for_msh(std::vector<std::string> names, std::size_t longest) {
  for (std::string& name : names) {
    for (char& c : name)
      if (c == '"' || static_cast<unsigned char>(c) < ' ') c = c == '"' ? '\'' : ' ';
    std::size_t end = std::min(name.size(), longest);
    while (end < name.size() && continues(name[end])) --end;
    name.resize(end);
  }
  make_unique(names);
  return names;
}

std::vector<std::string> group_names(const std::vector<Group>& groups) {
  constexpr std::size_t longest = 108;  // Gmsh cuts at 128 bytes, and a number may follow
  std::vector<std::string> names;
  for (const Group& group : groups) names.push_back(group.name);
  return names_for_msh(std::move(names), longest);
}

/// Of the fields of panels, then of those at vertices: Gmsh lists views by name alone, whichever
/// they are of.
std::vector<std::string> view_names(const std::vector<PanelField>& fields,
                                    const std::vector<VertexField>& at_vertices) {
  constexpr std::size_t longest = 220;  // Gmsh reads lines of 255 bytes
  std::vector<std::string> names;
  for (const PanelField& field : fields) names.push_back(field.name);
  for (const VertexField& field : at_vertices) names.push_back(field.name + ", at vertices");
  return names_for_msh(std::move(names), longest);
}

/// Appends a view to the file: values of the elements or nodes with these tags.
void append_view(const std::string& path, const std::string& name, const std::string& kind,
                 const std::vector<std::size_t>& tags, const std::vector<double>& values) {
  const int view = gmsh::view::add(name);
  std::vector<std::vector<double>> rows;
  rows.reserve(values.size());
  for (const double value : values) rows.push_back({value});
  gmsh::view::addModelData(view, 0, "fmbem output", kind, tags, rows);
  gmsh::view::write(view, path, true);
}

void build_model(const SurfaceMesh& mesh) {
  gmsh::model::add("fmbem output");
  std::vector<double> coordinates;
  for (const Vec3d& v : mesh.vertices) coordinates.insert(coordinates.end(), {v.x, v.y, v.z});
  const std::vector<int> physical = physical_tags(mesh.groups);
  const std::vector<std::string> names = group_names(mesh.groups);
  for (std::size_t g = 0; g < names.size(); ++g) {
    const int surface = static_cast<int>(g) + 1;
    gmsh::model::addDiscreteEntity(2, surface);
    if (g == 0) gmsh::model::mesh::addNodes(2, surface, mesh.vertex_tags, coordinates);
    std::vector<std::size_t> tags, nodes;
    for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
      if (mesh.group_of[i] != static_cast<int>(g)) continue;
      tags.push_back(mesh.triangle_tags[i]);
      for (const int v : mesh.triangles[i]) nodes.push_back(mesh.vertex_tags[v]);
    }
    gmsh::model::mesh::addElementsByType(surface, gmsh_triangle, tags, nodes);
    gmsh::model::addPhysicalGroup(2, {surface}, physical[g]);
    gmsh::model::setPhysicalName(2, physical[g], names[g]);
  }
}

/// Whether this is a file's last line: Gmsh does not notice that a disk is full.
bool ends_with(const std::string& path, const std::string& line) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(-static_cast<std::streamoff>(line.size() + 1), std::ios::end);
  std::string last;
  return std::getline(file, last) && last == line;
}

}  // namespace

bool write_msh_here(const std::string& path, const std::string& shown, const SurfaceMesh& mesh,
                    const std::vector<PanelField>& fields,
                    const std::vector<VertexField>& at_vertices) {
  GmshSession gmsh;
  gmsh.run("cannot write " + shown, [&] {
    build_model(mesh);
    gmsh::option::setNumber("Mesh.MshFileVersion", 4.1);
    gmsh::option::setNumber("Mesh.Binary", 1);
    gmsh::option::setNumber("PostProcessing.SaveMesh", 0);
    gmsh::write(path);
    const std::vector<std::string> names = view_names(fields, at_vertices);
    auto name = names.begin();
    for (const PanelField& field : fields)
      append_view(path, *name++, "ElementData", mesh.triangle_tags, field.values);
    for (const VertexField& field : at_vertices)
      append_view(path, *name++, "NodeData", mesh.vertex_tags, field.values);
  });
  return ends_with(path, !at_vertices.empty() ? "$EndNodeData"
                         : !fields.empty()    ? "$EndElementData"
                                              : "$EndElements");
}

}  // namespace fmbem
