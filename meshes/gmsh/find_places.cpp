#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include <gmsh.h>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/gmsh/gmsh_geometry.hpp"
#include "fmbem/meshes/gmsh/tag_index.hpp"

namespace fmbem {
namespace {

/// Parameters whose point is farther from the vertex than this part of the box are wrong.
constexpr double on_the_surface = 1e-5;

using Candidates = std::map<int, std::vector<SurfaceParameters>>;  // by vertex

/// A piece of a curve between two vertices.
struct CurveEdge {
  int curve;
  std::array<int, 2> vertex;
  std::array<double, 2> t;
};

std::pair<int, int> sorted(int a, int b) { return {std::min(a, b), std::max(a, b)}; }

/// Finds the places of one mesh.
class PlaceFinder {
 public:
  PlaceFinder(GmshSession& gmsh, GmshGeometry& geometry, const SurfaceMesh& mesh,
              const std::vector<int>& surface_of)
      : gmsh_(gmsh), geometry_(geometry), mesh_(mesh), vertex_(mesh.vertex_tags) {
    places_.surface = surface_of;
    places_.corners.resize(mesh.triangles.size());
  }

  MeshPlaces find() {
    gmsh::vectorpair curves;
    ask([&] { gmsh::model::getEntities(curves, 1); });
    for (const auto& [dim, curve] : curves) read_curve(curve);
    find_sides();
    std::map<int, std::vector<std::size_t>> of_surface;
    for (std::size_t i = 0; i < places_.surface.size(); ++i)
      of_surface[places_.surface[i]].push_back(i);
    for (const auto& [surface, triangles] : of_surface)
      if (!geometry_.is_flat(surface)) find_corners(surface, triangles);
    return std::move(places_);
  }

 private:
  void ask(const std::function<void()>& call) { gmsh_.run("cannot refine " + mesh_.file, call); }
  Vec3d position(int vertex) const { return mesh_.vertices[vertex]; }

  /// Finds the pieces of a curve. Its first and last vertices are points, which have no parameter:
  /// the curve begins and ends there, in the direction of its pieces.
  void read_curve(int curve) {
    std::vector<int> types;
    std::vector<std::vector<std::size_t>> tags, nodes;
    ask([&] { gmsh::model::mesh::getElements(types, tags, nodes, 1, curve); });
    if (types.size() != 1 || nodes[0].empty()) return;
    std::map<int, double> t_of;
    std::vector<std::size_t> inside;
    std::vector<double> x, t;
    ask([&] { gmsh::model::mesh::getNodes(inside, x, t, 1, curve, false, true); });
    for (std::size_t i = 0; i < inside.size() && t.size() == inside.size(); ++i)
      t_of[vertex_.find(inside[i])] = t[i];
    const GmshGeometry::Bounds bounds = geometry_.bounds(1, curve);
    if (bounds.least.empty()) return;
    const std::size_t per_piece = nodes[0].size() / tags[0].size();
    for (std::size_t e = 0; e < tags[0].size(); ++e) {
      CurveEdge edge{curve, {}, {bounds.least[0], bounds.largest[0]}};
      for (std::size_t k = 0; k < 2; ++k) {
        edge.vertex[k] = vertex_.find(nodes[0][e * per_piece + k]);
        const auto known = t_of.find(edge.vertex[k]);
        if (known != t_of.end()) edge.t[k] = known->second;
      }
      if (edge.vertex[0] >= 0 && edge.vertex[1] >= 0) of_curve_[curve].push_back(edge);
    }
  }

  void find_sides() {
    std::map<std::pair<int, int>, const CurveEdge*> pieces;
    for (const auto& [curve, edges] : of_curve_)
      for (const CurveEdge& edge : edges)
        pieces.emplace(sorted(edge.vertex[0], edge.vertex[1]), &edge);
    if (pieces.empty()) return;
    for (std::size_t i = 0; i < mesh_.triangles.size(); ++i)
      for (std::size_t k = 0; k < 3; ++k) {
        const int a = mesh_.triangles[i][k], b = mesh_.triangles[i][(k + 1) % 3];
        const auto found = pieces.find(sorted(a, b));
        if (found == pieces.end()) continue;
        const CurveEdge& edge = *found->second;
        const bool forward = edge.vertex[0] == a;
        places_.sides.push_back(
            {3 * i + k, edge.curve, edge.t[forward ? 0 : 1], edge.t[forward ? 1 : 0]});
      }
  }

  /// All parameters that a surface's vertices may have: two on a seam, four where two seams cross.
  Candidates candidates(int surface) {
    Candidates found;
    std::vector<std::size_t> inside;
    std::vector<double> x, uv;
    ask([&] { gmsh::model::mesh::getNodes(inside, x, uv, 2, surface, false, true); });
    for (std::size_t i = 0; i < inside.size() && uv.size() == 2 * inside.size(); ++i)
      found[vertex_.find(inside[i])].push_back({uv[2 * i], uv[2 * i + 1]});
    gmsh::vectorpair boundary, embedded;
    ask([&] {
      gmsh::model::getBoundary({{2, surface}}, boundary, false, false, false);
      gmsh::model::mesh::getEmbedded(2, surface, embedded);
    });
    boundary.insert(boundary.end(), embedded.begin(), embedded.end());
    std::sort(boundary.begin(), boundary.end());
    boundary.erase(std::unique(boundary.begin(), boundary.end()), boundary.end());
    for (const auto& [dim, curve] : boundary)
      if (dim == 1) add_curve(surface, curve, found);
    return found;
  }

  void add_curve(int surface, int curve, Candidates& found) {
    const auto edges = of_curve_.find(curve);
    if (edges == of_curve_.end()) return;
    std::vector<double> t;
    for (const CurveEdge& edge : edges->second) t.insert(t.end(), edge.t.begin(), edge.t.end());
    for (const int end : {0, 1}) {
      const std::vector<double> uv = geometry_.curve_on_surface(curve, t, surface, end);
      for (std::size_t i = 0; i < uv.size() / 2; ++i) {
        const SurfaceParameters p{uv[2 * i], uv[2 * i + 1]};
        std::vector<SurfaceParameters>& known = found[edges->second[i / 2].vertex[i % 2]];
        if (std::none_of(known.begin(), known.end(),
                         [&](SurfaceParameters q) { return q.u == p.u && q.v == p.v; }))
          known.push_back(p);
      }
    }
  }

  /// Drops candidates that are not where their vertices are, and forgets parameters that do not
  /// matter.
  void check(int surface, const GmshGeometry::Bounds& bounds, double reach, Candidates& found) {
    const double mid_u = 0.5 * (bounds.least[0] + bounds.largest[0]),
                 mid_v = 0.5 * (bounds.least[1] + bounds.largest[1]);
    std::vector<double> uv;
    for (const auto& [vertex, list] : found)
      for (const SurfaceParameters& p : list)
        uv.insert(uv.end(), {p.u, p.v, mid_u, p.v, bounds.least[0], p.v,  //
                             p.u, mid_v, p.u, bounds.least[1]});
    const std::vector<double> x = geometry_.on_surface(surface, uv);
    std::size_t i = 0;
    for (auto& [vertex, list] : found) {
      std::vector<SurfaceParameters> good;
      for (SurfaceParameters p : list) {
        const auto off = [&, place = position(vertex)](std::size_t k) {
          const Vec3d y{x[3 * (i + k)], x[3 * (i + k) + 1], x[3 * (i + k) + 2]};
          return !(norm(y - place) <= reach);
        };
        const bool wrong = off(0);
        if (!off(1) && !off(2)) p.u = SurfaceParameters::any;
        if (!off(3) && !off(4)) p.v = SurfaceParameters::any;
        if (!wrong) good.push_back(p);
        i += 5;
      }
      list = std::move(good);
    }
  }

  void find_corners(int surface, const std::vector<std::size_t>& triangles) {
    const GmshGeometry::Bounds bounds = geometry_.bounds(2, surface);
    if (bounds.least.size() < 2) return;
    Candidates found = candidates(surface);
    found.erase(-1);
    Vec3d lo = position(mesh_.triangles[triangles[0]][0]), hi = lo;
    for (const std::size_t i : triangles)
      for (const int v : mesh_.triangles[i])
        for (int axis = 0; axis < 3; ++axis) {
          lo[axis] = std::min(lo[axis], position(v)[axis]);
          hi[axis] = std::max(hi[axis], position(v)[axis]);
        }
    check(surface, bounds, on_the_surface * norm(hi - lo), found);
    const double extent[] = {bounds.largest[0] - bounds.least[0],
                             bounds.largest[1] - bounds.least[1]};
    for (const std::size_t i : triangles)
      places_.corners[i] = closest_together(mesh_.triangles[i], found, extent);
  }

  /// The candidates of the three corners that are closest to each other, in parts of the surface's
  /// extent.
  static std::array<SurfaceParameters, 3> closest_together(const std::array<int, 3>& corners,
                                                           const Candidates& found,
                                                           const double* extent) {
    static const std::vector<SurfaceParameters> nothing{{}};
    const auto of = [&](int vertex) -> const std::vector<SurfaceParameters>& {
      const auto list = found.find(vertex);
      return list == found.end() || list->second.empty() ? nothing : list->second;
    };
    const auto apart = [&](SurfaceParameters p, SurfaceParameters q) {
      const double du = std::abs(p.u - q.u) / extent[0], dv = std::abs(p.v - q.v) / extent[1];
      return (std::isnan(du) ? 0 : du) + (std::isnan(dv) ? 0 : dv);
    };
    std::array<SurfaceParameters, 3> best;
    double least = std::numeric_limits<double>::infinity();
    for (const SurfaceParameters& a : of(corners[0]))
      for (const SurfaceParameters& b : of(corners[1]))
        for (const SurfaceParameters& c : of(corners[2])) {
          const double spread = apart(a, b) + apart(b, c) + apart(c, a);
          if (spread >= least) continue;
          least = spread;
          best = {a, b, c};
        }
    return best;
  }

  GmshSession& gmsh_;
  GmshGeometry& geometry_;
  const SurfaceMesh& mesh_;
  TagIndex vertex_;
  MeshPlaces places_;
  std::map<int, std::vector<CurveEdge>> of_curve_;
};

}  // namespace

MeshPlaces find_places(GmshSession& gmsh, GmshGeometry& geometry, const SurfaceMesh& mesh,
                       const std::vector<int>& surface_of) {
  return PlaceFinder(gmsh, geometry, mesh, surface_of).find();
}

}  // namespace fmbem
