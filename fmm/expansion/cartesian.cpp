#include "fmbem/fmm/expansion/cartesian.hpp"

#include <cmath>

#include "fmbem/fmm/expansion/harmonics.hpp"

namespace fmbem::fmm {
namespace {

/// A polynomial of degree ≤ p, by its monomials.
class Polynomial {
 public:
  explicit Polynomial(int p, double constant = 0) : p_(p), values_(monomial_count(p)) {
    values_[monomial_index(p, 0, 0, 0)] = constant;
  }

  double operator[](int monomial) const { return values_[monomial]; }
  /// Adds factor x^a y^b z^c f; what is beyond degree p is left out.
  void add(double factor, int a, int b, int c, const Polynomial& f) {
    for (int i = 0; i + a <= p_; ++i)
      for (int j = 0; i + a + j + b <= p_; ++j)
        for (int k = 0; i + a + j + b + k + c <= p_; ++k)
          values_[monomial_index(p_, i + a, j + b, k + c)] +=
              factor * f[monomial_index(p_, i, j, k)];
  }

 private:
  int p_;
  std::vector<double> values_;
};

}  // namespace

std::vector<CartesianTerm> cartesian_terms(const ParityOrder& order) {
  const int p = order.p;
  std::vector<CartesianTerm> terms;
  const auto add_terms = [&](int n, int m, const Polynomial& harmonic) {
    for (int k = 0; k < monomial_count(p); ++k)
      if (harmonic[k] != 0) terms.push_back({order.position[harmonic_index(n, m)], k, harmonic[k]});
  };
  // The recurrences of harmonics.hpp, of polynomials.
  Polynomial c(p, 1), s(p);
  for (int m = 0; m <= p; ++m) {
    if (m > 0) {
      const double scale = -std::sqrt(m == 1 ? 1.0 : (2.0 * m - 1) / (2.0 * m));
      Polynomial next_c(p), next_s(p);
      next_c.add(scale, 1, 0, 0, c);
      next_c.add(-scale, 0, 1, 0, s);
      next_s.add(scale, 0, 1, 0, c);
      next_s.add(scale, 1, 0, 0, s);
      c = next_c;
      s = next_s;
    }
    for (const int sign : {1, -1}) {
      if (m == 0 && sign < 0) continue;
      Polynomial low(p), here = sign > 0 ? c : s;
      for (int n = m; n <= p; ++n) {
        add_terms(n, sign * m, here);
        const double up = std::sqrt((n + 1.0) * (n + 1.0) - m * m),
                     down = std::sqrt(static_cast<double>(n * n - m * m));
        Polynomial next(p);
        next.add((2 * n + 1) / up, 0, 0, 1, here);
        next.add(-down / up, 2, 0, 0, low);
        next.add(-down / up, 0, 2, 0, low);
        next.add(-down / up, 0, 0, 2, low);
        low = here;
        here = next;
      }
    }
  }
  return terms;
}

}  // namespace fmbem::fmm
