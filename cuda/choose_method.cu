// What `automatic` takes on a GPU.
#include <algorithm>

#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/choose.cuh"
#include "fmbem/fmm/choice/foreseen.hpp"
#include "fmbem/fmm/choice/policy.hpp"

namespace fmbem::cuda {
namespace {

/// A hybrid's time over that of an FMM with the best leaves: 0.88 to 1.15 in a cube and on a
/// sphere, up to 1.9 about two centres (docs/decisions.md).
constexpr double hybrid_over_fmm = 2;
/// By so many times what a closed form foresees is to be faster: measured treecodes took 0.7 to 2.3
/// times as long.
constexpr double foreseen_margin = 2.5;
/// Rates of M2P are those of hybrids, a third of whose lanes have targets. Treecodes of a million
/// points, whose lanes are full, took 42 ms in single and 283 in double precision.
constexpr double m2p_of_full_warps = 2.5;

double treecode_seconds(fmm::PlanOptions options, const DeviceRates& rates,
                        const fmm::EvenCloud& cloud, bool same) {
  options.method = fmm::Method::treecode;
  const int order = fmm::order_for(options, same);
  // Pairs and expansions have one precision.
  if (near_precision_for(options, rates, 0) == Precision::double_precision)
    options.precision = Precision::double_precision;
  fmm::HybridCosts costs = hybrid_costs(options, order, rates, false);
  costs.m2p_target /= m2p_of_full_warps;
  costs.lanes = warp_size;
  return rates.start + fmm::foreseen_treecode_seconds(
                           costs, cloud, options.theta.value_or(fmm::default_theta(options.method)),
                           options.max_leaf.value_or(treecode_leaf));
}

}  // namespace

bool weighs_hybrid(const fmm::PlanOptions& options) {
  fmm::PlanOptions hybrid = options;
  hybrid.method = fmm::Method::hybrid;
  return !options.hessian && fmm::has_pairs_of_fmm(hybrid);
}

fmm::Method choose_method(const fmm::PlanOptions& options, int order, const DeviceRates& rates,
                          const WeighedTrees& trees, std::int64_t sources, std::int64_t targets,
                          bool same, bool few_places) {
  using fmm::Method;
  const std::int64_t most = std::max(sources, targets);
  const double direct = direct_seconds(options, rates, sources, targets),
               least = least_fmm_seconds(order, rates);
  const bool is_one_leaf = trees.asked.max_leaf >= most;
  const fmm::EvenCloud cloud{static_cast<double>(sources), static_cast<double>(targets),
                             trees.asked.branching};
  double seconds = is_one_leaf ? direct : std::max(trees.asked.seconds, least);
  const auto fmm_seconds = [&](double margin) {
    // The trial's tree has targets everywhere, and closed forms know no reach.
    if (targets >= sources || is_one_leaf || options.kappa > 0) return seconds;
    const double foreseen = fmm::foreseen_fmm_seconds(hybrid_costs(options, order, rates, false),
                                                      cloud, trees.asked.max_leaf);
    return std::min(seconds, std::max(least, rates.start + margin * foreseen));
  };
  // Yukawa's direct sums are P2P of a tree, which an FMM with one leaf is, too.
  if (!options.max_leaf && options.kappa == 0 &&
      (is_one_leaf || direct < fmm_seconds(foreseen_margin)))
    return Method::direct;
  seconds = fmm_seconds(1);
  Method best = Method::fmm;
  const auto improve = [&](Method method, double foreseen) {
    if (foreseen < seconds) seconds = foreseen, best = method;
  };
  if (options.max_leaf && trees.best.max_leaf < most && weighs_hybrid(options))
    improve(Method::hybrid, hybrid_over_fmm * std::max(trees.best.seconds, least));

  // Treecodes need higher orders where points are at few places.
  const bool order_serves =
      options.order ||
      (!few_places && options.theta.value_or(fmm::default_theta(Method::treecode)) <=
                          fmm::theta_of_highest_order(options, same));
  if (options.hessian || is_one_leaf || !order_serves || options.kappa > 0) return best;
  improve(Method::treecode, foreseen_margin * treecode_seconds(options, rates, cloud, same));
  return best;
}

}  // namespace fmbem::cuda
