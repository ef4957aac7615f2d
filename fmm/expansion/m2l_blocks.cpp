#include "fmbem/fmm/expansion/m2l_blocks.hpp"

#include <cmath>
#include <numeric>

#include "fmbem/fmm/expansion/box_fit.hpp"
#include "fmbem/fmm/expansion/harmonics.hpp"
#include "fmbem/fmm/expansion/translations.hpp"
#include "fmbem/fmm/expansion/yukawa_translations.hpp"

namespace fmbem::fmm {

void make_m2l_blocks(const Laplace&, const ParityOrder& order, M2l m2l, std::span<const int> some,
                     const std::function<void(int orbit, int e, const double* block)>& take) {
  const ParityOrder high(m2l == M2l::fitted ? fitted_degree(order.p) : order.p);
  const BoxFit fit(order, high);
  std::vector<M2lOrbit> m2l_of;
  for (const int orbit : some) m2l_of.emplace_back(high, orbit);
  const auto tasks = static_cast<int>(8 * some.size());
#pragma omp parallel
  {
    std::vector<double> block(static_cast<std::size_t>(high.count) * high.count);
    BoxFit::Room room;
#pragma omp for schedule(dynamic, 1)
    for (int task = 0; task < tasks; ++task) {
      const int k = task / 8, e = task % 8;
      m2l_of[k].block(e, block.data());
      take(some[k], e, fit.project(block, room).data());
    }
  }
}

void make_m2l_blocks(const Yukawa& kernel, const ParityOrder& order, M2l m2l,
                     std::span<const int> some,
                     const std::function<void(int orbit, int e, const double* block)>& take) {
  const ParityOrder high(m2l == M2l::fitted ? fitted_degree(order.p) : order.p);
  const BoxFit fit(order, high, kernel);
#pragma omp parallel
  {
    std::vector<double> block(static_cast<std::size_t>(high.count) * high.count);
    BoxFit::Room room;
#pragma omp for schedule(dynamic, 1)
    for (std::size_t k = 0; k < some.size(); ++k) {
      const YukawaM2lOrbit m2l_of(high, kernel, some[k]);
      for (int e = 0; e < 8; ++e) {
        m2l_of.block(e, block.data());
        take(some[k], e, fit.project(block, room).data());
      }
    }
  }
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
