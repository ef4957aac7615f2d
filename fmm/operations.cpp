#include "fmbem/fmm/operations.hpp"

#include "fmbem/fmm/expansion/cartesian.hpp"
#include "fmbem/fmm/expansion/harmonics.hpp"
#include "fmbem/fmm/expansion/m2l_blocks.hpp"

namespace fmbem::fmm {
namespace {

/// Of a box and a target.
double m2p_operations(const PlanInfo& info, bool gradient) {
  const double p = info.order, pairs = 0.5 * (p + 1) * (p + 2);
  const double inversion = gradient ? 45 : 20;  // of the point, and what comes of the gradient
  if (info.expansion == Expansion::cartesian) {
    // Horner's scheme: multiply-adds of monomials, of lines (i, j) and of planes i.
    const double monomials = monomial_count(info.order);
    return 2 * (gradient ? 2 * monomials + 3 * pairs + 4 * (p + 1) : monomials + pairs + p + 1) +
           inversion;
  }
  // Of each pair (n, m): five for the recurrence and four for each expansion.
  return pairs * (5 + 4 * (gradient ? 4 : 1)) + inversion;
}

}  // namespace

std::map<std::string, double> plan_operations(const PlanInfo& info, bool gradient,
                                              bool sources_are_targets, Processor processor) {
  std::map<std::string, double> operations;
  operations["P2P"] = static_cast<double>(info.near_pairs) * (gradient ? 20 : 11);
  if (info.m2p_pairs > 0) {
    operations["M2P"] = static_cast<double>(info.m2p_pairs) * m2p_operations(info, gradient);
  }
  if (info.method == Method::fmm || info.method == Method::hybrid) {
    const double count = harmonic_count(info.order);
    const M2lOrders orders = m2l_orders(sources_are_targets && processor == Processor::cpu);
    operations["M2L"] =
        static_cast<double>(info.m2l_rows) * m2l_row_operations(info.order, orders) +
        static_cast<double>(info.m2l_pairs) * 2 * count * count;
  }
  if (info.method == Method::treecode && processor == Processor::gpu) {
    operations["M2P"] += operations["P2P"];
    operations.erase("P2P");
  }
  return operations;
}

}  // namespace fmbem::fmm
