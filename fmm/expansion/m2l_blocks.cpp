#include "fmbem/fmm/expansion/m2l_blocks.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

#include "fmbem/fmm/expansion/box_fit.hpp"
#include "fmbem/fmm/expansion/harmonics.hpp"
#include "fmbem/fmm/expansion/yukawa_translations.hpp"

namespace fmbem::fmm {

namespace {

/// A displacement of boxes along the axes, in their sides, up to reflections.
struct Displacement {
  int x, y, z;

  /// Of the mirror image h of an orbit's first box: r = −(x, y, z) mirrored by h.
  static Displacement of(int orbit, int h) {
    return {orbit / 9 + (h >> 2 & 1), orbit / 3 % 3 + (h >> 1 & 1), orbit % 3 + (h & 1)};
  }
  bool touch() const { return x < 2 && y < 2 && z < 2; }
  int index() const { return (4 * x + y) * 4 + z; }
};
constexpr int all_steps = 64;

/// How a harmonic changes where x and y are swapped: S_i(y, x, z) = sign S_other(x, y, z), as the
/// angle φ becomes π/2 − φ.
struct Swapped {
  std::vector<int> other;
  std::vector<double> sign;

  explicit Swapped(const ParityOrder& order) : other(order.count), sign(order.count) {
    for (int i = 0; i < order.count; ++i) {
      const int n = order.degree[i], m = order.azimuth[i], turns = std::abs(m) % 4;
      other[i] = order.position[harmonic_index(n, turns % 2 ? -m : m)];
      sign[i] = turns == 3 || (turns == 0 && m < 0) || (turns == 2 && m > 0) ? -1 : 1;
    }
  }
};

/// M2L of every displacement −(x, y, z) that these orbits need, projected: all else are mirror
/// images, whose signs go by class, which projections keep.
class DisplacedBlocks {
 public:
  DisplacedBlocks(const Yukawa& kernel, const ParityOrder& order, M2l m2l,
                  std::span<const int> some)
      : count_(order.count) {
    const ParityOrder high(m2l == M2l::fitted ? fitted_degree(order.p) : order.p);
    const BoxFit fit(order, high, kernel);
    const Swapped swapped(order);
    std::array<bool, all_steps> wanted{};
    std::vector<Displacement> made;  // x ≥ y: the others are swapped
    for (const int orbit : some)
      for (int h = 0; h < 8; ++h) {
        Displacement s = Displacement::of(orbit, h);
        if (s.touch()) continue;
        if (s.x < s.y) std::swap(s.x, s.y);
        if (!std::exchange(wanted[s.index()], true)) made.push_back(s);
      }
#pragma omp parallel
    {
      std::vector<double> block;
      BoxFit::Room room;
#pragma omp for schedule(dynamic, 1)
      for (std::size_t k = 0; k < made.size(); ++k) {
        const Displacement s = made[k];
        m2l_between(high, kernel, {-1.0 * s.x, -1.0 * s.y, -1.0 * s.z}, block);
        std::vector<double>& own = blocks_[s.index()];
        own = fit.project(block, room);
        if (s.x == s.y) continue;
        std::vector<double>& other = blocks_[Displacement{s.y, s.x, s.z}.index()];
        other.resize(own.size());
        for (int i = 0; i < count_; ++i)
          for (int j = 0; j < count_; ++j)
            other[at(i, j)] =
                swapped.sign[i] * swapped.sign[j] * own[at(swapped.other[i], swapped.other[j])];
      }
    }
  }

  /// Writes the block of an orbit and a class, ⅛ Σ_h of the mirror images h, rows of parity c
  /// having the signs (−1)^|(e ^ c) & h|.
  void block(const ParityOrder& order, int orbit, int e, std::vector<double>& out) const {
    out.assign(static_cast<std::size_t>(count_) * count_, 0);
    for (int h = 0; h < 8; ++h) {
      const Displacement s = Displacement::of(orbit, h);
      if (s.touch()) continue;
      const std::vector<double>& from = blocks_[s.index()];
      for (int i = 0; i < count_; ++i) {
        const auto bits = static_cast<unsigned>((e ^ order.parity[i]) & h);
        const double factor = std::popcount(bits) % 2 ? -0.125 : 0.125;
        for (std::size_t q = at(i, 0); q < at(i + 1, 0); ++q) out[q] += factor * from[q];
      }
    }
  }

 private:
  std::size_t at(int i, int j) const {
    return static_cast<std::size_t>(i) * count_ + static_cast<std::size_t>(j);
  }

  int count_;
  std::array<std::vector<double>, all_steps> blocks_;  ///< [K][K], empty where not needed
};

}  // namespace

void make_m2l_blocks(const Yukawa& kernel, const ParityOrder& order, M2l m2l,
                     std::span<const int> some,
                     const std::function<void(int orbit, int e, const double* block)>& take) {
  const DisplacedBlocks displaced(kernel, order, m2l, some);
  const auto tasks = static_cast<int>(8 * some.size());
#pragma omp parallel
  {
    std::vector<double> block;
#pragma omp for schedule(dynamic, 1)
    for (int task = 0; task < tasks; ++task) {
      displaced.block(order, some[task / 8], task % 8, block);
      take(some[task / 8], task % 8, block.data());
    }
  }
}

void make_m2l_blocks(const Laplace&, const ParityOrder& order, M2l m2l, std::span<const int> some,
                     const std::function<void(int orbit, int e, const double* block)>& take) {
  make_m2l_blocks(Yukawa{0}, order, m2l, some, take);
}

std::vector<int> all_m2l_orbits() {
  std::vector<int> all(orbits - 1);
  std::iota(all.begin(), all.end(), 1);
  return all;
}

namespace {

/// The nearest box of an orbit that does not touch the child: how many axes along which it is 2
/// sides away, one or more, and how many along which it is 1.
struct NearestBox {
  int twos = 0, ones = 0;

  explicit NearestBox(int orbit) {
    for (const int away : {orbit / 9, orbit / 3 % 3, orbit % 3}) {
      twos += away == 2;
      ones += away == 1;
    }
    if (twos == 0) {
      ++twos;
      --ones;
    }
  }
};

}  // namespace

double m2l_gap(int orbit) { return std::sqrt(static_cast<double>(NearestBox(orbit).twos)); }

int m2l_order(int p, M2lOrders orders, int orbit) {
  if (orders == M2lOrders::full) return p;
  const auto [twos, ones] = NearestBox(orbit);
  if (twos > 1) return p - p / 4;
  return ones == 0 ? p : ones == 1 ? p - p / 14 : p - p / 7;
}

double m2l_row_operations(int p, M2lOrders orders) {
  double operations = 0;
  for (int orbit = 1; orbit < orbits; ++orbit) {
    const double count = harmonic_count(m2l_order(p, orders, orbit));
    operations += 16 * count * count / (orbits - 1);
  }
  return operations;
}

}  // namespace fmbem::fmm
