// Step 5: the other way round. Charges that are far act on a box of targets by a local expansion
// about its centre: the same series with x and y exchanged. L_n^m = Σ q T_n^m(y) (P2L), and the
// potential at each target is Σ L_n^m conj(U_n^m(x)) (L2P): p² operations, however many charges.
#include "expansions.hpp"

int main() {
  const Charges c = charges_in_cube(2000, {2, -0.5, -0.5}, 1, 1);
  const std::vector<Vec3d> targets = charges_in_cube(2000, {-0.5, -0.5, -0.5}, 1, 3).x;
  bool good = true;
  double last = 1;
  for (const int p : {2, 5, 10}) {
    const double start = now();
    Expansion local(p);
    for (std::size_t j = 0; j < c.x.size(); ++j) {
      const Expansion t = irregular(c.x[j], p);
      for (std::size_t k = 0; k < t.values.size(); ++k) local.values[k] += c.q[j] * t.values[k];
    }
    std::vector<double> u(targets.size());
    for (std::size_t i = 0; i < targets.size(); ++i) u[i] = l2p(local, targets[i]);
    const double error = error_of(u, targets, c);
    good = tell("local expansion of order " + std::to_string(p), error, last / 5, now() - start) &&
           good;
    last = error;
  }
  return !good;
}
