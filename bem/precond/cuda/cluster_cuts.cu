#include "fmbem/bem/precond/cuda/cluster_tree.cuh"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/primitives.cuh"

namespace fmbem::cuda::bem {
namespace {

/// A thread goes through the tree for each leaf; those of neighbouring leaves take much the same
/// way.
constexpr int threads = 64;

struct LeafCut {
  LeafView view;
  double opening;
};

/// Of one tree, or of several one behind the other.
struct Nodes {
  const Cluster* first;
  std::int32_t count;
};

/// Calls take(node) for the nodes of the cut other than the leaf's own panels, as long as it
/// returns true.
template <class Take>
__device__ void walk(Nodes nodes, const LeafView& leaf, double opening, double nearness,
                     Take&& take) {
  for (std::int32_t k = 0; k < nodes.count;) {
    const Cluster& node = nodes.first[k];
    const CutStep step = cut_step(leaf, node, opening, nearness);
    if (step == CutStep::take && !take(k)) return;
    k = step == CutStep::open ? k + 1 : descendants_end(node, k);
  }
}

__global__ void count_cuts(Nodes nodes, const std::int32_t* leaves, std::int64_t n_leaves,
                           ClusterInverseOptions options, LeafCut* cuts, std::int32_t* unknowns) {
  const std::int64_t f = thread_index();
  if (f > n_leaves) return;
  if (f == n_leaves) {
    unknowns[f] = 0;
    return;
  }
  const LeafView leaf = view_leaf(nodes.first, leaves[f]);
  for (double opening = options.opening;; opening *= coarser) {
    const bool any_size = opening > largest_opening;
    std::int32_t count = leaf.end - leaf.begin;
    walk(nodes, leaf, opening, options.nearness,
         [&](std::int32_t) { return ++count <= options.most_unknowns || any_size; });
    if (count > options.most_unknowns && !any_size) continue;
    cuts[f] = {leaf, opening};
    unknowns[f] = count;
    return;
  }
}

__global__ void fill_cuts(Nodes nodes, const std::int32_t* leaves, std::int64_t n_leaves,
                          double nearness, const LeafCut* cuts, const std::int64_t* begin,
                          std::int32_t* cut, std::int32_t* has_long) {
  const std::int64_t f = thread_index();
  if (f >= n_leaves) return;
  bool any_long = false;
  std::int32_t* to = cut + begin[f];
  const auto take = [&](std::int32_t k) {
    any_long = any_long || nodes.first[k].is_long();
    *to++ = k;
    return true;
  };
  walk(nodes, cuts[f].view, cuts[f].opening, nearness, take);
  const std::int32_t leaf = leaves[f], end = descendants_end(nodes.first[leaf], leaf);
  for (std::int32_t k = leaf; k < end; ++k)
    if (nodes.first[k].is_panel()) take(k);
  has_long[f] = any_long;
}

}  // namespace

DeviceCuts make_cuts(const DeviceClusterTree& tree, const ClusterInverseOptions& options,
                     cudaStream_t stream) {
  const auto n_leaves = static_cast<std::int64_t>(tree.leaves.size());
  DeviceBuffer<LeafCut> cuts(n_leaves, stream);
  DeviceBuffer<std::int32_t> unknowns(n_leaves + 1, stream);
  const Nodes nodes{tree.nodes.data(), static_cast<std::int32_t>(tree.nodes.size())};
  launch(count_cuts, blocks_for(n_leaves + 1, threads), threads, 0, stream, nodes,
         tree.leaves.data(), n_leaves, options, cuts.data(), unknowns.data());
  DeviceCuts result;
  result.begin = DeviceBuffer<std::int64_t>(n_leaves + 1, stream);
  exclusive_sum(unknowns.data(), result.begin.data(), n_leaves + 1, stream);
  result.nodes =
      DeviceBuffer<std::int32_t>(download_one(result.begin.data() + n_leaves, stream), stream);
  result.has_long = DeviceBuffer<std::int32_t>(n_leaves, stream);
  launch(fill_cuts, blocks_for(n_leaves, threads), threads, 0, stream, nodes, tree.leaves.data(),
         n_leaves, options.nearness, cuts.data(), result.begin.data(), result.nodes.data(),
         result.has_long.data());
  return result;
}

}  // namespace fmbem::cuda::bem
