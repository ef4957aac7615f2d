#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "fmbem/bem/geometry/symmetry.hpp"
#include "fmbem/bem/layer/field.hpp"
#include "fmbem/meshes/point_set.hpp"
#include "fmbem/problems/boundary_problem.hpp"
#include "fmbem/problems/capacitance.hpp"

namespace fmbem::cli {

/// --points --line --plane --box --cut --voltage --side --field-tolerance
struct FieldCommandOptions {
  std::vector<std::string> points, line, plane, box, cut;  ///< each may be given several times
  std::vector<std::string> voltages;
  FieldOptions how;
};
void add_field_options(CLI::App& app, FieldCommandOptions& options);

// The points that one of these options says.
PointSet read_points(const std::string& points);
PointSet points_of_line(const std::string& line);
PointSet points_of_plane(const std::string& plane);
PointSet points_of_box(const std::string& box);
/// Around a mesh, on its side of the planes.
PointSet points_of_cut(const std::string& cut, const SurfaceMesh& mesh,
                       const SymmetryPlanes& planes);

/// Throws InputError, before anything is solved.
void check_field_tolerance(double tolerance);

/// What --voltage gives one conductor.
struct Voltage {
  std::string conductor;
  double volts;
};
std::vector<Voltage> parse_voltages(const FieldCommandOptions& options);

/// [n conductors]: 0 V where a conductor is not named, or 1 V everywhere if none is. Throws
/// InputError for names that no conductor has.
std::vector<double> voltages_of(const std::vector<Conductor>& conductors,
                                const std::vector<Voltage>& given);

/// The problem with these potentials of its conductors. Throws as voltages_of() does.
BoundaryProblem at_voltages(BoundaryProblem problem, const std::vector<Voltage>& given);

}  // namespace fmbem::cli
