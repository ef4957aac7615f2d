// Step 1: the sum as it stands. Every target looks at every charge: N² pairs.
#include "step.hpp"

int main() {
  const Charges c = charges_in_cube(3000, {0, 0, 0}, 1, 1);
  std::vector<double> u(c.x.size());
  const double start = now();
  for (std::size_t i = 0; i < c.x.size(); ++i)
    for (std::size_t j = 0; j < c.x.size(); ++j)
      if (i != j) u[i] += c.q[j] / norm(c.x[i] - c.x[j]);
  // Rounding alone: each sum of n terms is off by at most n ε of the terms' sizes.
  return !tell("direct sum of 3000 charges", error_of(u, c.x, c), 1e-12, now() - start);
}
