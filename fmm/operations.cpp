#include "fmbem/fmm/operations.hpp"

#include "fmbem/fmm/expansion/harmonics.hpp"
#include "fmbem/fmm/expansion/m2l_blocks.hpp"

namespace fmbem::fmm {

std::map<std::string, double> plan_operations(const PlanInfo& info, bool gradient,
                                              bool sources_are_targets) {
  std::map<std::string, double> operations;
  operations["P2P"] = static_cast<double>(info.near_pairs) * (gradient ? 20 : 11);
  if (info.m2p_pairs > 0) {
    // Of each pair (n, m): five for the recurrence and four for each expansion; then inverting the
    // point and what comes of the gradient.
    const double pairs = 0.5 * (info.order + 1) * (info.order + 2), expansions = gradient ? 4 : 1;
    operations["M2P"] =
        static_cast<double>(info.m2p_pairs) * (pairs * (5 + 4 * expansions) + (gradient ? 45 : 20));
  }
  if (info.method == Method::fmm || info.method == Method::hybrid) {
    const double count = harmonic_count(info.order);
    operations["M2L"] = static_cast<double>(info.m2l_rows) *
                            m2l_row_operations(info.order, m2l_orders(sources_are_targets)) +
                        static_cast<double>(info.m2l_pairs) * 2 * count * count;
  }
  return operations;
}

}  // namespace fmbem::fmm
