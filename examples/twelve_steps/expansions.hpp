// Expansions in solid harmonics, as steps 4 to 6 explain them, for those after.
#pragma once

#include "harmonics.hpp"

/// P2M: adds a charge at x from the centre. M_n^m = Σ q U_n^m.
inline void p2m(Expansion& moments, double q, Vec3d x) {
  const Expansion u = regular(x, moments.p);
  for (std::size_t k = 0; k < u.values.size(); ++k) moments.values[k] += q * u.values[k];
}
/// M2P: the potential at x from the centre.
inline double m2p(const Expansion& moments, Vec3d x) {
  return product(irregular(x, moments.p), moments);
}
/// M2M: adds moments about a centre at t from the new one. U(x + t) = Σ U(x) U(t).
inline void m2m(Expansion& to, const Expansion& from, Vec3d t) {
  const Expansion u = regular(t, to.p);
  for (int n = 0; n <= to.p; ++n)
    for (int m = 0; m <= n; ++m)
      for (int k = 0; k <= n; ++k)
        for (int l = -k; l <= k; ++l) to.at(n, m) += from(k, l) * u(n - k, m - l);
}
/// M2L: adds moments as a local expansion Σ L_n^m conj(U_n^m(x)); r is its centre from theirs.
inline void m2l(Expansion& local, const Expansion& moments, const Expansion& t_of_r) {
  for (int n = 0; n <= local.p; ++n)
    for (int m = 0; m <= n; ++m) {
      Complex sum = 0;
      for (int k = 0; k <= moments.p; ++k)
        for (int l = -k; l <= k; ++l) sum += std::conj(moments(k, l)) * t_of_r(n + k, m + l);
      local.at(n, m) += n % 2 ? -sum : sum;
    }
}
/// L2L: adds a local expansion about another centre, which is at t from the old one.
inline void l2l(Expansion& to, const Expansion& from, Vec3d t) {
  const Expansion u = regular(t, to.p);
  for (int k = 0; k <= to.p; ++k)
    for (int l = 0; l <= k; ++l)
      for (int n = k; n <= from.p; ++n)
        for (int m = -n; m <= n; ++m) to.at(k, l) += from(n, m) * std::conj(u(n - k, m - l));
}
/// L2P: the potential at x from the centre.
inline double l2p(const Expansion& local, Vec3d x) { return product(local, regular(x, local.p)); }
