#include "fmbem/fmm/expansion/translations.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <vector>

#include "fmbem/fmm/expansion/harmonics.hpp"
#include "fmbem/fmm/expansion/m2l_blocks.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/fmm/oracles.hpp"
#include "tests/unit/fmm/parity.hpp"
#include "tests/unit/larger_error.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test::translations_tests {

using fmm::ParityOrder;

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// π_c(g)
double sign(int c, int g) { return std::popcount(static_cast<unsigned>(c & g)) % 2 ? -1 : 1; }

/// Mirrored in the axes whose bits are set in g.
Vec3d mirrored(Vec3d a, int g) {
  return {g & 4 ? -a.x : a.x, g & 2 ? -a.y : a.y, g & 1 ? -a.z : a.z};
}

Vec3d orbit_centre(int orbit) {
  return {fmm::orbit_axis(orbit, 0), fmm::orbit_axis(orbit, 1), fmm::orbit_axis(orbit, 2)};
}

double largest_coordinate(Vec3d r) {
  return std::max({std::abs(r.x), std::abs(r.y), std::abs(r.z)});
}

/// Largest entry for each pair of degrees, [p+1][p+1]: they differ by many powers of ten.
void take_largest(const ParityOrder& order, const Matrix& a, std::vector<double>& largest) {
  largest.resize((order.p + 1) * (order.p + 1));
  for (int i = 0; i < order.count; ++i)
    for (int j = 0; j < order.count; ++j) {
      double& entry = largest[order.degree[i] * (order.p + 1) + order.degree[j]];
      entry = larger_error(entry, std::abs(a[i * order.count + j]));
    }
}

/// Largest |a − b| over `scale`, for each pair of degrees; where the scale is zero both have to be
/// zero.
double difference(const ParityOrder& order, const Matrix& a, const Matrix& b,
                  const std::vector<double>& scale) {
  double largest = 0;
  for (int i = 0; i < order.count; ++i)
    for (int j = 0; j < order.count; ++j) {
      const int at = i * order.count + j;
      if (a[at] != b[at])
        largest =
            larger_error(largest, std::abs(a[at] - b[at]) /
                                      scale[order.degree[i] * (order.p + 1) + order.degree[j]]);
    }
  return largest;
}

/// D [K·K] with ∂_axis S = D S, from what is linear in the shift.
Matrix derivative_oracle(const ParityOrder& order, int axis) {
  Vec3d unit;
  unit[axis] = 1;
  Matrix D = matrix_by_parity(order, m2m_oracle(unit, 1, order.p));
  for (int i = 0; i < order.count; ++i)
    for (int j = 0; j < order.count; ++j)
      if (order.degree[j] != order.degree[i] - 1) D[i * order.count + j] = 0;
  return D;
}

/// The eight M2L blocks [K·K] of an orbit.
std::array<Matrix, 8> m2l_blocks(const ParityOrder& order, int orbit) {
  std::array<Matrix, 8> blocks;
  const int orbits[] = {orbit};
  for (Matrix& block : blocks) block.resize(order.count * order.count);
  make_m2l_blocks(fmm::Laplace(), order, fmm::M2l::truncated, orbits,
                  [&](const fmm::M2lRows& part) { copy_rows(order, part, blocks[part.e]); });
  return blocks;
}

}  // namespace

TEST_CASE("parity order is a permutation, class by class") {
  const int p = GENERATE(0, 1, 4, 12);
  const ParityOrder order(p);
  CHECK(order.p == p);
  REQUIRE(order.count == (p + 1) * (p + 1));
  std::vector<bool> taken(order.count);
  for (int n = 0; n <= p; ++n) {
    for (int m = -n; m <= n; ++m) {
      const int i = order.position[fmm::harmonic_index(n, m)];
      CHECK(!taken[i]);
      taken[i] = true;
      CHECK(order.degree[i] == n);
      CHECK(order.azimuth[i] == m);
      CHECK(order.parity[i] == fmm::parity_class(n, m));
    }
  }
  CHECK(order.begin[0] == 0);
  CHECK(order.begin[8] == order.count);
  for (int e = 0; e < 8; ++e)
    for (int i = order.begin[e]; i < order.begin[e + 1]; ++i) {
      CHECK(order.parity[i] == e);
      if (i > order.begin[e]) {
        CHECK(order.degree[i] >= order.degree[i - 1]);
        CHECK((order.degree[i] > order.degree[i - 1] || order.azimuth[i] > order.azimuth[i - 1]));
      }
    }
}

TEST_CASE("harmonics of a class change sign with the axes whose bits it has") {
  const int p = 12;
  for (const Vec3d& x : cube_points(5, 1)) {
    const auto s = harmonics_oracle(x, p);
    for (int g = 1; g < 8; ++g) {
      const auto image = harmonics_oracle(mirrored(x, g), p);
      for (int n = 0; n <= p; ++n)
        for (int m = -n; m <= n; ++m) {
          const int i = fmm::harmonic_index(n, m);
          // Both are rounded once; what is lost before that, in long double, does not count.
          CHECK(std::abs(image[i] - sign(fmm::parity_class(n, m), g) * s[i]) <=
                epsilon * std::pow(norm(x), n));
        }
    }
  }
}

TEST_CASE("M2M of every child from its blocks") {
  const int p = GENERATE(0, 1, 4, 8, 12);
  const ParityOrder order(p);
  const auto blocks = fmm::upward_blocks(order);
  for (int g = 0; g < 8; ++g) {
    Matrix T;
    for (int e = 0; e < 8; ++e) {
      REQUIRE(blocks.block[e].size() ==
              static_cast<std::size_t>(order.begin[e + 1] - order.begin[e]) * order.count);
      for (std::size_t at = 0; at < blocks.block[e].size(); ++at)
        T.push_back(sign(e, g) * blocks.block[e][at] * sign(order.parity[at % order.count], g));
    }
    const auto oracle =
        matrix_by_parity(order, m2m_oracle(mirrored({0.25, 0.25, 0.25}, g), 0.5, p));
    std::vector<double> scale;
    take_largest(order, oracle, scale);
    CHECK(difference(order, T, oracle, scale) < 1e-13);
  }
}

TEST_CASE("L2L is half the transpose of M2M") {
  const int p = GENERATE(0, 1, 4, 8, 12);
  const ParityOrder order(p);
  const int K = order.count;
  const auto blocks = fmm::upward_blocks(order);
  const auto parent = signed_charges(K, 2);
  std::array<std::vector<double>, 8> Y;
  for (int e = 0; e < 8; ++e) {
    Y[e].resize(K);
    for (int i = order.begin[e]; i < order.begin[e + 1]; ++i)
      for (int j = 0; j < K; ++j)
        Y[e][j] += 0.5 * blocks.block[e][(i - order.begin[e]) * K + j] * parent[i];
  }
  // u = Σ L_i S_i(x) / side takes the same values in parent and child.
  for (int g = 0; g < 8; ++g) {
    std::vector<double> child(K);
    for (int e = 0; e < 8; ++e)
      for (int j = 0; j < K; ++j) child[j] += sign(e, g) * sign(order.parity[j], g) * Y[e][j];
    for (const Vec3d& corner : cube_points(10, 3)) {
      const Vec3d x = corner - Vec3d{0.5, 0.5, 0.5};
      const Vec3d x_parent = 0.5 * x + mirrored({0.25, 0.25, 0.25}, g);
      const auto s = by_parity(order, harmonics_oracle(x, p));
      const auto s_parent = by_parity(order, harmonics_oracle(x_parent, p));
      double from_child = 0, from_parent = 0, size = 0;
      for (int i = 0; i < K; ++i) {
        from_child += 2 * child[i] * s[i];
        from_parent += parent[i] * s_parent[i];
        // |x|/2 + |t| is at most ¾^½, and so is every |S_i| and what it is made up of.
        size += std::abs(parent[i]) * std::pow(std::sqrt(0.75), order.degree[i]);
      }
      CHECK(std::abs(from_child - from_parent) < 1e-13 * size);
    }
  }
}

TEST_CASE("M2L of every pair from the blocks of its orbit", "[long][cases]") {
  const int p = GENERATE(0, 1, 4, 8, 12);
  if (sanitized && p > 8) return;
  const ParityOrder order(p);
  const int K = order.count;
  std::map<std::array<int, 3>, Matrix> oracles;  // by distance, in sides
  const auto oracle = [&](Vec3d r) -> const Matrix& {
    Matrix& T = oracles[{static_cast<int>(r.x), static_cast<int>(r.y), static_cast<int>(r.z)}];
    if (T.empty())
      T = largest_coordinate(r) < 1.5 ? Matrix(K * K) : matrix_by_parity(order, m2l_oracle(r, p));
    return T;
  };
  for (int orbit = 0; orbit < fmm::orbits; ++orbit) {
    const auto blocks = m2l_blocks(order, orbit);
    // Blocks are sums over the orbit, so the nearest of its pairs sets the scale.
    std::vector<double> scale;
    for (int h = 0; h < 8; ++h)
      take_largest(order, oracle(Vec3d{0.5, 0.5, 0.5} - mirrored(orbit_centre(orbit), h)), scale);
    std::array<Matrix, 8> sums;  // Σ_e π_e(w) block[e]
    for (int w = 0; w < 8; ++w) {
      sums[w].resize(K * K);
      for (int e = 0; e < 8; ++e) {
        for (int at = 0; at < K * K; ++at) sums[w][at] += sign(e, w) * blocks[e][at];
      }
    }
    for (int g = 0; g < 8; ++g) {    // target child
      for (int h = 0; h < 8; ++h) {  // source box
        Matrix T = sums[g ^ h];
        for (int i = 0; i < K; ++i)
          for (int j = 0; j < K; ++j)
            T[i * K + j] *= sign(order.parity[i], g) * sign(order.parity[j], h);
        const Vec3d r = mirrored({0.5, 0.5, 0.5}, g) - mirrored(orbit_centre(orbit), h);
        CHECK(difference(order, T, oracle(r), scale) < 1e-13);
      }
    }
  }
}

TEST_CASE("M2L of an orbit by one table of harmonics is that of its displacements") {
  const int orbit = GENERATE(1, 13, 26);
  const ParityOrder order(9);
  const fmm::M2lOrbit m2l(order, orbit);
  const auto blocks = m2l_blocks(order, orbit);
  std::vector<double> scale;
  for (int h = 0; h < 8; ++h) {
    const Vec3d r = Vec3d{0.5, 0.5, 0.5} - mirrored(orbit_centre(orbit), h);
    if (largest_coordinate(r) > 1.5)
      take_largest(order, matrix_by_parity(order, m2l_oracle(r, order.p)), scale);
  }
  Matrix block(order.count * order.count);
  for (int e = 0; e < 8; ++e) {
    m2l.block(e, block.data());
    CHECK(difference(order, block, blocks[e], scale) < 1e-13);
  }
}

TEST_CASE("M2L by blocks is M2L by rotation") {
  const int p = GENERATE(1, 6, 15);
  const int orbit = GENERATE(1, 13, 26);
  const ParityOrder order(p);
  const int K = order.count;
  const auto blocks = m2l_blocks(order, orbit);
  std::array<std::vector<double>, 8> M, M_mirrored;
  for (int h = 0; h < 8; ++h) {
    // Those of charges have |M_i| of the order of ¾^(n/2).
    M[h] = signed_charges(K, 10 + h);
    for (int n = 0; n <= p; ++n)
      for (int i = fmm::harmonic_index(n, -n); i <= fmm::harmonic_index(n, n); ++i)
        M[h][i] *= std::pow(0.75, 0.5 * n);
    M_mirrored[h] = by_parity(order, M[h]);
    for (int i = 0; i < K; ++i) M_mirrored[h][i] *= sign(order.parity[i], h);
  }
  std::array<std::vector<double>, 8> L;  // by block
  for (int e = 0; e < 8; ++e) {
    L[e].resize(K);
    for (int j = 0; j < K; ++j) {
      double M_e = 0;
      for (int h = 0; h < 8; ++h) M_e += sign(e, h) * M_mirrored[h][j];
      for (int i = 0; i < K; ++i) L[e][i] += blocks[e][i * K + j] * M_e;
    }
  }
  // An entry for the degrees n and k is at most binomial(n+k, n)/|r|^(n+k+1) (see
  // oracles_agree.cpp) and no |r| of the orbit is below `nearest`.
  double nearest = std::numeric_limits<double>::infinity();
  for (int h = 0; h < 8; ++h) {
    const Vec3d r = Vec3d{0.5, 0.5, 0.5} - mirrored(orbit_centre(orbit), h);
    if (largest_coordinate(r) > 1.5) nearest = std::min(nearest, norm(r));
  }
  std::vector<double> size(p + 1);
  for (int n = 0; n <= p; ++n) {
    double binomial = 1;  // of n + k over n
    for (int k = 0; k <= p; binomial *= (n + k + 1.0) / (k + 1), ++k)
      for (int h = 0; h < 8; ++h) {
        double moments = 0;
        for (int i = fmm::harmonic_index(k, -k); i <= fmm::harmonic_index(k, k); ++i)
          moments = std::hypot(moments, M[h][i]);
        size[n] += binomial * moments / std::pow(nearest, n + k + 1);
      }
  }
  for (int g = 0; g < 8; ++g) {
    std::vector<double> expected(K);
    for (int h = 0; h < 8; ++h) {
      const Vec3d r = mirrored({0.5, 0.5, 0.5}, g) - mirrored(orbit_centre(orbit), h);
      if (largest_coordinate(r) < 1.5) continue;
      const auto one = m2l_by_rotation(r, p, M[h]);
      for (int i = 0; i < K; ++i) expected[i] += one[i];
    }
    expected = by_parity(order, expected);
    for (int i = 0; i < K; ++i) {
      double sum = 0;
      for (int e = 0; e < 8; ++e) sum += sign(e, g) * sign(order.parity[i], g) * L[e][i];
      CHECK(std::abs(sum - expected[i]) < 1e-13 * size[order.degree[i]]);
    }
  }
}

TEST_CASE("derivatives of the harmonics are the linear part of their shifts") {
  const int p = GENERATE(0, 1, 4, 8, 12);
  const ParityOrder order(p);
  const auto derivatives = fmm::derivatives(order);
  for (int axis = 0; axis < 3; ++axis) {
    Matrix D(order.count * order.count);
    std::vector<int> terms_from(order.count), terms_to(order.count);
    for (const fmm::Derivative& d : derivatives[axis]) {
      CHECK(++terms_from[d.from] <= fmm::terms_of_a_derivative);
      CHECK(++terms_to[d.to] <= fmm::terms_of_a_derivative);
      CHECK(D[d.from * order.count + d.to] == 0);  // one entry for each pair
      D[d.from * order.count + d.to] = d.value;
    }
    const Matrix oracle = derivative_oracle(order, axis);
    // Entries are at most n, from two norms √((n−m)!(n+m)!), products of 2n roots at 1 ε each.
    for (std::size_t i = 0; i < D.size(); ++i)
      CHECK(std::abs(D[i] - oracle[i]) <= 4 * p * epsilon * p);
  }
}

TEST_CASE("derivatives of the harmonics are the limits of differences") {
  const int p = 8;
  const double h = 1e-4;
  const ParityOrder order(p);
  const auto derivatives = fmm::derivatives(order);
  for (const Vec3d& x : cube_points(5, 4)) {
    const auto s = by_parity(order, harmonics_oracle(x, p));
    for (int axis = 0; axis < 3; ++axis) {
      Vec3d step;
      step[axis] = h;
      const auto above = by_parity(order, harmonics_oracle(x + step, p));
      const auto below = by_parity(order, harmonics_oracle(x - step, p));
      std::vector<double> slope(order.count);
      for (const fmm::Derivative& d : derivatives[axis]) slope[d.from] += d.value * s[d.to];
      for (int i = 0; i < order.count; ++i) {
        // The third derivative is at most n(n−1)(n−2) |x|^(n−3): the harmonic polarised (Banach
        // 1938). Rounding: of the values, of x ± h.
        const int n = order.degree[i];
        const double size = norm(x) + h;
        const double third = n < 3 ? 0 : n * (n - 1) * (n - 2) * std::pow(size, n - 3);
        const double rounding = epsilon * (std::pow(size, n) + n * std::pow(size, n)) / h;
        CHECK(std::abs(slope[i] - (above[i] - below[i]) / (2 * h)) <= h * h / 6 * third + rounding);
      }
    }
  }
}

}  // namespace fmbem::test::translations_tests
