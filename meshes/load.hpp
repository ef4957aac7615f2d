#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fmbem/meshes/geo_numbers.hpp"
#include "fmbem/meshes/mesh.hpp"
#include "fmbem/meshes/units.hpp"

namespace fmbem {

inline constexpr int most_refinements = 12;

struct LoadOptions {
  /// Edges when a geometry (.geo, .step, .brep, …) is meshed, in `unit` or one of its own. By
  /// default a fortieth of the bounding box's diagonal, or less as curvature, conductors and the
  /// gaps between them need (`size_limits.hpp`). Smaller sizes set in a .geo file hold.
  std::optional<Length> mesh_size{};
  /// Number of times every triangle is split into four, 0 to most_refinements. New vertices lie on
  /// the geometry where the file is one, in the middles of the edges where it is a mesh.
  int refine = 0;
  /// m, cm, mm, um, nm or angstrom: the unit of the mesh, of sizes, and of files that do not carry
  /// one. STEP and IGES carry theirs, and are converted. By default theirs, or m.
  std::optional<std::string> unit{};
  /// The size at sharp edges of a geometry over that elsewhere, above 0 and up to 1.
  double grade = 1;
  /// Numbers of a .geo, in place of those in its DefineConstant[…]. In a Gmsh that the caller runs,
  /// variables of these names are gone afterwards.
  GeoNumbers numbers{};
  /// Whether a notice tells where a group crosses itself. Who makes groups of components and finds
  /// the contacts of these (`join.hpp`) says so better.
  bool tells_crossings = true;
};

/// The options with lengths in the unit that the mesh of a file will have, which is then given,
/// too. Throws InputError for options that load_mesh() refuses whatever the file holds, and for a
/// file that cannot be read.
LoadOptions in_meshs_unit(const std::string& file, LoadOptions options);

/// Reads whatever the Gmsh SDK opens, checks it, merges duplicate vertices, orients it and looks
/// for contacts (`contact.hpp`).
/// All of it happens in a process of its own, the program fmbem-reader, so that a file that crashes
/// Gmsh or OpenCASCADE does no harm here. It is looked for in FMBEM_READER, beside the running
/// program, in PATH and where it was to be installed or was built.
/// Throws InputError with one sentence for a file that is no usable surface mesh.
SurfaceMesh load_mesh(const std::string& file, const LoadOptions& options = {});

/// The meshes of the levels of refinement `coarsest` to options.refine, each with every triangle of
/// the one before split into four. The file is read, and its geometry meshed, once.
std::vector<SurfaceMesh> load_mesh_levels(const std::string& file, const LoadOptions& options,
                                          int coarsest);

/// A cell array of a .vtu, .vtk or .vtp: one number for each of its surface cells, in their order.
/// Read as meshes are. Throws InputError for files that VTK cannot read, without such an array, or
/// with numbers that are not finite.
std::vector<double> read_cell_data(const std::string& file, const std::string& array);

/// Values of a .msh at its elements: a view of Gmsh's, with one value for each element.
struct ElementData {
  std::string name;
  std::vector<std::size_t> tags;  ///< of the elements
  std::vector<double> values;     ///< [tags]
};
/// The views of a .msh ($ElementData), but for those of vectors and tensors. Read as meshes are.
/// Throws InputError for files that Gmsh cannot read.
std::vector<ElementData> read_element_data(const std::string& file);

/// Version of the Gmsh SDK that fmbem-reader uses; empty where there is no fmbem-reader or it
/// cannot start Gmsh.
std::string gmsh_version();
/// Versions of the libraries that fmbem-reader was built with; empty where it was not.
std::string cgal_version();
std::string vtk_version();

}  // namespace fmbem
