#include "fmbem/meshes/gmsh/curvature.hpp"

#include <algorithm>
#include <cmath>

#include <gmsh.h>

#include "fmbem/meshes/gmsh/tag_index.hpp"

namespace fmbem {
namespace {

std::vector<int> curved_surfaces() {
  gmsh::vectorpair surfaces;
  gmsh::model::getEntities(surfaces, 2);
  std::vector<int> curved;
  for (const auto& [dim, surface] : surfaces) {
    std::string type;
    gmsh::model::getType(2, surface, type);
    if (type != "Plane") curved.push_back(surface);
  }
  return curved;
}

/// The larger principal curvature at [2n] parameters, [n]; 0 where there is none.
std::vector<double> largest_curvatures(int surface, const std::vector<double>& uv) {
  std::vector<double> most, least, directions;
  gmsh::model::getPrincipalCurvatures(surface, uv, most, least, directions, directions);
  std::vector<double> curvature(uv.size() / 2, 0);
  for (std::size_t i = 0; i < std::min(curvature.size(), most.size()); ++i) {
    const double larger = std::max(std::abs(most[i]), std::abs(least[i]));
    if (std::isfinite(larger)) curvature[i] = larger;
  }
  return curvature;
}

}  // namespace

std::map<int, SurfaceCurvature> sample_curvature(GmshSession& gmsh, const std::string& file) {
  constexpr int n = 12;  // along each parameter
  std::map<int, SurfaceCurvature> of_surface;
  const auto look_at = [&](int surface) {
    std::vector<double> lo, hi, uv, x;
    gmsh::model::getParametrizationBounds(2, surface, lo, hi);
    if (lo.size() < 2 || hi.size() < 2) return;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        uv.insert(uv.end(), {lo[0] + (i + 0.5) / n * (hi[0] - lo[0]),  //
                             lo[1] + (j + 0.5) / n * (hi[1] - lo[1])});
    gmsh::model::getValue(2, surface, uv, x);
    std::vector<double> curvature = largest_curvatures(surface, uv);
    if (x.size() != 3 * curvature.size()) return;
    SurfaceCurvature& mine = of_surface[surface];
    for (std::size_t i = 0; i < curvature.size(); ++i)
      mine.samples.push_back({{x[3 * i], x[3 * i + 1], x[3 * i + 2]}, curvature[i]});
    const auto middle = curvature.begin() + std::ptrdiff_t(curvature.size() / 2);
    std::nth_element(curvature.begin(), middle, curvature.end());
    mine.typical = *middle;
  };
  gmsh.run("cannot mesh " + file, [&] {
    for (const int surface : curved_surfaces()) look_at(surface);
  });
  return of_surface;
}

std::vector<double> curvatures(GmshSession& gmsh, const SurfaceMesh& mesh,
                               const std::vector<int>& surface_of,
                               const std::map<int, SurfaceCurvature>& of_surface) {
  std::vector<double> of_vertex(mesh.vertices.size(), 0);
  const TagIndex vertex(mesh.vertex_tags);
  const auto look_at = [&](int surface) {
    std::vector<std::size_t> tags;
    std::vector<double> x, uv;
    gmsh::model::mesh::getNodes(tags, x, uv, 2, surface, false, true);
    if (uv.size() != 2 * tags.size() || tags.empty()) return;
    const std::vector<double> curvature = largest_curvatures(surface, uv);
    for (std::size_t i = 0; i < tags.size(); ++i) {
      const int v = vertex.find(tags[i]);
      if (v >= 0) of_vertex[v] = curvature[i];
    }
  };
  gmsh.run("cannot mesh " + mesh.file, [&] {
    for (const auto& [surface, curvature] : of_surface) look_at(surface);
  });
  std::vector<double> of_triangle;
  of_triangle.reserve(mesh.triangles.size());
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const auto& [a, b, c] = mesh.triangles[i];
    double largest = std::max({of_vertex[a], of_vertex[b], of_vertex[c]});
    const auto curved = of_surface.find(surface_of[i]);
    if (largest == 0 && curved != of_surface.end()) largest = curved->second.typical;
    of_triangle.push_back(largest);
  }
  return of_triangle;
}

}  // namespace fmbem
