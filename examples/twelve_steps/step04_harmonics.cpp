// Step 4: any order. 1/|x − y| = Σ_nm conj(U_n^m(y)) T_n^m(x) for |y| < |x|: of the
// (p+1)(p+2)(p+3)/6 moments of Taylor's series to order p only (p+1)² are independent, because 1/r
// is harmonic. What is left out is a geometric series in θ = radius/distance: at most θ^(p+1)/(1 −
// θ) Σ|q|/distance.
#include "expansions.hpp"

int main() {
  const Charges c = charges_in_cube(1000, {-0.5, -0.5, -0.5}, 1, 1);
  const Vec3d x{2.5, 0.3, -0.4};
  const double theta = 0.5 * std::sqrt(3.0) / norm(x), exact = exact_potential(c, x);
  double charge = 0;
  for (const double q : c.q) charge += std::abs(q);
  bool good = true;
  for (const int p : {1, 2, 4, 8, 16}) {
    const double start = now();
    Expansion moments(p);
    for (std::size_t j = 0; j < c.x.size(); ++j) p2m(moments, c.q[j], c.x[j]);
    const double error = std::abs(m2p(moments, x) - exact), seconds = now() - start;
    const double bound = std::pow(theta, p + 1) / (1 - theta) * charge / norm(x);
    good = tell("order " + std::to_string(p), error, bound, seconds) && good;
  }
  return !good;
}
