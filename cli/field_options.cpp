#include "cli/field_options.hpp"

#include <algorithm>
#include <cmath>

#include "cli/common_options.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/shape.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/meshes/xyz_file.hpp"

namespace fmbem::cli {
namespace {

/// Squares of larger voltages could overflow.
constexpr double most_volts = 1e100;

constexpr const char* line_form = "X,Y,Z,X,Y,Z,N";
constexpr const char* plane_form = "X,Y,Z,UX,UY,UZ,VX,VY,VZ,NU,NV";
constexpr const char* box_form = "X,Y,Z,X,Y,Z,NX,NY,NZ";

/// Points along the longer side of a cut: a pixel or two for each in a picture.
constexpr std::size_t points_of_cut_side = 301;

/// Numbers split at commas: finite, and as many as the form has.
std::vector<double> parse_numbers(const std::string& text, const std::string& option,
                                  const std::string& form) {
  std::vector<double> numbers;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    const std::optional<double> number =
        parse_number(std::string_view(text).substr(start, end - start));
    FMBEM_REQUIRE(number,
                  option << " takes finite numbers, " << form << ", not \"" << text << "\"");
    numbers.push_back(*number);
    start = end + 1;
  }
  const auto count = static_cast<std::size_t>(std::count(form.begin(), form.end(), ',') + 1);
  FMBEM_REQUIRE(numbers.size() == count,
                option << " takes " << count << " numbers, " << form << ", not " << numbers.size());
  return numbers;
}

}  // namespace

void add_field_options(CLI::App& app, FieldCommandOptions& options) {
  const auto add = [&](const char* name, std::vector<std::string>& values, const char* form,
                       const std::string& help) {
    app.add_option(name, values, help + "; may be repeated")
        ->type_name(form)
        ->allow_extra_args(false);
  };
  add("--points", options.points, "FILE", "points of a file with lines x y z");
  add("--line", options.line, line_form, "N points from one point to another");
  add("--plane", options.plane, plane_form,
      "NU times NV points on a parallelogram: its corner and its two edges");
  add("--box", options.box, box_form,
      "NX times NY times NZ points in a box, from the corner of the smallest coordinates to the "
      "opposite one");
  add("--cut", options.cut, "x=X",
      "points across an axis, such as z=0.5 or z=2um, some 301 along the longer side, in a "
      "rectangle around all surfaces, on their side of planes");
  app.add_option("--voltage", options.voltages,
                 "of a conductor, in volts; those that are not named are at 0 V, or at what the "
                 "problem's file says (default: all at 1 V, or the file's)")
      ->type_name("NAME=V")
      ->allow_extra_args(false);
  add_choice(
      app, "--side", options.how.side,
      {{"mean", Side::mean}, {"positive", Side::positive}, {"negative", Side::negative}},
      "from which points on the surface are seen; positive: that of the normal, outside of a "
      "closed body");
  app.add_option("--field-tolerance", options.how.tolerance,
                 "relative error of potential and field, 1e-10 to 0.1; 0: exact integrals only")
      ->capture_default_str();
}

PointSet read_points(const std::string& points) {
  PointFile read = read_xyz_file(points);
  FMBEM_REQUIRE(read.charges.empty(),
                points << " has a fourth field on its lines: --points takes lines x y z");
  return scattered_points(std::move(read.points));
}

PointSet points_of_line(const std::string& line) {
  const auto x = parse_numbers(line, "--line", line_form);
  return points_on_line({x[0], x[1], x[2]}, {x[3], x[4], x[5]}, x[6]);
}

PointSet points_of_plane(const std::string& plane) {
  const auto x = parse_numbers(plane, "--plane", plane_form);
  return points_on_plane({x[0], x[1], x[2]}, {x[3], x[4], x[5]}, {x[6], x[7], x[8]}, x[9], x[10]);
}

PointSet points_of_box(const std::string& box) {
  const auto x = parse_numbers(box, "--box", box_form);
  return points_in_box({x[0], x[1], x[2]}, {x[3], x[4], x[5]}, x[6], x[7], x[8]);
}

PointSet points_of_cut(const std::string& cut, const SurfaceMesh& mesh,
                       const SymmetryPlanes& planes) {
  const auto [axis, at] = parse_cut(cut);
  const Box box = bounding_box(mesh);
  Reach reach;
  for (const int k : planes.axes()) {
    const double offset = planes.at[k]->offset;
    (box.max[k] - offset > offset - box.min[k] ? reach.min : reach.max)[k] = offset;
  }
  return points_on_cut(box.min, box.max, axis, at.in(mesh.unit), points_of_cut_side, reach);
}

void check_field_tolerance(double tolerance) {
  FMBEM_REQUIRE(tolerance == 0 || (tolerance >= 1e-10 && tolerance <= 0.1),
                "--field-tolerance must be 0 or between 1e-10 and 0.1, not " << tolerance);
}

std::vector<Voltage> parse_voltages(const FieldCommandOptions& options) {
  std::vector<Voltage> result;
  for (const std::string& text : options.voltages) {
    const std::size_t equals = text.rfind('=');  // a group's name may hold one
    FMBEM_REQUIRE(equals != std::string::npos && equals > 0,
                  "--voltage takes NAME=V, not \"" << text << "\"");
    const std::optional<double> volts = parse_number(std::string_view(text).substr(equals + 1));
    FMBEM_REQUIRE(
        volts && std::abs(*volts) <= most_volts,
        "--voltage takes NAME=V with a number of volts up to 1e100, not \"" << text << "\"");
    const std::string name = text.substr(0, equals);
    FMBEM_REQUIRE(std::none_of(result.begin(), result.end(),
                               [&](const Voltage& other) { return other.conductor == name; }),
                  "--voltage names the conductor \"" << name << "\" twice");
    result.push_back({name, *volts});
  }
  return result;
}

std::vector<double> voltages_of(const std::vector<Conductor>& conductors,
                                const std::vector<Voltage>& given) {
  std::vector<double> result(conductors.size(), given.empty() ? 1.0 : 0.0);
  std::string names;
  for (const Conductor& conductor : conductors)
    names += (names.empty() ? "" : ", ") + conductor.name;
  for (const Voltage& voltage : given) {
    const auto found = std::find_if(conductors.begin(), conductors.end(), [&](const Conductor& c) {
      return c.name == voltage.conductor;
    });
    FMBEM_REQUIRE(found != conductors.end(), "--voltage names the conductor \""
                                                 << voltage.conductor
                                                 << "\", and the mesh has: " << names);
    result[found - conductors.begin()] = voltage.volts;
  }
  return result;
}

BoundaryProblem at_voltages(BoundaryProblem problem, const std::vector<Voltage>& given) {
  for (const Voltage& voltage : given) {
    bool found = false;
    for (GroupCondition& group : problem.groups) {
      if (group.kind != GroupCondition::Kind::conductor ||
          group.conductor.name != voltage.conductor)
        continue;
      group.conductor.has_charge = false;
      group.conductor.value = voltage.volts;
      found = true;
    }
    FMBEM_REQUIRE(found, "--voltage names the conductor \"" << voltage.conductor
                                                            << "\", which the problem has not");
  }
  return problem;
}

}  // namespace fmbem::cli
