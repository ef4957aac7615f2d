#include "fmbem/bem/precond/cuda/cluster_trees.cuh"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/primitives.cuh"
#include "fmbem/cuda/tree.cuh"

namespace fmbem::cuda::bem {
namespace {

/// The trees, one behind the other.
struct Trees {
  const std::int32_t* begin;  ///< [count + 1], panels
  std::int32_t count;

  struct Range {
    std::int32_t begin, end;
  };
  /// The panels of the tree that has one.
  __device__ Range around(std::int32_t panel) const {
    const std::int32_t next = lower_bound(begin, 0, count, panel + 1);
    return {begin[next - 1], begin[next]};
  }
};

/// Each gap between neighbouring panels of a tree, gap j being the one before panel j, is where
/// exactly one node is cut in two. Finds that node's panels [begin[j], end[j]): all whose keys
/// agree in the bits that these two have in common or, of panels with the same key, a half of a
/// half … A gap between trees has the begin −1.
__global__ void find_ranges(const std::uint64_t* keys, Trees trees, std::int32_t n,
                            std::int32_t* begin, std::int32_t* end) {
  const auto j = static_cast<std::int32_t>(1 + thread_index());
  if (j >= n) return;
  const Trees::Range tree = trees.around(j);
  begin[j] = -1;
  if (j == tree.begin) return;
  const std::uint64_t key = keys[j], differ = keys[j - 1] ^ key;
  std::int32_t b, e;
  if (differ != 0) {
    const int bits = 64 - __clzll(static_cast<long long>(differ));
    const std::uint64_t first = key >> bits << bits;
    b = lower_bound(keys, tree.begin, j, first);
    e = lower_bound(keys, j, tree.end, first + (std::uint64_t{1} << bits));
  } else {
    b = lower_bound(keys, tree.begin, j, key);
    e = lower_bound(keys, j, tree.end, key + 1);
    for (std::int32_t middle = b + (e - b) / 2; middle != j; middle = b + (e - b) / 2) {
      if (j < middle)
        e = middle;
      else
        b = middle;
    }
  }
  begin[j] = b;
  end[j] = e;
}

/// Counts, for each panel, the nodes of several panels that begin with it: the smallest is cut
/// behind it, each larger one where the one before ends.
__global__ void count_nodes(const std::int32_t* begin, const std::int32_t* end, std::int32_t n,
                            std::int32_t* nodes_from) {
  const auto i = static_cast<std::int32_t>(thread_index());
  if (i >= n) return;
  std::int32_t count = 0;
  for (std::int32_t e = i + 1; e < n && begin[e] == i; e = end[e]) ++count;
  nodes_from[i] = count;
}

/// The place of panel i in preorder: before it come i panels and all nodes that begin with one of
/// these or with it. Of the nodes that begin with it the largest is first.
__global__ void number_nodes(Trees trees, const std::int32_t* begin, const std::int32_t* end,
                             std::int32_t n, const std::int32_t* nodes_from,
                             const std::int32_t* nodes_before, DevicePanels panels, Cluster* nodes,
                             std::int32_t* parent, std::int32_t* panel_node) {
  const auto i = static_cast<std::int32_t>(thread_index());
  if (i >= n) return;
  if (i == trees.around(i).begin) parent[i + nodes_before[i]] = -1;
  std::int32_t at = i + nodes_before[i] + nodes_from[i];
  panel_node[i] = at;
  Cluster panel{i, i + 1, -1, -1, 0, {}, 0, 0, {}};
  measure_panel(panels.triangle(i), panel);
  nodes[at] = panel;
  for (std::int32_t middle = i + 1; middle < n && begin[middle] == i; middle = end[middle]) {
    --at;
    const std::int32_t left = at + 1, right = at + 2 * (middle - i);
    nodes[at] = {i, end[middle], left, right, 0, {}, 0, 0, {}};
    parent[left] = parent[right] = at;
  }
}

/// From the panels up: the second thread that comes to a node finds both halves done and goes on.
__global__ void measure_nodes(std::int32_t n, const std::int32_t* panel_node,
                              const std::int32_t* parent, Cluster* nodes, unsigned* arrived) {
  const std::int64_t i = thread_index();
  if (i >= n) return;
  for (std::int32_t k = parent[panel_node[i]]; k >= 0; k = parent[k]) {
    __threadfence();
    if (atomicAdd(arrived + k, 1u) == 0) return;
    __threadfence();
    const std::int32_t left = nodes[k].left, right = nodes[k].right;
    measure_halves(nodes[left], nodes[right], nodes[k]);
  }
}

__global__ void flag_leaves(const Cluster* nodes, const std::int32_t* parent, std::int32_t n_nodes,
                            int max_leaf, std::int32_t* is_leaf, std::int32_t* is_above) {
  const std::int64_t k = thread_index();
  if (k >= n_nodes) return;
  const bool small = nodes[k].size() <= max_leaf;
  is_above[k] = !small;
  is_leaf[k] = small && (parent[k] < 0 || nodes[parent[k]].size() > max_leaf);
}

/// Largest distance of an end of a panel in [begin, end) from a point, in all lanes.
__device__ double reach(const Vec3d* vertices, std::int32_t begin, std::int32_t end, Vec3d from) {
  double reach2 = 0;
  for (std::int64_t v = 3 * static_cast<std::int64_t>(begin) + threadIdx.x % warp_size;
       v < 3 * static_cast<std::int64_t>(end); v += warp_size)
    reach2 = fmax(reach2, norm2(vertices[v] - from));
  for (int step = warp_size / 2; step > 0; step /= 2)
    reach2 = fmax(reach2, __shfl_xor_sync(whole_warp, reach2, step));
  return std::sqrt(reach2);
}

/// Radii of nodes that are not long; long ones have theirs from their halves. A warp for each leaf
/// does the nodes in it and its share of those above. Bits of numbers that are not negative are
/// ordered as the numbers are, so atomic maxima give the same result in any order of the warps.
__global__ void find_radii(const std::int32_t* leaves, std::int64_t n_leaves,
                           const std::int32_t* parent, const Vec3d* vertices, Cluster* nodes) {
  const std::int64_t f = thread_index() / warp_size;
  if (f >= n_leaves) return;
  const bool writes = threadIdx.x % warp_size == 0;
  const std::int32_t leaf = leaves[f];
  const std::int32_t begin = nodes[leaf].begin, end = nodes[leaf].end;
  const std::int32_t last = descendants_end(nodes[leaf], leaf);
  for (std::int32_t k = leaf; k < last; ++k) {
    if (nodes[k].is_panel() || nodes[k].is_long()) continue;
    const double radius = reach(vertices, nodes[k].begin, nodes[k].end, nodes[k].centroid);
    if (writes) nodes[k].radius = radius;
  }
  for (std::int32_t k = parent[leaf]; k >= 0; k = parent[k]) {
    if (nodes[k].is_long()) continue;
    const double radius = reach(vertices, begin, end, nodes[k].centroid);
    if (writes)
      atomicMax(reinterpret_cast<unsigned long long*>(&nodes[k].radius),
                static_cast<unsigned long long>(__double_as_longlong(radius)));
  }
}

}  // namespace

DeviceClusterTree make_cluster_trees(const DevicePanels& panels,
                                     std::span<const std::int32_t> tree_begin, int max_leaf,
                                     cudaStream_t stream) {
  const auto n = static_cast<std::int32_t>(panels.size),
             n_trees = static_cast<std::int32_t>(tree_begin.size()) - 1, n_nodes = 2 * n - n_trees;
  const unsigned blocks = blocks_for(n);
  const DeviceBuffer<std::int32_t> begins = to_device(tree_begin, stream);
  const Trees trees{begins.data(), n_trees};
  DeviceBuffer<std::int32_t> begin(n, stream), end(n, stream);
  launch(find_ranges, blocks_for(n - 1), threads_per_block, 0, stream, panels.keys, trees, n,
         begin.data(), end.data());
  DeviceBuffer<std::int32_t> nodes_from(n, stream), nodes_before(n, stream), panel_node(n, stream);
  launch(count_nodes, blocks, threads_per_block, 0, stream, begin.data(), end.data(), n,
         nodes_from.data());
  exclusive_sum(nodes_from.data(), nodes_before.data(), n, stream);

  DeviceClusterTree tree;
  tree.nodes = DeviceBuffer<Cluster>(n_nodes, stream);
  tree.parent = DeviceBuffer<std::int32_t>(n_nodes, stream);
  launch(number_nodes, blocks, threads_per_block, 0, stream, trees, begin.data(), end.data(), n,
         nodes_from.data(), nodes_before.data(), panels, tree.nodes.data(), tree.parent.data(),
         panel_node.data());

  DeviceBuffer<unsigned> arrived(n_nodes, stream);
  arrived.fill_bytes(0);
  launch(measure_nodes, blocks, threads_per_block, 0, stream, n, panel_node.data(),
         tree.parent.data(), tree.nodes.data(), arrived.data());

  DeviceBuffer<std::int32_t> is_leaf(n_nodes, stream), is_above(n_nodes, stream);
  launch(flag_leaves, blocks_for(n_nodes), threads_per_block, 0, stream, tree.nodes.data(),
         tree.parent.data(), n_nodes, max_leaf, is_leaf.data(), is_above.data());
  tree.leaves = where(is_leaf, stream);
  tree.above = where(is_above, stream);
  const auto leaves = static_cast<std::int64_t>(tree.leaves.size());
  launch(find_radii, blocks_for(leaves, warps_per_block), threads_per_block, 0, stream,
         tree.leaves.data(), leaves, tree.parent.data(), panels.vertices, tree.nodes.data());
  return tree;
}

DeviceClusterTree make_cluster_tree(const DevicePanels& panels, int max_leaf, cudaStream_t stream) {
  const std::int32_t begin[] = {0, static_cast<std::int32_t>(panels.size)};
  return make_cluster_trees(panels, begin, max_leaf, stream);
}

}  // namespace fmbem::cuda::bem
