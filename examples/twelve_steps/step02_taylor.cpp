// Step 2: charges that are far away act as one. Taylor's series of 1/|X − d| in d, about the middle
// of the charges: their sum (monopole), Σ q d (dipole) and Σ q d dᵀ / 2 (quadrupole) are enough.
#include <array>

#include "step.hpp"

int main() {
  const Charges c = charges_in_cube(2000, {-0.5, -0.5, -0.5}, 1, 1);
  const std::vector<Vec3d> targets = charges_in_cube(2000, {2, -0.5, -0.5}, 1, 3).x;
  double last = 1;
  bool good = true;
  for (int order = 0; order <= 2; ++order) {
    const double start = now();
    double monopole = 0, quadrupole[3][3] = {};
    Vec3d dipole;
    for (std::size_t j = 0; j < c.x.size(); ++j) {  // P2M: each charge once
      monopole += c.q[j];
      dipole += c.q[j] * c.x[j];
      for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) quadrupole[a][b] += c.q[j] * c.x[j][a] * c.x[j][b] / 2;
    }
    std::vector<double> u(targets.size());
    for (std::size_t i = 0; i < targets.size(); ++i) {  // M2P: each target once
      const Vec3d X = targets[i];
      const double R = norm(X), R3 = R * R * R, R5 = R3 * R * R;
      u[i] = monopole / R;
      if (order >= 1) u[i] += dot(dipole, X) / R3;
      for (int a = 0; order >= 2 && a < 3; ++a)
        for (int b = 0; b < 3; ++b)
          u[i] += quadrupole[a][b] * (3 * X[a] * X[b] / R5 - (a == b ? 1 / R3 : 0));
    }
    // Each order gains a power of the ratio of the charges' radius (0.87) to the distance (2 … 3).
    const double error = error_of(u, targets, c);
    good =
        tell("Taylor series of order " + std::to_string(order), error, last, now() - start) && good;
    last = error;
  }
  return !good;
}
