#pragma once

#include <string>
#include <vector>

#include "cli/report.hpp"
#include "fmbem/bem/layer/field.hpp"
#include "fmbem/meshes/write_points.hpp"

namespace fmbem::cli {

/// What is told of potential and field at points, V and V/m. Of several sets each has a name.
std::string field_text(const Field& field, const std::string& name = "");

/// {points, singular_points, potential_V, field_V_per_m}: of the latter the smallest and the
/// largest value that is one.
Json field_json(const Field& field);

/// A warning where points lie on edges.
void warn_singular(Console& console, Json& report, const Field& field);

/// Potential and E, whose names begin with `prefix`.
std::vector<PointField> point_fields(const Field& field, const std::string& prefix = "");

}  // namespace fmbem::cli
