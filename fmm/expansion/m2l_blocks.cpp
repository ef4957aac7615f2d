#include "fmbem/fmm/expansion/m2l_blocks.hpp"

#include <numeric>

#include "fmbem/fmm/expansion/box_fit.hpp"
#include "fmbem/fmm/expansion/harmonics.hpp"
#include "fmbem/fmm/expansion/translations.hpp"

namespace fmbem::fmm {

void make_m2l_blocks(const ParityOrder& order, M2l m2l, std::span<const int> some,
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

std::vector<int> all_m2l_orbits() {
  std::vector<int> all(orbits - 1);
  std::iota(all.begin(), all.end(), 1);
  return all;
}

int m2l_order(int p, M2lOrders orders, int orbit) {
  if (orders == M2lOrders::full) return p;
  // The nearest box of an orbit that does not touch the child is 0, 1 or 2 sides away along each
  // axis, and 2 along at least one.
  int twos = 0, ones = 0;
  for (const int away : {orbit / 9, orbit / 3 % 3, orbit % 3}) {
    twos += away == 2;
    ones += away == 1;
  }
  if (twos == 0) {
    ++twos;
    --ones;
  }
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
