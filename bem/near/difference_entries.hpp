#pragma once

#include "fmbem/bem/geometry/triangle.hpp"
#include "fmbem/bem/space/quadrature.hpp"

namespace fmbem {

/// What a panel with the normal n_j and densities σ = 1 and μ = 1 gives at x: potentials V and K =
/// ∫ ∂G/∂n_j, and their derivatives along n_i, K' and D = ∂K/∂n_i.
struct PanelEntries {
  double v = 0, k = 0, k_adjoint = 0, d = 0;

  FMBEM_HD PanelEntries& operator+=(const PanelEntries& other) {
    v += other.v;
    k += other.k;
    k_adjoint += other.k_adjoint;
    d += other.d;
    return *this;
  }
};

/// The entries of G = (exp(−κr) − 1)/(4πr), Yukawa's kernel less Laplace's, which is not found by
/// subtracting; all are finite everywhere, and the same on both sides of the panel. V, K and K' are
/// those of yukawa_integrals(). D is of the lines around the panel: with m outward and normal to an
/// edge e, d_e the distance of x's projection inside its line and h the height of x,
///
///     D = n_i·∇K,   ∇K = h Σ_e m J_e + n_j (Σ_e d_e J_e − κ² V_κ),   J_e = ∫_e G'(r)/r ds,
///
/// by Stokes' theorem and ΔV = κ² V_κ, with V_κ of the whole of Yukawa's kernel.
PanelEntries difference_entries(const Triangle& t, Vec3d x, Vec3d normal, double kappa);
/// That ∇K, from V_κ.
Vec3d difference_gradient_of_k(const Triangle& t, Vec3d x, double kappa, double v_kappa);

/// Columns of V, K, K' and D, [targets].
struct EntryColumns {
  double *v, *k, *k_adjoint, *d;
};

/// Adds the same at many points by a rule that is accurate there. `place` and `normal`: of the
/// points, x, y and z.
void add_difference_entries(const TriangleRule& rule, const Triangle& t, double kappa, int count,
                            const double* const place[3], const double* const normal[3],
                            const EntryColumns& columns);

}  // namespace fmbem
