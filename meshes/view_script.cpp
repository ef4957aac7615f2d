#include "fmbem/meshes/view_script.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/csv_table.hpp"
#include "fmbem/meshes/output_file.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/meshes/vertex_means.hpp"

namespace fmbem {
namespace {

/// Viewers may be started elsewhere. In double quotes, which all three take; in Tcl, which VMD
/// reads, what stands in them is substituted but behind a backslash.
std::string quoted_path(const std::string& file, bool is_tcl = false) {
  std::string text;
  for (const char c : std::filesystem::absolute(file).lexically_normal().string()) {
    if (is_tcl && std::string_view("[]$\"\\").find(c) != std::string_view::npos) text += '\\';
    text += c;
  }
  return '"' + text + '"';
}

/// [n vertices]: the means of their panels' normals, by area.
std::vector<Vec3d> vertex_normals(const SurfaceMesh& mesh) {
  std::vector<Vec3d> normals(mesh.vertices.size());
  for (const auto& [a, b, c] : mesh.triangles) {
    const Vec3d across =
        cross(mesh.vertices[b] - mesh.vertices[a], mesh.vertices[c] - mesh.vertices[a]);
    for (const int v : {a, b, c}) normals[v] += across;
  }
  for (Vec3d& normal : normals)
    if (norm(normal) > 0) normal = (1 / norm(normal)) * normal;
  return normals;
}

/// The surface as two lists: x y z, normal and value of each vertex, and the three of each
/// triangle. `open` and `close` enclose an entry of the first list.
void add_lists(std::string& text, const MolecularView& view, const char* vertex_format,
               const char* between, const char* triangle_format) {
  const std::vector<Vec3d> normals = vertex_normals(view.mesh);
  const std::vector<double> values = vertex_means(view.mesh, view.values);
  for (std::size_t v = 0; v < values.size(); ++v) {
    const Vec3d x = view.mesh.vertices[v], n = normals[v];
    append_printed(text, vertex_format, x.x, x.y, x.z, n.x, n.y, n.z, values[v]);
  }
  text += between;
  for (const auto& [a, b, c] : view.mesh.triangles) append_printed(text, triangle_format, a, b, c);
}

std::string pymol_script(const MolecularView& view) {
  std::string text = "# PyMOL: potential on the surface in kT/e, red below 0, blue above\nload " +
                     quoted_path(view.molecule) +
                     ", molecule\n"
                     "hide everything, molecule\nshow sticks, molecule\nbg_color white\n"
                     "python\n"
                     "from pymol import cgo, cmd\n";
  text += "potential_range = " + shortest_digits(view.range) + "\nvertices = [\n";
  add_lists(text, view, "(%.4f,%.4f,%.4f,%.3f,%.3f,%.3f,%.5g),\n", "]\ntriangles = [\n",
            "(%d,%d,%d),\n");
  text +=
      "]\n"
      "def colour(value):\n"
      "    t = max(-1.0, min(1.0, value / potential_range))\n"
      "    return (1.0, 1.0 + t, 1.0 + t) if t < 0 else (1.0 - t, 1.0 - t, 1.0)\n"
      "\n"
      "surface = [cgo.BEGIN, cgo.TRIANGLES]\n"
      "for triangle in triangles:\n"
      "    for x, y, z, u, v, w, value in (vertices[k] for k in triangle):\n"
      "        surface += [cgo.COLOR, *colour(value), cgo.NORMAL, u, v, w, cgo.VERTEX, x, y, z]\n"
      "\n"
      "surface.append(cgo.END)\n"
      "cmd.load_cgo(surface, 'potential')\n"
      "python end\n"
      "set two_sided_lighting, 1\n"
      "zoom all\n";
  return text;
}

std::string vmd_script(const MolecularView& view) {
  std::string text =
      "# VMD: potential on the surface in kT/e, red below 0, blue above\nset range " +
      shortest_digits(view.range) + "\nset vertices {\n";
  add_lists(text, view, "{{%.4f %.4f %.4f} {%.3f %.3f %.3f} %.5g}\n", "}\nset triangles {\n",
            "{%d %d %d}\n");
  text += "}\nmol new " + quoted_path(view.molecule, true) +
          " type pqr\n"
          "mol modstyle 0 top Licorice\n"
          "color scale method RWB\n"
          "color Display Background white\n"
          "# Colours of the scale begin behind the 33 fixed ones; there are 1024.\n"
          "proc colour {value range} {\n"
          "  set t [expr {max(-1.0, min(1.0, double($value) / $range))}]\n"
          "  return [expr {33 + int(round(511.5 * (1.0 + $t)))}]\n"
          "}\n"
          "foreach triangle $triangles {\n"
          "  set corners {}; set normals {}; set colours {}\n"
          "  foreach k $triangle {\n"
          "    lassign [lindex $vertices $k] x n value\n"
          "    lappend corners $x; lappend normals $n; lappend colours [colour $value $range]\n"
          "  }\n"
          "  graphics top tricolor {*}$corners {*}$normals {*}$colours\n"
          "}\n"
          "display resetview\n";
  return text;
}

std::string bild(const MolecularView& view) {
  std::string text = ".comment potential on the surface in kT/e, red below 0, blue above\n";
  for (std::size_t i = 0; i < view.mesh.triangles.size(); ++i) {
    const double t = std::clamp(view.values[i] / view.range, -1.0, 1.0);
    append_printed(text, ".color %.3f %.3f %.3f\n.polygon", t < 0 ? 1 : 1 - t, 1 - std::abs(t),
                   t < 0 ? 1 + t : 1);
    for (const int v : view.mesh.triangles[i]) {
      const Vec3d x = view.mesh.vertices[v];
      append_printed(text, " %.4f %.4f %.4f", x.x, x.y, x.z);
    }
    text += '\n';
  }
  return text;
}

std::string chimerax_script(const MolecularView& view, const std::string& surface) {
  const std::string range = shortest_digits(view.range);
  return "# ChimeraX: potential on the surface in kT/e, red below 0, blue above\nopen " +
         quoted_path(view.molecule) + " format pqr\nhide cartoons\nshow atoms\nstyle stick\nopen " +
         quoted_path(surface) + " format bild\nset bgColor white\nlighting soft\nview\nkey red:-" +
         range + " white:0 blue:" + range + "\n";
}

}  // namespace

std::vector<std::string> files_of_view(const std::string& path) {
  const std::string format = ending(path);
  FMBEM_REQUIRE(format == "pml" || format == "cxc" || format == "tcl",
                "--view writes .pml (PyMOL), .cxc (ChimeraX) and .tcl (VMD), not " << path);
  if (format != "cxc") return {path};
  return {path, std::filesystem::path(path).replace_extension("bild").string()};
}

void write_view(const std::string& path, const MolecularView& view) {
  FMBEM_REQUIRE(view.values.size() == view.mesh.triangles.size(),
                "there are " << view.values.size() << " values for " << view.mesh.triangles.size()
                             << " panels");
  const std::vector<std::string> files = files_of_view(path);
  const std::string format = ending(path);
  if (format == "cxc") write_whole(files[1], bild(view));
  write_whole(path, format == "pml"   ? pymol_script(view)
                    : format == "tcl" ? vmd_script(view)
                                      : chimerax_script(view, files[1]));
}

}  // namespace fmbem
