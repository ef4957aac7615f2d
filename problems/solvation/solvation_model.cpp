#include "fmbem/problems/solvation/solvation_model.hpp"

#include <cmath>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/problems/units.hpp"

namespace fmbem {
namespace {

// CODATA 2018
constexpr double gas_constant = 8.31446261815324e-3;  // kJ/(mol K)
constexpr double avogadro = 6.02214076e23, elementary_charge = 1.602176634e-19,
                 boltzmann = 1.380649e-23;

void require_positive(double value, const char* what) {
  FMBEM_REQUIRE(value >= 1e-100 && value <= 1e100,
                "the " << what << " must be positive, 1e-100 to 1e100, not " << value);
}

}  // namespace

double SolvationModel::permittivity_in(SoluteRegion::Kind kind) const {
  return kind == SoluteRegion::Kind::solute ? permittivity_inside : permittivity_outside;
}
double SolvationModel::kappa_in(SoluteRegion::Kind kind) const {
  return kind == SoluteRegion::Kind::solvent ? kappa : 0;
}
double SolvationModel::thermal_energy() const {
  return gas_constant / kilojoules_in_kilocalorie * temperature;
}

void SolvationModel::check() const {
  require_positive(permittivity_inside, "permittivity of the solute");
  require_positive(permittivity_outside, "permittivity of the solvent");
  require_positive(temperature, "temperature");
  require_positive(energy_constant, "energy constant");
  constexpr double largest_kappa = 1e6;  // 1/Å: no salt, and beyond all roundings of integrals
  FMBEM_REQUIRE(kappa >= 0 && kappa <= largest_kappa, "κ must be 0 or positive, and at most "
                                                          << largest_kappa << " per angstrom, not "
                                                          << kappa);
}

double kappa_of(double ionic_strength, double permittivity, double temperature) {
  FMBEM_REQUIRE(ionic_strength >= 0 && std::isfinite(ionic_strength),
                "the ionic strength must be 0 or positive, not " << ionic_strength);
  require_positive(permittivity, "permittivity of the solvent");
  require_positive(temperature, "temperature");
  const double per_square_metre = 2000 * avogadro * elementary_charge * elementary_charge *
                                  ionic_strength /
                                  (epsilon_0 * permittivity * boltzmann * temperature);
  return 1e-10 * std::sqrt(per_square_metre);
}

}  // namespace fmbem
