#include "fmbem/problems/solvation/extrapolate_energy.hpp"

#include <cmath>

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {
namespace {

double limit_of(const EnergyLevel& coarse, const EnergyLevel& fine) {
  const double ratio = static_cast<double>(fine.panels) / static_cast<double>(coarse.panels);
  return fine.energy + (fine.energy - coarse.energy) / (ratio - 1);
}

}  // namespace

ExtrapolatedEnergy extrapolate_energy(std::span<const EnergyLevel> levels) {
  FMBEM_REQUIRE(levels.size() >= 2, "an extrapolation needs energies on two meshes or more");
  for (std::size_t k = 1; k < levels.size(); ++k)
    FMBEM_REQUIRE(levels[k].panels > levels[k - 1].panels,
                  "surfaces of " << levels[k].panels << " panels follow those of "
                                 << levels[k - 1].panels
                                 << ": --extrapolate takes the coarsest first, and --surface the "
                                    "finest");
  const std::size_t last = levels.size() - 1;
  const double energy = limit_of(levels[last - 1], levels[last]);
  const double before =
      last >= 2 ? limit_of(levels[last - 2], levels[last - 1]) : levels[last].energy;
  return {energy, std::abs(energy - before)};
}

}  // namespace fmbem
