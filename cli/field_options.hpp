#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "fmbem/bem/layer/field.hpp"
#include "fmbem/meshes/point_set.hpp"
#include "fmbem/problems/boundary_problem.hpp"
#include "fmbem/problems/capacitance.hpp"

namespace fmbem::cli {

/// --points --line --plane --voltage --side --field-tolerance
struct FieldCommandOptions {
  std::optional<std::string> points, line, plane;
  std::vector<std::string> voltages;
  FieldOptions how;
};
void add_field_options(CLI::App& app, FieldCommandOptions& options);

/// The points of whichever of --points, --line and --plane is given. Throws InputError for more
/// than one or none.
PointSet read_points(const FieldCommandOptions& options);

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
