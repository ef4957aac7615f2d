#include "fmbem/bem/precond/cuda/cluster_tree.cuh"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/primitives.cuh"
#include "fmbem/cuda/tree.cuh"

namespace fmbem::cuda::bem {
namespace {

/// A thread goes through the tree for each leaf; those of neighbouring leaves take much the same
/// way.
constexpr int threads = 64;

/// The nodes of one tree, or of several one behind the other, and how they are cut.
struct Nodes {
  const Cluster* first;
  std::int32_t count;
  ClusterInverseOptions options;
  CutRules rules;

  __device__ CutStep step(const LeafView& leaf, std::int32_t k, double opening) const {
    const CutStep result = cut_step(leaf, first[k], opening, options.nearness);
    const bool opens = result == CutStep::take && rules.part_at &&
                       MixedPlaces::divides_parts(rules.part_at, rules.parts, first[k]);
    return opens ? CutStep::open : result;
  }
};

/// Calls take(node) for the nodes of the cut other than the leaf's own panels, as long as it
/// returns true.
template <class Take>
__device__ void walk(const Nodes& nodes, const LeafView& leaf, double opening, Take&& take) {
  for (std::int32_t k = 0; k < nodes.count;) {
    const CutStep step = nodes.step(leaf, k, opening);
    if (step == CutStep::take && !take(k)) return;
    k = step == CutStep::open ? k + 1 : descendants_end(nodes.first[k], k);
  }
}

/// What was found of nodes that are leaves, or were.
struct FoundCuts {
  double* opening;         ///< [nodes]
  std::int32_t* unknowns;  ///< [nodes]: 0 of others, −1 of leaves that were halved
  std::int32_t* is_next;   ///< [nodes], or null: halves, whose cuts are next
};

__global__ void count_cuts(Nodes nodes, const std::int32_t* leaves, std::int64_t n_leaves,
                           FoundCuts found) {
  const std::int64_t f = thread_index();
  if (f >= n_leaves) return;
  const std::int32_t node = leaves[f];
  const LeafView leaf = view_leaf(nodes.first, node);
  const std::int32_t most = nodes.options.most_unknowns, own = leaf.end - leaf.begin;
  for (double opening = nodes.options.opening;; opening *= coarser) {
    const bool any_size = opening > largest_opening;
    std::int32_t count = own;
    walk(nodes, leaf, opening, [&](std::int32_t) { return ++count <= most || any_size; });
    if (count <= most || any_size) {
      found.opening[node] = opening;
      found.unknowns[node] = count;
      return;
    }
    if (own > nodes.rules.smallest_leaf && opening > much_coarser * nodes.options.opening) {
      found.unknowns[node] = -1;
      found.is_next[nodes.first[node].left] = found.is_next[nodes.first[node].right] = 1;
      return;
    }
  }
}

/// After leaves have been halved.
__global__ void flag_nodes(Nodes nodes, const std::int32_t* unknowns, int max_leaf,
                           std::int32_t* is_leaf, std::int32_t* is_above) {
  const std::int64_t k = thread_index();
  if (k >= nodes.count) return;
  is_leaf[k] = unknowns[k] > 0;
  is_above[k] = unknowns[k] < 0 || nodes.first[k].size() > max_leaf;
}

__global__ void take_unknowns(const std::int32_t* leaves, std::int64_t n_leaves,
                              const std::int32_t* unknowns, std::int32_t* of_leaves) {
  const std::int64_t f = thread_index();
  if (f <= n_leaves) of_leaves[f] = f < n_leaves ? unknowns[leaves[f]] : 0;
}

__global__ void fill_cuts(Nodes nodes, const std::int32_t* leaves, std::int64_t n_leaves,
                          const double* opening, const std::int64_t* begin, std::int32_t* cut,
                          std::int32_t* has_long) {
  const std::int64_t f = thread_index();
  if (f >= n_leaves) return;
  bool any_long = false;
  std::int32_t* to = cut + begin[f];
  const auto take = [&](std::int32_t k) {
    any_long = any_long || nodes.first[k].is_long();
    *to++ = k;
    return true;
  };
  const std::int32_t leaf = leaves[f], end = descendants_end(nodes.first[leaf], leaf);
  walk(nodes, view_leaf(nodes.first, leaf), opening[leaf], take);
  for (std::int32_t k = leaf; k < end; ++k)
    if (nodes.first[k].is_panel()) take(k);
  has_long[f] = any_long;
}

/// Counts the cuts of all leaves, and halves those that have to be.
void find_cuts(DeviceClusterTree& tree, const Nodes& nodes, FoundCuts found, cudaStream_t stream) {
  const auto count = [&](const DeviceBuffer<std::int32_t>& leaves) {
    const auto n = static_cast<std::int64_t>(leaves.size());
    launch(count_cuts, blocks_for(n, threads), threads, 0, stream, nodes, leaves.data(), n, found);
  };
  if (nodes.rules.smallest_leaf >= nodes.options.max_leaf) return count(tree.leaves);
  DeviceBuffer<std::int32_t> is_next(nodes.count, stream), next;
  found.is_next = is_next.data();
  bool any_halved = false;
  for (const auto* leaves = &tree.leaves; leaves->size() > 0; leaves = &next) {
    is_next.fill_bytes(0);
    count(*leaves);
    next = where(is_next, stream);
    any_halved = any_halved || next.size() > 0;
  }
  if (!any_halved) return;
  DeviceBuffer<std::int32_t> is_leaf(nodes.count, stream), is_above(nodes.count, stream);
  launch(flag_nodes, blocks_for(nodes.count), threads_per_block, 0, stream, nodes, found.unknowns,
         nodes.options.max_leaf, is_leaf.data(), is_above.data());
  tree.leaves = where(is_leaf, stream);
  tree.above = where(is_above, stream);
}

}  // namespace

DeviceCuts make_cuts(DeviceClusterTree& tree, const ClusterInverseOptions& options,
                     cudaStream_t stream, const CutRules& rules) {
  const Nodes nodes{tree.nodes.data(), static_cast<std::int32_t>(tree.nodes.size()), options,
                    rules};
  DeviceBuffer<double> opening(nodes.count, stream);
  DeviceBuffer<std::int32_t> of_nodes(nodes.count, stream);
  of_nodes.fill_bytes(0);
  find_cuts(tree, nodes, {opening.data(), of_nodes.data(), nullptr}, stream);

  const auto n_leaves = static_cast<std::int64_t>(tree.leaves.size());
  DeviceBuffer<std::int32_t> unknowns(n_leaves + 1, stream);
  launch(take_unknowns, blocks_for(n_leaves + 1), threads_per_block, 0, stream, tree.leaves.data(),
         n_leaves, of_nodes.data(), unknowns.data());
  DeviceCuts result;
  result.begin = DeviceBuffer<std::int64_t>(n_leaves + 1, stream);
  exclusive_sum(unknowns.data(), result.begin.data(), n_leaves + 1, stream);
  result.nodes =
      DeviceBuffer<std::int32_t>(download_one(result.begin.data() + n_leaves, stream), stream);
  result.has_long = DeviceBuffer<std::int32_t>(n_leaves, stream);
  launch(fill_cuts, blocks_for(n_leaves, threads), threads, 0, stream, nodes, tree.leaves.data(),
         n_leaves, opening.data(), result.begin.data(), result.nodes.data(),
         result.has_long.data());
  return result;
}

}  // namespace fmbem::cuda::bem
