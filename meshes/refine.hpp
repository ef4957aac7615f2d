#pragma once

#include "fmbem/meshes/geometry.hpp"
#include "fmbem/meshes/mesh.hpp"

namespace fmbem {

/// The mesh with every triangle split into four, `times` times. Children follow each other in the
/// order of their parents; tags are numbered from 1. Throws InputError for times outside of 0 to 12
/// and for more triangles than can be numbered.
SurfaceMesh refine_uniformly(const SurfaceMesh& mesh, int times = 1);

/// The same, once, with new vertices on the geometry instead of in the middles of edges. A new
/// vertex has the mean of the parameters of its edge's ends. If that is farther from the middle
/// than a twentieth of the edge, as where parameters are far from uniform, steps of Gauss and
/// Newton move it towards the nearest point; if they leave more than a quarter, the nearest point
/// is searched for, and taken if it is far nearer. Updates the places. O(n), some one evaluation of
/// the geometry for each vertex; no contacts are looked for.
SurfaceMesh refine_on_geometry(const SurfaceMesh& mesh, MeshPlaces& places, Geometry& geometry);

}  // namespace fmbem
