#include "fmbem/pictures/web_page.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/vtu_writer.hpp"
#include "fmbem/pictures/vector_picture.hpp"

namespace fmbem {
namespace {

static_assert(std::endian::native == std::endian::little, "browsers read numbers as they lie");

constexpr const char viewer[] =
#include "viewer.inc"
    ;

template <class T>
std::string packed(const std::vector<T>& numbers) {
  return base64(
      {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof numbers[0]});
}

/// Places in single precision, in halves of the scene's diagonal from its middle.
class Places {
 public:
  explicit Places(const std::vector<Vec3d>& points) {
    Vec3d min = points.front(), max = min;
    for (const Vec3d& x : points)
      for (int k = 0; k < 3; ++k) {
        min[k] = std::min(min[k], x[k]);
        max[k] = std::max(max[k], x[k]);
      }
    middle_ = 0.5 * (min + max);
    half_ = std::max(norm(max - min) / 2, std::numeric_limits<double>::min());
  }
  void add(std::vector<float>& list, Vec3d x) const {
    const Vec3d at = (x - middle_) / half_;
    list.insert(list.end(), {float(at.x), float(at.y), float(at.z)});
  }
  const Vec3d& middle() const { return middle_; }
  double half() const { return half_; }

 private:
  Vec3d middle_;
  double half_;
};

/// Puts a text in the place of a mark, and returns where the rest begins.
std::size_t replace(std::string& text, const std::string& mark, const std::string& by,
                    std::size_t from) {
  const std::size_t at = text.find(mark, from);
  if (at == std::string::npos)
    throw Error(ExitCode::internal_error, "viewer.html has no place for " + mark);
  text.replace(at, mark.size(), by);
  return at + by.size();
}

nlohmann::json json(Vec3d x) { return {x.x, x.y, x.z}; }

}  // namespace

std::string web_page(const Scene& scene, const std::string& name) {
  const Places places(scene.points);
  std::vector<float> points, values, colours;
  // Single precision does not tell values apart that differ little.
  const bool differ_little = !ticks_offset(scene.scale, scene.prefix.factor).empty();
  const double base = differ_little ? scene.scale.min : 0;
  // An infinite number in the page is a value beyond single precision.
  for (const double value : scene.values)
    values.push_back(std::isfinite(value) || scene.flat ? float(value - base) : NAN);
  for (const Vec3d& x : scene.points) places.add(points, x);
  std::vector<std::int32_t> corners;
  for (const auto& t : scene.triangles) corners.insert(corners.end(), t.begin(), t.end());
  for (const Colour& colour : colour_table(scene))
    for (const double part : colour) colours.push_back(float(part));
  nlohmann::json lines = nlohmann::json::array();
  for (const LineSet& set : scene.lines) {
    std::vector<float> ends;  // of segments
    for (const auto& path : set.paths)
      for (std::size_t i = 0; i + 1 < path.size(); ++i) {
        places.add(ends, path[i]);
        places.add(ends, path[i + 1]);
      }
    lines.push_back({{"colour", set.colour}, {"opacity", set.opacity}, {"ends", packed(ends)}});
  }
  const nlohmann::json data{
      {"points", packed(points)},
      {"triangles", packed(corners)},
      {"values", packed(values)},
      {"base", base},
      {"atPoints", scene.at_points},
      {"groupOf", packed(std::vector<std::int32_t>(scene.group_of.begin(), scene.group_of.end()))},
      {"groups", scene.groups},
      {"lines", lines},
      {"colours", packed(colours)},
      {"noValue", no_value_colour},
      {"scale",
       {{"logarithmic", scene.scale.kind == Scale::Kind::logarithmic},
        {"min", scene.scale.min},
        {"max", scene.scale.max}}},
      {"title", scene.title},
      {"factor", scene.prefix.factor},
      {"middle", json(places.middle())},
      {"half", places.half()},
      {"lengthUnit", scene.length_unit},
      {"flat", scene.flat},
      {"ambient", scene.flat ? 1.0 : ambient_light},
      {"view",
       {{"right", json(scene.view.right)},
        {"up", json(scene.view.up)},
        {"toward", json(scene.view.toward)}}}};
  Drawing legend;
  add_legend(legend, scene);
  std::string text = data.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  // Within a script, "</" of a name could end it.
  for (std::size_t at = 0; (at = text.find("</", at)) != std::string::npos; at += 3)
    text.replace(at, 2, "<\\/");
  std::string page = viewer;
  std::size_t at = replace(page, "@NAME@", xml_escaped(name), 0);
  at = replace(page, "@LEGEND@", svg(legend, "", {950, 20, 250, 880}), at);
  replace(page, "@DATA@", text, at);
  return page;
}

}  // namespace fmbem
