#include "fmbem/fmm/expansion/m2l_blocks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "fmbem/fmm/expansion/box_fit.hpp"
#include "fmbem/fmm/expansion/exchanged_axes.hpp"
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

/// M2L of every displacement −(x, y, z) that these orbits need, projected: all else are mirror
/// images, whose signs go by class, which projections keep.
class DisplacedBlocks {
 public:
  DisplacedBlocks(const Yukawa& kernel, const ParityOrder& order, M2l m2l,
                  std::span<const int> some)
      : count_(order.count) {
    const ParityOrder high(m2l == M2l::fitted ? fitted_degree(order.p) : order.p);
    const BoxFit fit(order, high, kernel);
    const ExchangedAxes exchanged(order);
    // All by the one with x ≥ y ≥ z, whose axes are exchanged: those with x ≥ y of it, the others
    // of these.
    std::vector<Displacement> sorted;
    std::array<bool, all_steps> is_there{};
    for (const int orbit : some)
      for (int h = 0; h < 8; ++h) {
        Displacement s = Displacement::of(orbit, h);
        if (s.touch()) continue;
        if (s.x < s.y) std::swap(s.x, s.y);
        if (s.y < s.z) std::swap(s.y, s.z);
        if (s.x < s.y) std::swap(s.x, s.y);
        if (!std::exchange(is_there[s.index()], true)) sorted.push_back(s);
      }
#pragma omp parallel
    {
      std::vector<double> block, rows;
      ComplexParts table;
      BoxFit::Room room;
#pragma omp for schedule(dynamic, 1)
      for (std::size_t k = 0; k < sorted.size(); ++k) {
        const auto [x, y, z] = sorted[k];
        m2l_between(high, kernel, {-1.0 * x, -1.0 * y, -1.0 * z}, block, table);
        const std::vector<double>& projected = fit.project(block, room);
        LargeVector<double>& own = at({x, y, z});
        own.assign(projected.begin(), projected.end());
        if (x > y) exchanged.x_and_y(own, at({y, x, z}));
        if (y == z) {
          if (x > y) exchanged.y_and_z(at({y, x, z}), at({y, z, x}), rows);
          continue;
        }
        exchanged.y_and_z(own, at({x, z, y}), rows);
        exchanged.x_and_y(at({x, z, y}), at({z, x, y}));
        if (x == y) continue;
        exchanged.y_and_z(at({y, x, z}), at({y, z, x}), rows);
        exchanged.x_and_y(at({y, z, x}), at({z, y, x}));
      }
    }
  }

  /// Writes some rows of an orbit's eight blocks, those of class e at out[e], which are
  /// ⅛ Σ_h of the mirror images h, rows of parity c having the signs (−1)^|(e ^ c) & h|.
  void rows(const ParityOrder& order, int orbit, int first, int end,
            const std::array<double*, 8>& out) const {
    std::array<const double*, 8> from;
    for (int h = 0; h < 8; ++h) {
      const Displacement s = Displacement::of(orbit, h);
      from[h] = s.touch() ? nullptr : blocks_[s.index()].data();
    }
    for (int i = first; i < end; ++i)
      for (int j = 0; j < count_; ++j) {
        std::array<double, 8> sum;
        for (int h = 0; h < 8; ++h)
          sum[h] = from[h] ? 0.125 * from[h][static_cast<std::size_t>(i) * count_ + j] : 0;
        for (int bit = 1; bit < 8; bit *= 2)
          for (int h = 0; h < 8; ++h)
            if (!(h & bit)) {
              const double low = sum[h], high = sum[h | bit];
              sum[h] = low + high;
              sum[h | bit] = low - high;
            }
        for (int u = 0; u < 8; ++u)
          out[u ^ order.parity[i]][static_cast<std::size_t>(i - first) * count_ + j] = sum[u];
      }
  }

 private:
  LargeVector<double>& at(const Displacement& s) { return blocks_[s.index()]; }

  int count_;
  std::array<LargeVector<double>, all_steps> blocks_;  ///< [K][K], empty where not needed
};

}  // namespace

void make_m2l_blocks(const Yukawa& kernel, const ParityOrder& order, M2l m2l,
                     std::span<const int> some, const std::function<void(const M2lRows&)>& take) {
  const DisplacedBlocks displaced(kernel, order, m2l, some);
  const int parts = (order.count + m2l_rows_at_once - 1) / m2l_rows_at_once,
            tasks = parts * static_cast<int>(some.size());
#pragma omp parallel
  {
    const auto size = static_cast<std::size_t>(m2l_rows_at_once) * order.count;
    std::vector<double> blocks(8 * size);
    std::array<double*, 8> of_class;
    for (int e = 0; e < 8; ++e) of_class[e] = blocks.data() + e * size;
#pragma omp for schedule(dynamic, 1)
    for (int task = 0; task < tasks; ++task) {
      const int orbit = some[task / parts], first = task % parts * m2l_rows_at_once,
                end = std::min(first + m2l_rows_at_once, order.count);
      displaced.rows(order, orbit, first, end, of_class);
      for (int e = 0; e < 8; ++e) take({orbit, e, first, end, of_class[e]});
    }
  }
}

void make_m2l_blocks(const Laplace&, const ParityOrder& order, M2l m2l, std::span<const int> some,
                     const std::function<void(const M2lRows&)>& take) {
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
