#include "fmbem/problems/solvation/binding.hpp"

#include <cmath>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/problems/solvation/point_charges.hpp"

namespace fmbem {
namespace {

double error_of(const Solvation& part) {
  return (part.solves[0].true_residual + part.operator_tolerance) *
             std::abs(part.solvation_energy) +
         PointCharges::tolerance_of_own * std::abs(part.coulomb_energy);
}

}  // namespace

BindingEnergies find_binding(const Solvation& complex, const Solvation& receptor,
                             const Solvation& ligand) {
  for (const Solvation* part : {&receptor, &ligand})
    FMBEM_REQUIRE(part->model == complex.model,
                  "a complex and its parts must be solved for in the same medium");
  return {complex.solvation_energy - receptor.solvation_energy - ligand.solvation_energy,
          complex.coulomb_energy - receptor.coulomb_energy - ligand.coulomb_energy,
          error_of(complex) + error_of(receptor) + error_of(ligand)};
}

}  // namespace fmbem
