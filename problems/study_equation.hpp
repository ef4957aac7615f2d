#pragma once

#include <string>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/layer/mixed_rows.hpp"
#include "fmbem/problems/solvation/poisson_boltzmann_operator.hpp"

namespace fmbem {

/// Boundary integral equations for a potential u outside of bodies that vanishes far away, by
/// panels with constant densities; K and K' as make_boundary_operator() has them, normals outward.
enum class Formulation {
  single,      ///< u = g on the surface: V σ = g, u = ∫G σ
  direct,      ///< the same for q = ∂u/∂n: V q = (K − ½) g, u = ∫∂G/∂n g − ∫G q
  second,      ///< q given: (½ − K) u = −V q, the same potential
  adjoint,     ///< q given: (½ − K') σ = −q, u = ∫G σ
  mixed,       ///< u given below the middle along x, q above: rows of `single` and of `adjoint`
  dielectric,  ///< bodies of permittivity ε in a potential u₀: σ + β K' σ = −β ∂u₀/∂n, u = u₀ + ∫G
               ///< σ
  media,    ///< conductors and dielectrics that touch, as a BoundaryProblem has them: the rows of
            ///< MediaSystem
  solvate,  ///< a molecule among ions: the linearised Poisson-Boltzmann equation
};

/// What a study solves.
struct StudyEquation {
  // NOLINTNEXTLINE(google-explicit-constructor): all but one formulation have nothing else
  StudyEquation(Formulation given = Formulation::single, double relative_permittivity = 1)
      : formulation(given), permittivity(relative_permittivity) {}

  Formulation formulation;
  double permittivity;  ///< ε of dielectric bodies; 1 around them
  SolvationFormulation solvation = SolvationFormulation::direct;
  /// 2 (ε − 1)/(ε + 1)
  double beta() const { return 2 * (permittivity - 1) / (permittivity + 1); }
  friend bool operator==(const StudyEquation&, const StudyEquation&) = default;
};
/// "single", …, "dielectric:80", "solvate:juffer".
std::string name(const StudyEquation& equation);
/// The same back. Throws InputError for what is none, and for ε that is not positive and finite.
StudyEquation study_equation(const std::string& text);
/// "V", "1/2 - K", …: the layers of its equation.
const char* layer_name(const StudyEquation& equation);

/// Rows, and what the sum Σ A b over each of their charge equations' parts is multiplied by for the
/// charge that the equation asks for.
struct StudyRows {
  MixedRows rows;
  std::vector<double> charge_factor;
};
/// Of `adjoint`, `mixed` and `dielectric`, whose closed bodies have Gauss's law as an equation of
/// their own. Rows of V are over the panels' extent, so that units of length do not matter.
StudyRows study_rows(const Panels& panels, const StudyEquation& equation);

}  // namespace fmbem
