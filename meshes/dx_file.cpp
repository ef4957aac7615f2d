#include "fmbem/meshes/dx_file.hpp"

#include <cmath>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/output_file.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem {
RegularGrid grid_over(Vec3d low, Vec3d high, double margin, double spacing) {
  constexpr double most_points = 1e9;
  FMBEM_REQUIRE(spacing > 0 && std::isfinite(spacing),
                "the spacing of a volume must be positive, not " << spacing);
  FMBEM_REQUIRE(margin >= 0 && std::isfinite(margin),
                "the margin of a volume must be 0 or positive, not " << margin);
  RegularGrid grid{.origin = {}, .spacing = spacing};
  double points = 1;
  for (int axis = 0; axis < 3; ++axis) {
    const double steps = std::ceil((high[axis] - low[axis] + 2 * margin) / spacing);
    points *= steps + 1;
    FMBEM_REQUIRE(points <= most_points, "a volume of spacing "
                                             << spacing
                                             << " would have more than a billion "
                                                "points: take a larger one");
    grid.counts[axis] = static_cast<std::size_t>(steps) + 1;
    grid.origin[axis] = 0.5 * (low[axis] + high[axis] - steps * spacing);
  }
  return grid;
}

void write_dx(const std::string& path, const RegularGrid& grid, std::span<const double> values,
              const std::string& comment) {
  FMBEM_REQUIRE(values.size() == grid.size(),
                "there are " << values.size() << " values for " << grid.size() << " points");
  const auto [nx, ny, nz] = grid.counts;
  const double h = grid.spacing;
  std::string text = "# " + comment + "\n";
  append_printed(text, "object 1 class gridpositions counts %zu %zu %zu\n", nx, ny, nz);
  append_printed(text, "origin %.10g %.10g %.10g\n", grid.origin.x, grid.origin.y, grid.origin.z);
  append_printed(text, "delta %.10g 0 0\ndelta 0 %.10g 0\ndelta 0 0 %.10g\n", h, h, h);
  append_printed(text, "object 2 class gridconnections counts %zu %zu %zu\n", nx, ny, nz);
  append_printed(text, "object 3 class array type double rank 0 items %zu data follows\n",
                 values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    append_printed(text, i % 3 == 2 || i + 1 == values.size() ? "%.6e\n" : "%.6e ", values[i]);
  text +=
      "attribute \"dep\" string \"positions\"\n"
      "object \"regular positions regular connections\" class field\n"
      "component \"positions\" value 1\n"
      "component \"connections\" value 2\n"
      "component \"data\" value 3\n";
  write_whole(path, text);
}

}  // namespace fmbem
