#pragma once

#include <map>
#include <string>
#include <vector>

#include "fmbem/meshes/geometry.hpp"
#include "fmbem/meshes/gmsh/gmsh_session.hpp"
#include "fmbem/meshes/mesh.hpp"

namespace fmbem {

/// The geometry of Gmsh's current model, valid as long as the session. On one thread: Gmsh does not
/// evaluate many points faster on two. Throws InputError where Gmsh fails.
class GmshGeometry : public Geometry {
 public:
  GmshGeometry(GmshSession& gmsh, const std::string& file) : gmsh_(gmsh), file_(file) {}

  bool is_flat(int surface) override { return kind(surface).flat; }
  SurfaceParameters periods(int surface) override { return kind(surface).periods; }
  std::vector<double> on_surface(int surface, const std::vector<double>& uv) override;
  std::vector<double> derivatives(int surface, const std::vector<double>& uv) override;
  std::vector<double> on_curve(int curve, const std::vector<double>& t) override;
  std::vector<double> to_surface(int surface, std::vector<double>& x) override;
  std::vector<double> to_curve(int curve, std::vector<double>& x) override;
  std::vector<double> curve_on_surface(int curve, const std::vector<double>& t, int surface,
                                       int end) override;

  /// Least and largest parameters of a curve or a surface.
  struct Bounds {
    std::vector<double> least, largest;
  };
  Bounds bounds(int dim, int tag);

 private:
  struct Kind {
    bool flat;
    SurfaceParameters periods;
  };
  const Kind& kind(int surface);
  SurfaceParameters find_periods(int surface);
  std::vector<double> nearest(int dim, int tag, std::vector<double>& x);

  GmshSession& gmsh_;
  std::string file_;
  std::map<int, Kind> kinds_;
};

/// Where the triangles of a mesh by Gmsh lie. surface_of are the tags of their surfaces; vertex
/// tags are Gmsh's.
MeshPlaces find_places(GmshSession& gmsh, GmshGeometry& geometry, const SurfaceMesh& mesh,
                       const std::vector<int>& surface_of);

}  // namespace fmbem
