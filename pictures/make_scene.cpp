#include "fmbem/pictures/make_scene.hpp"

#include <algorithm>
#include <cmath>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/meshes/view_script.hpp"

namespace fmbem {
namespace {

/// Of the unit's text, as it is printed.
std::string raised(std::string unit) {
  if (const std::size_t at = unit.find("^2"); at != std::string::npos) unit.replace(at, 2, "²");
  return unit;
}

std::string kind_of(const Result& result) {
  return result.is_scattered() ? "cloud of points" : result.is_grid() ? "plane" : "surface";
}

/// Counts the places of a surface or a cloud that have no finite value.
std::string notice_of_missing(const Result& shown, const ResultArray& array) {
  const std::size_t n = array.values.size() / std::size_t(array.components);
  std::size_t missing = 0;
  for (std::size_t i = 0; i < n; ++i) missing += !std::isfinite(array.magnitude(i));
  if (missing == 0) return "";
  return "without a value, and grey: " + std::to_string(missing) + " of " +
         counted(n, shown.is_scattered() ? "point" : "panel");
}

}  // namespace

Scene make_scene(const Result& result, const PictureOptions& options, const std::string& name) {
  const bool is_box = result.n[2] > 1;
  FMBEM_REQUIRE(options.cut.has_value() == is_box,
                (is_box ? name + " holds a box: give --cut x=0, or another plane across it"
                        : name + " holds a " + kind_of(result) +
                              ", which --cut does not cut: leave it out, or write a box or a plane "
                              "with fmbem field"));
  const Result plane = is_box ? cut_box(result, *options.cut, name) : Result{};
  const Result& shown = is_box ? plane : result;
  const ResultArray& array = find_array(shown, options, name);
  Scene scene = shown.is_scattered() ? points_scene(shown, array)
                : shown.is_grid()    ? plane_scene(shown, array)
                                     : surface_scene(shown, array);

  FMBEM_REQUIRE(!options.range || array.is_of_molecule(),
                "--range is for potentials in kT/e, and the " << array.name << " of " << name
                                                              << " is none: leave it out");
  scene.scale =
      array.is_of_molecule() && !options.log
          ? molecular_scale(scene.values, options.range.value_or(drawn_potential), array.name)
          : choose_scale(scene.values, scene.weights, options.log, array.name);
  const bool has_unit = !array.unit.empty(), takes_prefix = has_unit && !array.is_of_molecule();
  scene.prefix = takes_prefix
                     ? engineering_prefix(std::max(std::abs(scene.scale.min), scene.scale.max))
                     : Prefix{"", 1};
  const std::string quantity = array.components == 3 ? "|" + array.name + "|" : array.name;
  scene.title =
      has_unit ? quantity + " [" + scene.prefix.text + raised(array.unit) + "]" : quantity;
  if (!scene.flat) scene.notice = notice_of_missing(shown, array);
  if (!array.of.empty()) scene.subtitle = array.of;
  return scene;
}

}  // namespace fmbem
