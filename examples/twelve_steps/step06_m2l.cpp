// Step 6: from box to box. A box's moments become a local expansion of another (M2L), so N charges
// act on N targets in O(N p² + p⁴): P2M, M2L, L2P. T_k^l(r + x) = Σ (−1)^n conj(U_n^m(x))
// T_{n+k}^{m+l}(r), r from the centre of the charges to that of the targets.
#include "expansions.hpp"

int main() {
  const Vec3d r{2, 1, 0};
  const Charges c = charges_in_cube(4000, {-0.5, -0.5, -0.5}, 1, 1);
  const std::vector<Vec3d> targets = charges_in_cube(4000, r - Vec3d{0.5, 0.5, 0.5}, 1, 3).x;
  bool good = true;
  double last = 1;
  for (const int p : {2, 6, 12}) {
    const double start = now();
    Expansion moments(p), local(p);
    for (std::size_t j = 0; j < c.x.size(); ++j) p2m(moments, c.q[j], c.x[j]);
    m2l(local, moments, irregular(r, 2 * p));
    std::vector<double> u(targets.size());
    for (std::size_t i = 0; i < targets.size(); ++i) u[i] = l2p(local, targets[i] - r);
    const double error = error_of(u, targets, c);
    good =
        tell("P2M, M2L, L2P of order " + std::to_string(p), error, last / 5, now() - start) && good;
    last = error;
  }
  return !good;
}
