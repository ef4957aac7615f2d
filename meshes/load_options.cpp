#include <cmath>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/load.hpp"
#include "fmbem/meshes/read_file.hpp"
#include "fmbem/meshes/units.hpp"

namespace fmbem {
namespace {

void check_options(const LoadOptions& options) {
  if (options.mesh_size)
    FMBEM_REQUIRE(std::isfinite(options.mesh_size->value) && options.mesh_size->value > 0,
                  "the mesh size must be a positive number, not " << options.mesh_size->value);
  FMBEM_REQUIRE(
      options.refine >= 0 && options.refine <= most_refinements,
      "a mesh can be refined 0 to " << most_refinements << " times, not " << options.refine);
  FMBEM_REQUIRE(options.grade > 0 && options.grade <= 1,
                "a mesh can be graded by a ratio above 0 and up to 1, not " << options.grade);
}

}  // namespace

LoadOptions in_meshs_unit(const std::string& file, LoadOptions options) {
  check_options(options);
  check_readable(file);
  options.unit = unit_for(file, options.unit);
  if (options.mesh_size) options.mesh_size = options.mesh_size->in(*options.unit);
  return options;
}

}  // namespace fmbem
