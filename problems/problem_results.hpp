#pragma once

#include <functional>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "fmbem/problems/layer_field.hpp"
#include "fmbem/problems/lossy_media.hpp"
#include "fmbem/problems/media_system.hpp"
#include "fmbem/problems/problem_conditions.hpp"
#include "fmbem/problems/solve_problem.hpp"

namespace fmbem {

/// What a formulation finds for one problem, T double or, with losses, Complex; in the order of
/// Panels. Fluxes are in relative coefficients times V per unit of length, and NaN where the
/// formulation does not have them.
template <class T>
struct FoundValues {
  /// [n panels], V per unit of length: of the single layer. Its sum over the panels, with the
  /// sources', gives what flows to infinity.
  std::vector<T> sigma;
  std::vector<T> potential;            ///< [n panels], V
  std::vector<T> inside, outside;      ///< [n panels], into the regions there
  std::vector<T> conductor_potential;  ///< [conductors], V
  /// φ in V and E in V/m of what is on the surfaces.
  std::function<LayerField<T>(std::span<const Vec3d>)> field;
  std::conditional_t<std::is_same_v<T, double>, AppliedField, LossyField> applied;
};

/// Those that are given, [n panels]: NaN of a conductor whose panels have several, as right-hand
/// sides of one's own may have them.
template <class T>
void set_conductor_potentials(const std::vector<int>& conductor, const std::vector<T>& given,
                              FoundValues<T>& found) {
  std::vector<bool> is_set(found.conductor_potential.size(), false);
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (conductor[i] < 0) continue;
    T& potential = found.conductor_potential[conductor[i]];
    if (is_set[conductor[i]] && potential != given[i])
      potential = std::numeric_limits<double>::quiet_NaN();
    else
      potential = given[i];
    is_set[conductor[i]] = true;
  }
}

/// A result's real part and, of complex values, its imaginary one, for what was given. Potentials
/// of domains that are known up to a constant are changed by it.
template <class T>
std::vector<ProblemResult> results_of(const ProblemParts& parts,
                                      const BasicPanelConditions<T>& conditions,
                                      const std::string& name, const BasicPanelData<T>& data,
                                      FoundValues<T>& found);

}  // namespace fmbem
