// What a plan says of itself.
#include "fmbem/cuda/fmm_plan_impl.cuh"
#include "fmbem/fmm/choice/policy.hpp"

namespace fmbem::cuda {

fmm::PlanInfo FmmPlan::Impl::info() const {
  if (options.method == fmm::Method::direct) return direct_info();
  fmm::PlanInfo info{order.p,
                     arithmetic.expansions,
                     tree.tree.levels(),
                     choice.max_leaf,
                     choice.inflation,
                     tree.tree.boxes,
                     tree.tree.boxes - tree.tree.splits,
                     tree.near.pairs,
                     static_cast<std::int64_t>(tree.far.m2l.sources.size()) / 8,
                     bytes(),
                     evaluation ? evaluation->operator_bytes() : 0};
  info.third_law = third_law && !is_treecode();
  if (tree.hybrid) {
    info.method = fmm::Method::hybrid;
    info.m2p_pairs = tree.hybrid->m2p_pairs;
    info.p2l_pairs = tree.hybrid->p2l_pairs;
    info.m2l_pairs = tree.hybrid->m2l_pairs;
    info.expansion = fmm::expansion_for(options, order.p);
  }
  if (is_treecode()) {
    const TreecodePairs pairs = treecode_pairs(tree, one_place.data());
    info.method = fmm::Method::treecode;
    info.near_pairs = pairs.p2p;
    info.m2p_pairs = pairs.m2p;
    info.expansion = fmm::expansion_for(options, order.p);
  }
  return info;
}

/// A direct sum has one box.
fmm::PlanInfo FmmPlan::Impl::direct_info() const {
  return {.order = order.p,
          .precision = arithmetic.expansions,
          .levels = 1,
          .max_leaf = choice.max_leaf,
          .inflation = choice.inflation,
          .boxes = 1,
          .leaves = 1,
          .near_pairs = static_cast<std::int64_t>(sources) * static_cast<std::int64_t>(targets),
          .m2l_rows = 0,
          .memory_bytes = bytes(),
          .operator_bytes = 0,
          .method = fmm::Method::direct};
}

std::int64_t FmmPlan::Impl::bytes() const {
  return tree.bytes() + (evaluation ? evaluation->bytes() : 0) + charges.bytes() +
         potential.bytes() + dipoles.bytes() + gradient.bytes() + hessian.bytes();
}

}  // namespace fmbem::cuda
