#include "fmbem/problems/solvation/potential_volume.hpp"

#include "fmbem/problems/solvation/solvation_field.hpp"

namespace fmbem {
namespace {

/// Points that are evaluated together: memory is bounded, and the far field of panels is made
/// anew for each lot.
constexpr std::size_t points_at_a_time = 1000000;

}  // namespace

std::vector<double> potential_on_grid(const Solvation& solved, const Molecule& molecule,
                                      const RegularGrid& grid) {
  std::vector<double> result;
  std::vector<Vec3d> points;
  const auto evaluate = [&] {
    const std::vector<double> potential =
        potential_at(solved, molecule, points, 0.5 * grid.spacing);
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
  return result;
}

}  // namespace fmbem
