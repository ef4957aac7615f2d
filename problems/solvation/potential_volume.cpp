#include "fmbem/problems/solvation/potential_volume.hpp"

#include <algorithm>
#include <cmath>

#include "fmbem/problems/solvation/solvation_field.hpp"

namespace fmbem {
namespace {

/// Points that are evaluated together: memory is bounded, and the far field of panels is made
/// anew for each lot.
constexpr std::size_t points_at_a_time = 1000000;

/// Numbers of the points of the grid, along one axis, that are in reach of x.
std::pair<std::size_t, std::size_t> range_near(double x, double reach, double origin,
                                               double spacing, std::size_t count) {
  const double first = std::ceil((x - reach - origin) / spacing);
  const double last = std::floor((x + reach - origin) / spacing);
  const auto end = static_cast<double>(count);
  return {static_cast<std::size_t>(std::clamp(first, 0.0, end)),
          static_cast<std::size_t>(std::clamp(last + 1, 0.0, end))};
}

}  // namespace

std::vector<double> potential_on_grid(const Solvation& solved, const Molecule& molecule,
                                      const RegularGrid& grid) {
  std::vector<double> result;
  std::vector<Vec3d> points;
  const auto evaluate = [&] {
    const std::vector<double> potential = potential_at(solved, molecule, points);
    result.insert(result.end(), potential.begin(), potential.end());
    points.clear();
  };
  const auto [nx, ny, nz] = grid.counts;
  for (std::size_t i = 0; i < nx; ++i) {
    for (std::size_t j = 0; j < ny; ++j)
      for (std::size_t k = 0; k < nz; ++k) points.push_back(grid.point(i, j, k));
    if (points.size() + ny * nz > points_at_a_time) evaluate();
  }
  evaluate();

  const double reach = 0.5 * grid.spacing;
  const double unit = solved.model.energy_constant / solved.model.permittivity_inside;
  for (const Atom& atom : molecule.atoms) {
    if (atom.charge == 0) continue;
    std::pair<std::size_t, std::size_t> near[3];
    for (int axis = 0; axis < 3; ++axis)
      near[axis] =
          range_near(atom.place[axis], reach, grid.origin[axis], grid.spacing, grid.counts[axis]);
    for (std::size_t i = near[0].first; i < near[0].second; ++i)
      for (std::size_t j = near[1].first; j < near[1].second; ++j)
        for (std::size_t k = near[2].first; k < near[2].second; ++k) {
          const double r = norm(grid.point(i, j, k) - atom.place);
          if (r >= reach) continue;
          double& value = result[(i * grid.counts[1] + j) * grid.counts[2] + k];
          value += unit * atom.charge * (1 / reach - (r > 0 ? 1 / r : 0));
        }
  }
  return result;
}

}  // namespace fmbem
