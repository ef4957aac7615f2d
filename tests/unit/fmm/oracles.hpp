#pragma once

#include <vector>

#include "fmbem/fmm/base/vec3.hpp"

namespace fmbem::test {

// Oracles for the operators on the real harmonics S_i that fmm/harmonics.hpp defines, at index
// n² + n + m, K = (p+1)² in all. They are written from the definition, in long double, and share
// no code with the method. Matrices are row-major [K·K], expansions are [K], and the factor
// 1/4π is left out:
//
//     M_j = Σ q S_j(y)             multipole expansion of charges q at y from the source centre
//     u(x) = Σ_i L_i S_i(x)        local expansion at x from the target centre

/// S_i(x) [K] in closed form, with std::assoc_legendre. As that is given cos θ alone, the error at
/// an angle θ from the z axis is about 1e-19 n/θ of |x|^n.
std::vector<double> harmonics_oracle(Vec3d x, int p);

/// Local expansion [K] of a unit charge at y: S_i(y)/|y|^(2n+1).
std::vector<double> local_of_point(Vec3d y, int p);

/// T [K·K] with S(scale·x + t) = T S(x): M_parent = T M_child and L_child = Tᵀ L_parent where the
/// parent's coordinates are scale·x + t. Source: Epton and Dembart 1995.
std::vector<double> m2m_oracle(Vec3d t, double scale, int p);

/// Matrix [K·K] from multipole to local expansion, r = target centre − source centre.
/// Source: Epton and Dembart 1995.
std::vector<double> m2l_oracle(Vec3d r, int p);

/// The local expansion m2l_oracle(r, p)·M [K] in O(p³): M turned so that r lies along z, translated
/// along z, and turned back. Source: White and Head-Gordon 1996.
std::vector<double> m2l_by_rotation(Vec3d r, int p, const std::vector<double>& M);

}  // namespace fmbem::test
