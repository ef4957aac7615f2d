// What a charge and a dipole at y give at x: the arithmetic of one pair, for every kernel, for
// single numbers and for registers of them (V), on the host and on the device.
#pragma once

#include <type_traits>
#include <utility>

#include "fmbem/fmm/base/hd.hpp"
#include "fmbem/fmm/base/vec3.hpp"

namespace fmbem::fmm {

/// A constant in the precision of V, which is a number or a register of them.
template <class V>
FMBEM_HD FMBEM_INLINE auto in(double x) {
  if constexpr (std::is_arithmetic_v<V>)
    return static_cast<V>(x);
  else
    return static_cast<std::remove_cvref_t<decltype(std::declval<V&>()[0])>>(x);
}

// A kernel G = scale g(r) gives its radial<root terms>(r2, w) from r² and w = 1/r, as accurate as
// w: an object with g and, as functions that are called where they are needed, the factors of its
// derivatives. With D = −(1/r) d/dr and d = x − y
//
//     D g = g a,   D² g = (g a)(a b),   D³ g = (g a)(a b)(a c),   hence
//     ∇g = −(g a) d,   ∇∇g = (g a)(a b d dᵀ − I),
//
// and so on: derivatives in x; those in y have a sign −1 for each order. w = 0 stands for a pair
// that is left out and makes g = 0. softened(r2) is what w is the inverse root of: r², but for
// Plummer's kernel, whose factors are then those of Laplace's.

/// Adds q g + p·∇_y g, p being the dipole, and its gradient in x to sums.potential, x, y and z.
template <bool Dipoles, bool Potential, bool Gradient, template <class> class Radial, class T,
          class V, class Sums>
FMBEM_HD FMBEM_INLINE void add_pair(const Radial<V>& radial, T q, const Vec3<T>& p,
                                    const Vec3<V>& d, Sums& sums) {
  if constexpr (!Dipoles) {
    const V qg = q * radial.g;
    if constexpr (Potential) sums.potential += qg;
    if constexpr (Gradient) {
      const V f = qg * radial.a();
      sums.x -= f * d.x;
      sums.y -= f * d.y;
      sums.z -= f * d.z;
    }
  } else {
    const V a = radial.a(), along = (p.x * d.x + p.y * d.y + p.z * d.z) * a;
    if constexpr (Potential) sums.potential += (q + along) * radial.g;
    if constexpr (Gradient) {
      const V ga = a * radial.g, f = (q + radial.b() * along) * ga;
      sums.x += p.x * ga - f * d.x;
      sums.y += p.y * ga - f * d.y;
      sums.z += p.z * ga - f * d.z;
    }
  }
}

/// Adds the second derivatives in x of q g + p·∇_y g: (g a)(a b) times
/// (q + c a p·d) d dᵀ − p dᵀ − d pᵀ − (p·d) I, and −q (g a) I, to sums.xx to sums.zz.
template <bool Dipoles, template <class> class Radial, class T, class V, class Sums>
FMBEM_HD FMBEM_INLINE void add_pair_hessian(const Radial<V>& radial, T q, const Vec3<T>& p,
                                            const Vec3<V>& d, Sums& sums) {
  const V a = radial.a(), ga = radial.g * a, second = ga * a * radial.b();
  if constexpr (!Dipoles) {
    const V f = q * second, trace = q * ga;
    const Vec3<V> fd{f * d.x, f * d.y, f * d.z};
    sums.xx += fd.x * d.x - trace;
    sums.xy += fd.x * d.y;
    sums.xz += fd.x * d.z;
    sums.yy += fd.y * d.y - trace;
    sums.yz += fd.y * d.z;
    sums.zz += fd.z * d.z - trace;
  } else {
    const V along = p.x * d.x + p.y * d.y + p.z * d.z, f = second * (q + a * radial.c() * along),
            trace = q * ga + second * along;
    const Vec3<V> fd{f * d.x, f * d.y, f * d.z}, sp{second * p.x, second * p.y, second * p.z};
    sums.xx += fd.x * d.x - 2 * (sp.x * d.x) - trace;
    sums.xy += fd.x * d.y - sp.x * d.y - sp.y * d.x;
    sums.xz += fd.x * d.z - sp.x * d.z - sp.z * d.x;
    sums.yy += fd.y * d.y - 2 * (sp.y * d.y) - trace;
    sums.yz += fd.y * d.z - sp.y * d.z - sp.z * d.y;
    sums.zz += fd.z * d.z - 2 * (sp.z * d.z) - trace;
  }
}

/// Adds what the charge at y gives at x, and what the one at x gives at y. D g serves both, so it
/// is computed before charges are multiplied.
template <bool Potential, bool Gradient, template <class> class Radial, class T, class V,
          class Sums>
FMBEM_HD FMBEM_INLINE void add_mutual_pair(const Radial<V>& radial, T q_y, const V& q_x,
                                           const Vec3<V>& d, Sums& at_x, Sums& at_y) {
  if constexpr (Potential) {
    at_x.potential += q_y * radial.g;
    at_y.potential += q_x * radial.g;
  }
  if constexpr (Gradient) {
    const V ga = radial.g * radial.a(), f_x = q_y * ga, f_y = q_x * ga;
    at_x.x -= f_x * d.x;
    at_x.y -= f_x * d.y;
    at_x.z -= f_x * d.z;
    at_y.x += f_y * d.x;
    at_y.y += f_y * d.y;
    at_y.z += f_y * d.z;
  }
}

}  // namespace fmbem::fmm
