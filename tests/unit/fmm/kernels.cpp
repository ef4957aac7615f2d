#include "fmbem/fmm/cpu/kernels.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "fmbem/fmm/cpu/pass.hpp"
#include "fmbem/fmm/expansion/harmonics.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/fmm/instruction_sets.hpp"
#include "tests/unit/fmm/oracles.hpp"
#include "tests/unit/larger_error.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test::kernels_tests {

using fmm::HarmonicTable;
using fmm::Laplace;
using fmm::PairKernels;
using fmm::ParityOrder;

namespace {

template <class T>
constexpr double epsilon = std::numeric_limits<T>::epsilon();  // two roundings

template <class T>
class Random {
 public:
  explicit Random(std::uint64_t seed) : uniform_(seed) {}
  T operator()(double low = -1, double high = 1) { return static_cast<T>(uniform_(low, high)); }
  std::vector<T> many(std::size_t n, double low = -1, double high = 1) {
    std::vector<T> values(n);
    for (T& value : values) value = (*this)(low, high);
    return values;
  }

 private:
  Uniform uniform_;
};

double sign(int c, int g) { return std::popcount(static_cast<unsigned>(c & g)) % 2 ? -1 : 1; }

/// Points [count] in the unit cube around the origin, a structure of arrays.
template <class T>
struct Points {
  Points(int count, std::uint64_t seed) {
    Random<T> random(seed);
    for (auto* axis : {&x, &y, &z}) *axis = random.many(count, -0.5, 0.5);
  }
  Vec3d operator[](int i) const { return {x[i], y[i], z[i]}; }

  std::vector<T> x, y, z;
};

/// Error of S_i by the recurrence, over that of one rounding ε |x|^n. A step has up to eight
/// roundings, and a rounding made k degrees before the end comes out at most k times as large.
double steps_error(int p) { return 2.0 * (p + 1) * (p + 1); }

}  // namespace

TEST_CASE("the kernels in use are those of the best instruction set") {
  const auto doubles = all_kernels<double>();
  const auto floats = all_kernels<float>();
  CHECK(&fmm::cpu_kernels<double>() == &doubles.back().kernels);
  CHECK(&fmm::cpu_kernels<float>() == &floats.back().kernels);
  CHECK(&fmm::pair_kernels<double, Laplace>() == &doubles.back().pairs);
  CHECK(&fmm::pair_kernels<float, Laplace>() == &floats.back().pairs);
  for (std::size_t k = 0; k < doubles.size(); ++k) {
    CHECK(floats[k].kernels.name == std::string(doubles[k].kernels.name));
    CHECK(floats[k].kernels.lanes == 2 * doubles[k].kernels.lanes);
  }
}

TEMPLATE_TEST_CASE("products are those of the plain loop", "", double, float) {
  using T = TestType;
  for (const auto& [kernels, pairs] : all_kernels<T>()) {
    INFO(kernels.name);
    const int lanes = kernels.lanes;
    Random<T> random(1);
    for (const int rows : {1, 3, 4, 7, 8, 9, 19}) {
      for (const int columns : {1, lanes - 1, lanes, lanes + 1, 2 * lanes + 1, 3 * lanes,
                                3 * lanes + 1, 5 * lanes - 1, 7 * lanes}) {
        for (const int depth : {0, 1, 2, 7, 33}) {
          const int padded = whole_registers(kernels, columns);
          CHECK((padded >= columns && padded < columns + lanes && padded % lanes == 0));
          const std::int64_t lda = depth + 3, ldc = padded + 5;
          const auto a = random.many(rows * lda);
          const auto transposed = random.many(static_cast<std::size_t>(columns) * depth);
          REQUIRE(packed_size(kernels, columns, depth) ==
                  static_cast<std::int64_t>(padded) * depth);
          std::vector<T> b(padded * depth + 1, T(99));
          pack_panels(kernels, columns, depth,
                      std::vector<double>(transposed.begin(), transposed.end()).data(), 1, depth,
                      b.data());
          CHECK(b.back() == T(99));         // nothing is written beyond
          std::vector<std::int32_t> c_row;  // every other one, from the last
          for (int i = 0; i < rows; ++i) c_row.push_back(2 * (rows - i) - 1);
          const auto before = Random<double>(2).many(2 * rows * ldc);
          auto c = before;
          kernels.multiply(rows, columns, depth, a.data(), lda, b.data(), c.data(), ldc,
                           c_row.data());
          bool rest_is_untouched = true;
          double worst = 0;  // error over its bound
          for (int row = 0; row < 2 * rows; ++row) {
            for (int j = 0; j < ldc; ++j) {
              const std::size_t at = row * ldc + j;
              if (row % 2 == 0 || j >= columns) {
                rest_is_untouched = rest_is_untouched && c[at] == before[at];
                continue;
              }
              const T* a_row = a.data() + (2 * rows - row - 1) / 2 * lda;
              long double sum = before[at], size = std::abs(before[at]);
              for (int k = 0; k < depth; ++k) {
                const long double term =
                    static_cast<long double>(a_row[k]) * transposed[j * depth + k];
                sum += term;
                size += std::abs(term);
              }
              // A product and a sum for each term.
              worst = larger_error(worst, static_cast<double>(std::abs(c[at] - sum) /
                                                              ((depth + 1) * epsilon<T> * size)));
            }
          }
          CHECK(rest_is_untouched);
          CHECK(worst <= 1);
        }
      }
    }
  }
}

TEMPLATE_TEST_CASE("butterflies have the signs of the reflections", "", double, float) {
  using T = TestType;
  for (const auto& [kernels, pairs] : all_kernels<T>()) {
    INFO(kernels.name);
    for (const int p : {0, 1, 5, 12}) {
      const ParityOrder order(p);
      Random<T> random(p);
      std::array<std::vector<T>, 8> in, forward, back, before;
      std::array<std::vector<double>, 8> blocks;
      const T* in_rows[8];
      const double* block_rows[8];
      T *forward_rows[8], *back_rows[8];
      for (int g = 0; g < 8; ++g) {
        in[g] = random.many(order.count);
        blocks[g].assign(in[g].begin(), in[g].end());
        forward[g].resize(order.count);
        back[g] = before[g] = random.many(order.count);
        in_rows[g] = in[g].data();
        block_rows[g] = blocks[g].data();
        forward_rows[g] = forward[g].data();
        back_rows[g] = back[g].data();
      }
      kernels.butterfly(order.begin.data(), order.begin.data(), in_rows, forward_rows);
      kernels.butterfly_back(order.begin.data(), order.begin.data(), block_rows, back_rows);
      for (int k = 0; k < 8; ++k) {
        for (int i = 0; i < order.count; ++i) {
          const int c = order.parity[i];
          double sum = 0, sum_back = before[k][i], size = std::abs(before[k][i]);
          for (int g = 0; g < 8; ++g) {
            sum += sign(k, g) * sign(c, g) * in[g][i];
            sum_back += sign(g, k) * sign(c, k) * in[g][i];
            size += std::abs(in[g][i]);
          }
          // Three sums, one after the other, on the way in, four on the way back; eight in the
          // plain loop.
          CHECK(std::abs(forward[k][i] - sum) <= 8 * epsilon<T> * size);
          CHECK(std::abs(back[k][i] - sum_back) <= 8 * epsilon<T> * size);
        }
      }
    }
  }
}

TEMPLATE_TEST_CASE("moments of points are sums of harmonics", "", double, float) {
  using T = TestType;
  const int p = GENERATE(0, 1, 6, 13);
  const ParityOrder order(p);
  const HarmonicTable<T> table(order);
  const int slots = table.slots();
  for (const auto& [kernels, pairs] : all_kernels<T>()) {
    INFO(kernels.name);
    for (const int registers : {0, 1, 4, 7}) {
      const int count = registers * kernels.lanes;
      const Points<T> points(count, 3);
      std::vector<std::vector<double>> harmonics;
      for (int j = 0; j < count; ++j) harmonics.push_back(harmonics_oracle(points[j], p));
      for (const int channels : {1, 3, 4}) {
        Random<T> random(4);
        const auto weights = random.many(static_cast<std::size_t>(channels) * count);
        const auto before = random.many(static_cast<std::size_t>(channels) * slots);
        auto moments = before;
        pairs.p2m(Laplace(), steps_of(table), channels, count, points.x.data(), points.y.data(),
                  points.z.data(), weights.data(), moments.data());
        for (int k = 0; k < channels; ++k) {
          int slot = k * slots;
          for (int m = 0; m <= p; ++m) {
            for (int n = m; n <= p; ++n) {
              for (const int signed_m : {m, -m}) {
                const bool absent = m == 0 && slot % 2 == 1;  // S_n^0
                double sum = before[slot], size = std::abs(before[slot]);
                for (int j = 0; j < count && !absent; ++j) {
                  const double weight = weights[k * count + j];
                  sum += weight * harmonics[j][fmm::harmonic_index(n, signed_m)];
                  size += std::abs(weight) * std::pow(norm(points[j]), n);
                }
                CHECK(std::abs(moments[slot] - sum) <=
                      (steps_error(n) + count) * epsilon<T> * size);
                ++slot;
              }
            }
          }
        }
      }
    }
  }
}

TEMPLATE_TEST_CASE("values of a local expansion are sums of harmonics", "", double, float) {
  using T = TestType;
  const int p = GENERATE(0, 1, 6, 13);
  const ParityOrder order(p);
  const HarmonicTable<T> table(order);
  const int slots = table.slots();
  for (const auto& [kernels, pairs] : all_kernels<T>()) {
    INFO(kernels.name);
    for (const int registers : {1, 4, 7}) {
      const int count = registers * kernels.lanes;
      const Points<T> points(count, 5);
      for (const int channels : {1, 3, 4}) {
        const auto locals = Random<T>(6).many(static_cast<std::size_t>(channels) * slots);
        std::vector<T> values(static_cast<std::size_t>(channels) * count, T(99));
        pairs.l2p(Laplace(), steps_of(table), channels, count, points.x.data(), points.y.data(),
                  points.z.data(), locals.data(), values.data());
        for (int i = 0; i < count; ++i) {
          const auto harmonics = harmonics_oracle(points[i], p);
          for (int k = 0; k < channels; ++k) {
            double sum = 0, size = 0;
            int slot = k * slots;
            for (int m = 0; m <= p; ++m) {
              for (int n = m; n <= p; ++n, slot += 2) {
                sum += locals[slot] * harmonics[fmm::harmonic_index(n, m)];
                if (m > 0) sum += locals[slot + 1] * harmonics[fmm::harmonic_index(n, -m)];
                size += (std::abs(locals[slot]) + std::abs(locals[slot + 1])) *
                        std::pow(norm(points[i]), n);
              }
            }
            // As for one harmonic, and 2p sums over degrees and orders.
            CHECK(std::abs(values[k * count + i] - sum) <=
                  (steps_error(p) + 2 * p) * epsilon<T> * size);
          }
        }
      }
    }
  }
}

namespace {

template <class T>
using Coordinate = typename fmm::NearCoordinate<T>::Type;

/// The error of 1/r that `near` promises, in ε, and two roundings besides. r² has up to five
/// roundings, half of which come through; one is in the remainder of the refinement, one in its
/// sum.
template <class T>
double root_error(int root_terms) {
  constexpr double errors[] = {1e-4, 1e-8, 1e-12, 0};
  return 2.5 * epsilon<T> + errors[root_terms];
}

enum class What { charges, dipoles, both };

/// Sources and targets in a cube of side `scale`, and strengths whose fields have sizes of 1/scale
/// and 1/scale². Some targets and sources coincide.
template <class T>
struct NearCase {
  NearCase(int count, int targets, int sources, What what, double size_of_cube)
      : vectors(count), n_targets(targets), n_sources(sources), scale(size_of_cube) {
    Random<T> random(7);
    Uniform place(8);
    const std::size_t strengths = static_cast<std::size_t>(sources) * vectors;
    for (int axis = 0; axis < 3; ++axis) {
      for (int i = 0; i < targets; ++i)
        x[axis].push_back(static_cast<Coordinate<T>>(place(-scale / 2, scale / 2)));
      for (int j = 0; j < sources; ++j)
        y[axis].push_back(j % 3 == 0 && j < targets
                              ? x[axis][targets - 1 - j]
                              : static_cast<Coordinate<T>>(place(-scale / 2, scale / 2)));
      if (what != What::charges) dipole[axis] = random.many(strengths, -scale, scale);
    }
    charge = what == What::dipoles ? std::vector<T>(strengths) : random.many(strengths);
    // The values that the kernel is to add to: potential and gradient, [vectors][targets].
    for (int k = 0; k < 4; ++k)
      before[k] = random.many(static_cast<std::size_t>(targets) * vectors, 0,
                              k == 0 ? 1 / scale : 1 / (scale * scale));
  }

  std::array<std::vector<T>, 4> run(const PairKernels<T, Laplace>& pairs, bool potential,
                                    bool gradient, int root_terms) const {
    auto out = before;
    const bool dipoles = !dipole[0].empty();
    const auto field = [&](bool wanted, int k) { return wanted ? out[k].data() : nullptr; };
    std::vector<std::int32_t> close(n_targets);
    pairs.near(Laplace(), vectors, root_terms,
               {n_sources, y[0].data(), y[1].data(), y[2].data(), charge.data(),
                dipoles ? dipole[0].data() : nullptr, dipoles ? dipole[1].data() : nullptr,
                dipoles ? dipole[2].data() : nullptr},
               {n_targets, x[0].data(), x[1].data(), x[2].data(), field(potential, 0),
                field(gradient, 1), field(gradient, 2), field(gradient, 3), close.data()});
    if constexpr (std::is_same_v<T, float>)
      for (int i = 0; i < n_targets; ++i) CHECK(close[i] == close_sources(i));
    return out;
  }

  Vec3<long double> difference(int i, int j) const {
    return {static_cast<long double>(x[0][i]) - y[0][j],
            static_cast<long double>(x[1][i]) - y[1][j],
            static_cast<long double>(x[2][i]) - y[2][j]};
  }
  /// Whether the kernel leaves the pair out.
  bool is_left_out(int i, int j) const {
    return norm(difference(i, j)) <= (std::is_same_v<T, float> ? fmm::close_distance : 0);
  }
  int close_sources(int i) const {
    int count = 0;
    for (int j = 0; j < n_sources; ++j) count += is_left_out(i, j);
    return count;
  }

  /// Largest error over its bound.
  double worst(const std::array<std::vector<T>, 4>& out, bool potential, bool gradient,
               int root_terms) const {
    // A term has at most the fifth power of 1/r and ten roundings more; half an ε is lost in each
    // sum.
    const double relative = 5 * root_error<T>(root_terms) + (5 + n_sources) * epsilon<T>;
    double largest = 0;
    for (int v = 0; v < vectors; ++v) {
      for (int i = 0; i < n_targets; ++i) {
        long double sum[4], size[4];
        for (int k = 0; k < 4; ++k) {
          sum[k] = before[k][v * n_targets + i];
          size[k] = std::abs(sum[k]);
        }
        for (int j = 0; j < n_sources; ++j) {
          if (is_left_out(i, j)) continue;
          const Vec3<long double> r = difference(i, j);
          const long double s = norm(r), q = charge[j * vectors + v];
          Vec3<long double> d;
          if (!dipole[0].empty())
            d = {dipole[0][j * vectors + v], dipole[1][j * vectors + v],
                 dipole[2][j * vectors + v]};
          sum[0] += q / s + dot(d, r) / (s * s * s);
          size[0] += std::abs(q) / s + norm(d) / (s * s);
          for (int axis = 0; axis < 3; ++axis) {
            sum[1 + axis] += (d[axis] - (q + 3 * dot(d, r) / (s * s)) * r[axis]) / (s * s * s);
            size[1 + axis] += std::abs(q) / (s * s) + 4 * norm(d) / (s * s * s);
          }
        }
        for (int k = potential ? 0 : 1; k < (gradient ? 4 : 1); ++k)
          largest = larger_error(largest,
                                 static_cast<double>(std::abs(out[k][v * n_targets + i] - sum[k]) /
                                                     (relative * size[k])));
      }
    }
    return largest;
  }

  int vectors, n_targets, n_sources;
  double scale;
  std::array<std::vector<Coordinate<T>>, 3> x, y;
  std::array<std::vector<T>, 3> dipole;
  std::vector<T> charge;
  std::array<std::vector<T>, 4> before;
};

/// Points that act on others and are acted on.
template <class T>
struct Cloud {
  Cloud(int n, Random<T>& random) : charge(random.many(n)) {
    for (auto& axis : place) axis.resize(n);
    for (auto& values : result) values.assign(n, std::numeric_limits<T>::quiet_NaN());
  }

  fmm::NearPoints<T> view(int asked) {
    const auto field = [&](int k) {
      return (k == 0 ? asked & 1 : asked & 2) ? result[k].data() : nullptr;
    };
    return {static_cast<std::int64_t>(charge.size()),
            place[0].data(),
            place[1].data(),
            place[2].data(),
            charge.data(),
            field(0),
            field(1),
            field(2),
            field(3)};
  }
  Vec3<long double> at(std::size_t i) const {
    return {static_cast<long double>(place[0][i]), static_cast<long double>(place[1][i]),
            static_cast<long double>(place[2][i])};
  }

  std::array<std::vector<Coordinate<T>>, 3> place;
  std::vector<T> charge;
  std::array<std::vector<T>, 4> result;  ///< potential and gradient
};

/// Largest error over its bound of a's results, which b makes.
template <class T>
double worst_of_cloud(const Cloud<T>& a, const Cloud<T>& b, int asked, int root_terms) {
  const double relative =
      3 * root_error<T>(root_terms) + (8 + static_cast<double>(b.charge.size())) * epsilon<T>;
  double largest = 0;
  for (std::size_t i = 0; i < a.charge.size(); ++i) {
    long double sum[4]{}, size[4]{};
    for (std::size_t j = 0; j < b.charge.size(); ++j) {
      const Vec3<long double> r = a.at(i) - b.at(j);
      const long double s = norm(r), q = b.charge[j];
      sum[0] += q / s;
      size[0] += std::abs(q) / s;
      for (int axis = 0; axis < 3; ++axis) {
        sum[1 + axis] -= q * r[axis] / (s * s * s);
        size[1 + axis] += std::abs(q) / (s * s);
      }
    }
    for (int k = 0; k < 4; ++k)
      if (k == 0 ? asked & 1 : asked & 2) {
        if (std::isnan(a.result[k][i])) return std::numeric_limits<double>::infinity();
        const auto error = static_cast<double>(std::abs(a.result[k][i] - sum[k]));
        if (error > 0)
          largest = larger_error(largest, error / (relative * static_cast<double>(size[k])));
      }
  }
  return largest;
}

}  // namespace

TEMPLATE_TEST_CASE("near fields are the plain sums", "", double, float) {
  using T = TestType;
  // In double precision far from one, but so that the distance's third power is in range; in single
  // precision as large as the integers hold.
  const std::vector<double> scales = std::is_same_v<T, double>
                                         ? std::vector<double>{1, 1e-100, 1e100}
                                         : std::vector<double>{0x1p29, 100, 0x1.8p30};
  for (const auto& [kernels, pairs] : all_kernels<T>()) {
    INFO(kernels.name);
    for (const int vectors : {1, fmm::near_vectors})
      for (const int targets : {kernels.lanes, 2 * kernels.lanes, 5 * kernels.lanes})
        for (const int sources : {0, 1, 13})
          for (const What what : {What::charges, What::dipoles, What::both})
            for (const double scale : scales) {
              const NearCase<T> near(vectors, targets, sources, what, scale);
              for (int root_terms = fmm::fewest_root_terms<T>; root_terms <= 3; ++root_terms) {
                CAPTURE(vectors, targets, sources, static_cast<int>(what), scale, root_terms);
                const auto potential = near.run(pairs, true, false, root_terms);
                const auto gradient = near.run(pairs, false, true, root_terms);
                const auto both = near.run(pairs, true, true, root_terms);
                CHECK(near.worst(potential, true, false, root_terms) <= 1);
                CHECK(near.worst(gradient, false, true, root_terms) <= 1);
                CHECK(near.worst(both, true, true, root_terms) <= 1);
              }
            }
  }
}

TEMPLATE_TEST_CASE("inverse distances are as accurate as promised", "", double, float) {
  using T = TestType;
  // Distances whose squares are normal numbers; in single precision they are integers.
  const double low = std::is_same_v<T, double> ? -500 : 21,
               high = std::is_same_v<T, double> ? 500 : 29;
  Uniform random(9);
  for (const auto& [kernels, pairs] : all_kernels<T>()) {
    INFO(kernels.name);
    const int count = 1000 * kernels.lanes;
    std::array<std::vector<Coordinate<T>>, 3> x;
    const std::vector<Coordinate<T>> origin(1);
    const std::vector<T> one(1, T(1));
    for (int i = 0; i < count; ++i) {
      const double size = std::exp2(random(low, high));
      for (auto& axis : x) axis.push_back(static_cast<Coordinate<T>>(size * random(-1, 1)));
    }
    for (int root_terms = fmm::fewest_root_terms<T>; root_terms <= 3; ++root_terms) {
      CAPTURE(root_terms);
      std::vector<T> u(count);
      std::vector<std::int32_t> close(count);
      pairs.near(
          Laplace(), 1, root_terms,
          {1, origin.data(), origin.data(), origin.data(), one.data(), nullptr, nullptr, nullptr},
          {count, x[0].data(), x[1].data(), x[2].data(), u.data(), nullptr, nullptr, nullptr,
           close.data()});
      double worst = 0;
      for (int i = 0; i < count; ++i) {
        if (close[i] > 0) continue;
        const Vec3<long double> r{static_cast<long double>(x[0][i]),
                                  static_cast<long double>(x[1][i]),
                                  static_cast<long double>(x[2][i])};
        worst = larger_error(worst, std::abs(static_cast<double>(u[i] * norm(r) - (norm(r) > 0))));
      }
      CHECK(worst / root_error<T>(root_terms) <= 1);
    }
  }
}

TEMPLATE_TEST_CASE("mutual near fields are those of both sides", "", double, float) {
  using T = TestType;
  const double scale = std::is_same_v<T, double> ? 1 : 0x1p29;
  for (const auto& [kernels, pairs] : all_kernels<T>()) {
    INFO(kernels.name);
    for (const int in_registers : {1, 2, 3, 4, 5, 6, 11})
      for (const int others : {0, 1, 17, 64, 200}) {
        const int n = in_registers * kernels.lanes;
        Random<T> random(11);
        Uniform place(12);
        Cloud<T> a(n, random), b(others, random);
        for (int axis = 0; axis < 3; ++axis) {
          // Side by side, so that no two coincide.
          for (auto& x : a.place[axis]) x = static_cast<Coordinate<T>>(scale * place(-0.5, 0.5));
          for (auto& x : b.place[axis])
            x = static_cast<Coordinate<T>>(scale * (place(-0.5, 0.5) + (axis == 1)));
        }
        for (int root_terms = fmm::fewest_root_terms<T>; root_terms <= 3; ++root_terms)
          for (const int asked : {1, 2, 3}) {
            CAPTURE(n, others, root_terms, asked);
            Cloud<T> a_out = a, b_out = b;
            REQUIRE(pairs.near_mutual(Laplace(), root_terms, a_out.view(asked), b_out.view(asked)));
            CHECK(worst_of_cloud(a_out, b, asked, root_terms) <= 1);
            CHECK(worst_of_cloud(b_out, a, asked, root_terms) <= 1);
          }
      }
  }
}

TEST_CASE("mutual near fields in single precision say if points are too close") {
  for (const auto& [kernels, pairs] : all_kernels<float>()) {
    INFO(kernels.name);
    for (const int n : {kernels.lanes, 3 * kernels.lanes, 4 * kernels.lanes}) {
      Random<float> random(13);
      Cloud<float> a(n, random), b(70, random);
      for (int i = 0; i < n; ++i) a.place[0][i] = (i + 1) << 21;
      for (int j = 0; j < 70; ++j) b.place[0][j] = -((j + 1) << 21);
      for (const int asked : {1, 2, 3}) {
        CHECK(pairs.near_mutual(Laplace(), 1, a.view(asked), b.view(asked)));
        for (const int i : {0, n - 1}) {
          auto close = b;
          close.place[0][69] = a.place[0][i];
          close.place[1][69] = 1 << 20;
          CHECK_FALSE(pairs.near_mutual(Laplace(), 1, a.view(asked), close.view(asked)));
          close.place[1][69] = (1 << 20) + 64;
          CHECK(pairs.near_mutual(Laplace(), 1, a.view(asked), close.view(asked)));
        }
      }
    }
  }
}

TEMPLATE_TEST_CASE("points that coincide do not act on each other", "", double, float) {
  using T = TestType;
  for (const auto& [kernels, pairs] : all_kernels<T>()) {
    INFO(kernels.name);
    for (const int vectors : {1, fmm::near_vectors}) {
      for (const What what : {What::charges, What::both}) {
        NearCase<T> near(vectors, kernels.lanes, 1, what, 1000);
        for (int axis = 0; axis < 3; ++axis) near.x[axis].assign(kernels.lanes, near.y[axis][0]);
        for (const int root_terms : {1, 2, 3})
          CHECK(near.run(pairs, true, true, root_terms) == near.before);
      }
    }
  }
}

TEMPLATE_TEST_CASE("pieces are gathered as a leaf sees them, and their sums scattered", "", double,
                   float) {
  using T = TestType;
  constexpr bool moves = std::is_same_v<T, float>;
  Uniform random(21);
  const auto whole = [&](int low, int high) { return static_cast<int>(random(low, high + 0.999)); };
  const int n = 300;
  std::array<std::vector<Coordinate<T>>, 3> from;
  for (auto& axis : from)
    for (int i = 0; i < n; ++i)
      axis.push_back(static_cast<Coordinate<T>>(0x1p29 * random(-0.5, 0.5)));
  const auto charge = Random<T>(22).many(n);
  for (const auto& [kernels, pairs] : all_kernels<T>()) {
    INFO(kernels.name);
    for (int trial = 0; trial < 50; ++trial) {
      std::vector<fmm::NearRange> pieces;
      int points = 0, in_buffer = 0;
      for (int k = whole(0, 6); k > 0; --k) {
        fmm::NearRange piece{whole(0, n - 70), whole(1, 70)};
        piece.levels = static_cast<std::int8_t>(whole(-fmm::near_levels, 1));
        // Only as far off as near points can be.
        for (auto& offset : piece.offset) offset = static_cast<std::int8_t>(whole(-20, 20));
        if (whole(0, 1) == 1) {
          piece.buffer = in_buffer;
          in_buffer += piece.count;
        }
        points += piece.count;
        pieces.push_back(piece);
      }
      const auto count = static_cast<int>(pieces.size());
      std::array<std::vector<Coordinate<T>>, 3> place;
      for (auto& axis : place) axis.assign(points + 1, 7);
      std::vector<T> charges(points + 1, 7);
      kernels.gather(pieces.data(), count,
                     {{from[0].data(), from[1].data(), from[2].data()}, charge.data()},
                     {{place[0].data(), place[1].data(), place[2].data()}, charges.data()});

      const auto sums = Random<T>(23).many(points + kernels.lanes);
      const auto before = Random<double>(24).many(n);
      auto results = before, buffer = Random<double>(25).many(in_buffer + 1);
      const auto buffer_before = buffer;
      kernels.scatter(pieces.data(), count, sums.data(), 1.5, results.data(), buffer.data());

      auto results_wanted = before, buffer_wanted = buffer_before;
      int at = 0, wrong = 0;
      for (const auto& piece : pieces) {
        for (int i = piece.begin; i < piece.begin + piece.count; ++i, ++at) {
          for (int axis = 0; axis < 3; ++axis) {
            double x = from[axis][i];
            // To the nearest number, halves up.
            if (moves)
              x = piece.offset[axis] * 0x1p26 + std::floor(std::ldexp(x, piece.levels) + 0.5);
            wrong += place[axis][at] != x;
          }
          wrong += charges[at] != charge[i];
          (piece.buffer < 0 ? results_wanted[i] : buffer_wanted[piece.buffer + i - piece.begin]) +=
              1.5 * sums[at];
        }
      }
      CHECK(wrong == 0);
      CHECK((place[0][points] == 7 && place[1][points] == 7 && place[2][points] == 7));
      CHECK(charges[points] == 7);
      double worst = 0;  // two roundings, or one
      for (int i = 0; i < n; ++i)
        worst = larger_error(worst, std::abs(results[i] - results_wanted[i]));
      for (int i = 0; i <= in_buffer; ++i)
        worst = larger_error(worst, std::abs(buffer[i] - buffer_wanted[i]));
      CHECK(worst <= 10 * epsilon<double>);
    }
  }
}

}  // namespace fmbem::test::kernels_tests
