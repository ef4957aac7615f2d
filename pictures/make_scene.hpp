#pragma once

#include <string>

#include "fmbem/pictures/result_file.hpp"
#include "fmbem/pictures/scene.hpp"

namespace fmbem {

/// The picture of a result, which errors call `name`. Throws InputError for what it does not hold.
Scene make_scene(const Result& result, const PictureOptions& options, const std::string& name);

/// Of a surface: coloured by triangle, with its feature edges.
Scene surface_scene(const Result& result, const ResultArray& array);
/// Adds the edges where the surface turns away from the eye.
void add_silhouette(Scene& scene);

/// Of scattered points, or a random part of many, each a small octahedron.
Scene points_scene(const Result& result, const ResultArray& array);
/// From where surfaces and points are seen: z is up.
View view_of_bodies();

/// Of a plane: ten equipotentials, field lines, outlines. Where the field is infinite, at edges, it
/// has the largest value about.
Scene plane_scene(const Result& plane, const ResultArray& array);
/// The plane across a box, by linear interpolation, with the outlines of its surfaces.
Result cut_box(const Result& box, const Cut& cut, const std::string& name);

/// Equipotentials of values at the points of a plane.
std::vector<std::vector<Vec3d>> level_lines(const Scene& scene, const std::vector<double>& levels);
/// Lines along the in-plane part of a vector field that keep about the same distance everywhere,
/// and end at outlines.
std::vector<std::vector<Vec3d>> field_lines(const Scene& scene, const std::vector<double>& e,
                                            const std::vector<std::array<Vec3d, 2>>& outline);

}  // namespace fmbem
