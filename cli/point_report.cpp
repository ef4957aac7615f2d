#include "cli/point_report.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "fmbem/meshes/text.hpp"

namespace fmbem::cli {
namespace {

/// Of the numbers that are some; NaN where there is none.
struct Range {
  double min = std::numeric_limits<double>::quiet_NaN(), max = min;

  void add(double value) {
    min = std::fmin(min, value);  // which prefers numbers to NaN
    max = std::fmax(max, value);
  }
};

Range potentials_of(const Field& field) {
  Range range;
  for (const double value : field.potential) range.add(value);
  return range;
}

Range fields_of(const Field& field) {
  Range range;
  for (const Vec3d& e : field.e) range.add(norm(e));
  return range;
}

std::string range_text(const Range& range, const std::string& unit) {
  if (std::isnan(range.min)) return "nowhere finite";
  return "from " + decimal(range.min) + " to " + decimal(range.max) + " " + unit;
}

}  // namespace

std::string field_text(const Field& field, const std::string& name) {
  return "\npoints    " + (name.empty() ? "" : name + ": ") +
         std::to_string(field.potential.size()) + "\npotential " +
         range_text(potentials_of(field), "V") + "\n|E|       " +
         range_text(fields_of(field), "V/m");
}

Json field_json(const Field& field) {
  const auto at_points = [](Json value, const char* unit) {
    return Json{{"value", std::move(value)}, {"unit", unit}, {"location", "point"}};
  };
  const auto range = [](const Range& values) {
    return Json{{"min", number(values.min)}, {"max", number(values.max)}};
  };
  return {{"points", at_points(field.potential.size(), "1")},
          {"singular_points", at_points(field.singular_points, "1")},
          {"potential_V", at_points(range(potentials_of(field)), "V")},
          {"field_V_per_m", at_points(range(fields_of(field)), "V/m")}};
}

void warn_singular(Console& console, Json& report, const Field& field) {
  if (field.singular_points == 0) return;
  warn(console, report,
       counted(field.singular_points, "point lies", "points lie") +
           " on an edge of a panel, where E is infinite and nan is written: move the points off "
           "the edges");
}

std::vector<PointField> point_fields(const Field& field, const std::string& prefix) {
  PointField e{prefix + "E", "V/m", {}, 3};
  e.values.reserve(3 * field.e.size());
  for (const Vec3d& value : field.e) e.values.insert(e.values.end(), {value.x, value.y, value.z});
  return {{prefix + "potential", "V", field.potential}, std::move(e)};
}

}  // namespace fmbem::cli
