#include "fmbem/fmm/m2l_blocks.hpp"

#include <vector>

#include "fmbem/fmm/box_fit.hpp"
#include "fmbem/fmm/translations.hpp"

namespace fmbem::fmm {

void make_m2l_blocks(const ParityOrder& order, M2l m2l,
                     const std::function<void(int orbit, int e, const double* block)>& take) {
  const ParityOrder high(m2l == M2l::fitted ? fitted_degree(order.p) : order.p);
  const BoxFit fit(order, high);
  std::vector<M2lOrbit> m2l_of;
  for (int orbit = 1; orbit < orbits; ++orbit) m2l_of.emplace_back(high, orbit);
#pragma omp parallel
  {
    std::vector<double> block(static_cast<std::size_t>(high.count) * high.count);
    BoxFit::Room room;
#pragma omp for schedule(dynamic, 1)
    for (int task = 0; task < 8 * (orbits - 1); ++task) {
      const int orbit = 1 + task / 8, e = task % 8;
      m2l_of[orbit - 1].block(e, block.data());
      take(orbit, e, fit.project(block, room).data());
    }
  }
}

}  // namespace fmbem::fmm
