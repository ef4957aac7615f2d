#include "cli/problem_values.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cli/expression.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/load.hpp"
#include "fmbem/meshes/panel_values.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem::cli {
namespace {

std::vector<double> read_values(const std::string& file, const std::optional<std::string>& array) {
  const std::string format = ending(file);
  if (format == "csv") return read_csv_column(file, array);
  if (format == "vtu") {
    FMBEM_REQUIRE(array, file << " is a .vtu: name the cell data with \"array\"");
    return read_cell_data(file, *array);
  }
  FMBEM_REQUIRE(format == "npy", file << " must be a .csv, .npy or .vtu, for values of panels");
  FMBEM_REQUIRE(!array, file << " is a .npy, which has no \"array\" of a name");
  NumberArray values = read_npy(file);
  FMBEM_REQUIRE(values.shape.size() == 1, file << " has " << values.shape.size()
                                               << " dimensions, and values of panels have one");
  return std::move(values.values);
}

SurfaceData values_of_file(const JsonObject& object, const std::string& folder) {
  const std::string file = (std::filesystem::path(folder) / object.text("file")).string();
  std::optional<std::string> array;
  if (object.has("array")) array = object.text("array");
  const auto values = std::make_shared<const std::vector<double>>(read_values(file, array));
  return [values, file](const SurfacePoint& at) {
    FMBEM_REQUIRE(values->size() == at.panels, file << " has " << values->size()
                                                    << " values, and the mesh has " << at.panels
                                                    << " panels");
    return (*values)[at.panel];
  };
}

double positive(const JsonObject& object, const char* key) {
  const double value = object.number(key);
  if (!(value > 0)) object.refuse(key, "positive and finite");
  return value;
}

/// [real, imaginary part], or a number with perhaps a loss tangent.
void read_permittivity(const JsonObject& region, Region& to) {
  if (!region.at("permittivity").is_array()) {
    to.coefficient = positive(region, "permittivity");
    if (region.has("loss_tangent")) {
      const double tangent = region.number("loss_tangent");
      if (!(tangent >= 0)) region.refuse("loss_tangent", "0 or more");
      to.loss = tangent * to.coefficient;
    }
    return;
  }
  FMBEM_REQUIRE(!region.has("loss_tangent"),
                region.where() << " has a complex \"permittivity\" and a \"loss_tangent\" "
                                  "besides: leave one out");
  const auto [real, imaginary] = region.pair("permittivity");
  if (real < 0 || imaginary > 0 || (real == 0 && imaginary == 0))
    region.refuse("permittivity",
                  "[real, imaginary part] with a real part that is not negative and an imaginary "
                  "part that is not positive, not both 0: time goes as exp(+iωt)");
  to.coefficient = real;
  to.loss = -imaginary;
}

}  // namespace

void read_regions(const JsonObject& top, BoundaryProblem& problem) {
  const JsonObject regions(top.at("regions"), top.where("regions"));
  problem.regions.clear();
  std::optional<bool> conducts;
  for (const auto& [name, json] : regions.json().items()) {
    const JsonObject region(json, regions.where(name),
                            {"permittivity", "loss_tangent", "conductivity"});
    const bool has_conductivity = region.has("conductivity");
    FMBEM_REQUIRE(has_conductivity != region.has("permittivity"),
                  region.where() << " needs either a \"permittivity\" or a \"conductivity\"");
    FMBEM_REQUIRE(!has_conductivity || !region.has("loss_tangent"),
                  region.where() << " has a \"loss_tangent\", which goes with a permittivity");
    FMBEM_REQUIRE(conducts.value_or(has_conductivity) == has_conductivity,
                  regions.where() << ": either all have a permittivity or all a conductivity");
    conducts = has_conductivity;
    Region& added = problem.regions.emplace_back(Region{name});
    if (has_conductivity)
      added.coefficient = positive(region, "conductivity");
    else
      read_permittivity(region, added);
  }
  FMBEM_REQUIRE(conducts, regions.where() << " has no region");
  if (*conducts) problem.coefficient = BoundaryProblem::Coefficient::conductivity;
}

SurfaceData read_surface_data(const JsonObject& object, const char* key,
                              const std::string& folder) {
  const Json& value = object.at(key);
  if (value.is_number()) return constant(object.number(key));
  if (value.is_string()) return expression(object.text(key), object.where(key));
  if (!value.is_object())
    object.refuse(key, "a number, an expression or {\"file\": …} with values of panels");
  return values_of_file(JsonObject(value, object.where(key), {"file", "array"}), folder);
}

}  // namespace fmbem::cli
