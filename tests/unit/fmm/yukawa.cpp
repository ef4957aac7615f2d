#include "fmbem/fmm/kernel/yukawa.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "fmbem/fmm/cpu/pass.hpp"
#include "fmbem/fmm/expansion/harmonics.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/fmm/instruction_sets.hpp"
#include "tests/unit/larger_error.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test::yukawa_tests {

using fmm::Laplace;
using fmm::Yukawa;

namespace {

/// Numbers in columns: coordinates, charges, dipoles.
using Columns = std::array<std::vector<double>, 7>;

Columns random_columns(int n, double half_side, std::uint64_t seed) {
  Uniform uniform(seed);
  Columns columns;
  for (std::size_t k = 0; k < columns.size(); ++k)
    for (int i = 0; i < n; ++i)
      columns[k].push_back(k < 3 ? uniform(-half_side, half_side) : uniform(-1, 1));
  return columns;
}

/// Σ q e^{−κr}/r + p·d (1 + κr) e^{−κr}/r³
long double direct(long double kappa, const Columns& y, bool dipoles, const long double* x) {
  long double sum = 0;
  for (std::size_t j = 0; j < y[0].size(); ++j) {
    const long double d[] = {x[0] - y[0][j], x[1] - y[1][j], x[2] - y[2][j]};
    const long double r = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    const long double along = y[4][j] * d[0] + y[5][j] * d[1] + y[6][j] * d[2];
    sum +=
        std::exp(-kappa * r) / r * (y[3][j] + (dipoles ? along * (1 + kappa * r) / (r * r) : 0.0L));
  }
  return sum;
}

template <class Kernel>
void check_radial(Kernel kernel, double r) {
  const auto derivative = [&](int order, double at) {
    const auto f = kernel.radial(at * at, 1 / at);
    const double ga = f.g * f.a();
    return order == 0   ? f.g
           : order == 1 ? ga
           : order == 2 ? ga * f.a() * f.b()
                        : ga * f.a() * f.b() * (f.a() * f.c());
  };
  const double h = 1e-5 * r;
  for (int order = 0; order < 3; ++order)
    CHECK(
        derivative(order + 1, r) ==
        Approx((derivative(order, r - h) - derivative(order, r + h)) / (2 * h * r)).epsilon(1e-8));
}

template <class Kernel>
std::vector<double> moments_of(const fmm::PairKernels<double, Kernel>& pairs, Kernel kernel, int p,
                               const Columns& y) {
  const fmm::HarmonicTable<double> table{fmm::ParityOrder(p)};
  std::vector<double> moments(table.slots());
  pairs.p2m(kernel, fmm::steps_of(table), 1, static_cast<int>(y[0].size()), y[0].data(),
            y[1].data(), y[2].data(), y[3].data(), moments.data());
  return moments;
}

/// Σ_i M_i S_i(x) h_n(κ|x|)/|x|^{2n+1}, h_n(z) = z^{n+1} k_n(z)/(2n−1)!!: h_0 = e^{−z},
/// h_1 = (1 + z) e^{−z}, h_{n+1} = h_n + z² h_{n−1}/((2n−1)(2n+1)) [DLMF 10.51].
double far_potential(const std::vector<double>& moments, double kappa, int p, Vec3d x) {
  const double r = norm(x), z = kappa * r;
  std::vector<double> h{std::exp(-z), (1 + z) * std::exp(-z)}, s(fmm::harmonic_count(p));
  for (int n = 1; n < p; ++n) h.push_back(h[n] + z * z * h[n - 1] / ((2 * n - 1) * (2 * n + 1)));
  fmm::regular_harmonics(x, p, s.data());
  double sum = 0;
  for (int m = 0, t = 0; m <= p; ++m)
    for (int n = m; n <= p; ++n, ++t)
      sum += h[n] / std::pow(r, 2 * n + 1) *
             (moments[2 * t] * s[fmm::harmonic_index(n, m)] +
              (m > 0 ? moments[2 * t + 1] * s[fmm::harmonic_index(n, -m)] : 0));
  return sum;
}

}  // namespace

TEST_CASE("radial derivatives are those of finite differences") {
  for (const double r : {0.01, 0.7, 3.0}) {
    check_radial(Laplace(), r);
    for (const double kappa : {1e-3, 1.0, 5.0}) check_radial(Yukawa{kappa}, r);
  }
}

TEST_CASE("polynomials for powers of two are as accurate as the rest of their Chebyshev series") {
  const auto worst = [](auto powers, int degree) {
    double error = 0;
    for (int i = -500; i <= 500; ++i) {
      const double f = i / 1000.0;
      double power = 0;
      for (int n = degree; n >= 0; --n) power = powers.coefficient[n] + power * f;
      error = larger_error(error, std::abs(power / std::exp2(f) - 1));
    }
    // The first term that is left out, 2 I_{d+1}(a), and less than a tenth of it; over 2^f.
    return error / (1.1 * std::sqrt(2.0) * 2 * std::pow(0.25 * std::log(2.0), degree + 1) /
                    std::tgamma(degree + 2.0));
  };
  CHECK(worst(fmm::PowersOfTwo<double, 4>(), 4) < 1);
  CHECK(worst(fmm::PowersOfTwo<double, 6>(), 6) < 1);
  CHECK(worst(fmm::PowersOfTwo<double, 8>(), 8) < 1);
}

TEST_CASE("exponentials in registers are those of the library, and 0 where they underflow") {
  typedef double Doubles __attribute__((vector_size(16)));
  typedef float Floats __attribute__((vector_size(16)));
  const auto check = [](double r, double rate) {
    const double exact = std::exp(-rate * r);
    CAPTURE(r, rate);
    // The rounding of the exponent, κr/ln 2, counts as often as it is large.
    const double digits = 3e-16 * (2 + rate * r), few_digits = 2e-7 * (2 + rate * r);
    CHECK(fmm::decay<3>(rate, Doubles{r, r})[1] == Approx(exact).epsilon(digits).margin(1e-300));
    CHECK(fmm::decay<2>(rate, Doubles{r, r})[0] == Approx(exact).epsilon(2e-12).margin(1e-300));
    CHECK(fmm::decay<1>(rate, Doubles{r, r})[0] == Approx(exact).epsilon(4e-9).margin(1e-300));
    const auto x = static_cast<float>(r);
    CHECK(fmm::decay<1>(rate, Floats{x, x, x, x})[3] ==
          Approx(exact).epsilon(few_digits).margin(1e-36));
    CHECK(fmm::decay<0>(rate, Floats{x, x, x, x})[3] ==
          Approx(exact).epsilon(4e-6 + few_digits).margin(1e-36));
  };
  for (const double r : {0.0, 0.25, 1.0, 3.0})
    for (const double rate : {0.0, 1e-3, 0.7, 9.0, 25.0, 200.0}) check(r, rate);
  for (const double rate : {1e3, 1e10, 1e30}) CHECK(fmm::decay(rate, Doubles{1, 1})[0] == 0);
  CHECK(fmm::decay<0>(200, Floats{1, 1, 1, 1})[0] == 0);
}

TEST_CASE("Yukawa's near field is that of the direct sum, and Laplace's as κ vanishes") {
  const Columns y = random_columns(37, 1, 1);
  for (const auto& [kernels, pairs] : all_kernels<double, Yukawa>()) {
    INFO(kernels.name);
    const int n = 3 * kernels.lanes;
    const Columns x = random_columns(n, 1, 2);
    for (const double kappa : {1e-17, 0.3, 4.0}) {
      for (const bool dipoles : {false, true}) {
        std::vector<double> u(n), gx(n), gy(n), gz(n);
        pairs.near(Yukawa{kappa}, 1, 3,
                   {37, y[0].data(), y[1].data(), y[2].data(), y[3].data(),
                    dipoles ? y[4].data() : nullptr, y[5].data(), y[6].data()},
                   {n, x[0].data(), x[1].data(), x[2].data(), u.data(), gx.data(), gy.data(),
                    gz.data(), nullptr});
        for (int i = 0; i < n; ++i) {
          long double at[] = {x[0][i], x[1][i], x[2][i]};
          CHECK(u[i] == Approx(double(direct(kappa, y, dipoles, at))).epsilon(1e-12));
          for (int k = 0; k < 3; ++k) {
            const long double h = 1e-5L, here = at[k];
            at[k] = here + h;
            const long double above = direct(kappa, y, dipoles, at);
            at[k] = here - h;
            const double slope = double((above - direct(kappa, y, dipoles, at)) / (2 * h));
            at[k] = here;
            CHECK((k == 0 ? gx : k == 1 ? gy : gz)[i] == Approx(slope).epsilon(1e-7).margin(1e-7));
          }
        }
      }
    }
  }
}

TEST_CASE("Yukawa's moments give the field far away, and are Laplace's as κ vanishes") {
  constexpr int p = 24;
  for (const auto& [kernels, pairs] : all_kernels<double, Yukawa>()) {
    INFO(kernels.name);
    const Columns y = random_columns(40, 0.5, 3);  // whole registers of every set
    for (const double kappa : {1e-9, 0.3, 4.0, 8.0}) {
      const auto moments = moments_of(pairs, Yukawa{kappa}, p, y);
      const long double x[] = {2.4L, -1.9L, 2.2L};
      CHECK(far_potential(moments, kappa, p, {2.4, -1.9, 2.2}) ==
            Approx(double(direct(kappa, y, false, x))).epsilon(1e-10));
    }
    const auto limit = moments_of(pairs, Yukawa{1e-12}, p, y),
               laplace = moments_of(fmm::pair_kernels<double, Laplace>(), Laplace(), p, y);
    for (std::size_t k = 0; k < limit.size(); ++k)
      CHECK(limit[k] == Approx(laplace[k]).epsilon(1e-12).margin(1e-14));
  }
}

}  // namespace fmbem::test::yukawa_tests
