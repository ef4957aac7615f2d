#include "fmbem/bem/precond/cuda/cluster_tree.cuh"
#include "fmbem/bem/precond/cuda/from_panels_up.cuh"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/primitives.cuh"
#include "fmbem/cuda/tree.cuh"

namespace fmbem::cuda::bem {
namespace {

struct Range {
  std::int32_t begin, end;
};

/// Of [all.begin, all.end), those around gap j whose keys agree in all bits that the keys on both
/// sides of it, which differ, have in common.
__device__ Range range_of_bits(const std::uint64_t* keys, Range all, std::int32_t j) {
  const std::uint64_t key = keys[j], differ = keys[j - 1] ^ key;
  const int bits = 64 - __clzll(static_cast<long long>(differ));
  const std::uint64_t first = key >> bits << bits;
  return {lower_bound(keys, all.begin, j, first),
          lower_bound(keys, j, all.end, first + (std::uint64_t{1} << bits))};
}

/// Those whose value is that of j, and of j − 1.
template <class T>
__device__ Range range_of_equal(const T* values, Range all, std::int32_t j) {
  return {lower_bound(values, all.begin, j, values[j]),
          lower_bound(values, j, all.end, static_cast<T>(values[j] + 1))};
}

/// Of all, a half of a half … that is cut at j.
template <class Cut>
__device__ Range range_of_halves(Range all, std::int32_t j, Cut&& cut) {
  for (std::int32_t middle = cut(all); middle != j; middle = cut(all))
    (j < middle ? all.end : all.begin) = middle;
  return all;
}

/// Where several parts with the same key are cut in two, as on the host.
__device__ std::int32_t cut_between_parts(const std::int32_t* part, Range all) {
  const std::int32_t middle = all.begin + (all.end - all.begin) / 2,
                     low = lower_bound(part, all.begin, middle, part[middle]),
                     high = lower_bound(part, middle, all.end, part[middle] + 1);
  return low == all.begin || (high < all.end && high - middle < middle - low) ? high : low;
}

__device__ Range tree_around(const PlacesView& places, std::int32_t n, std::int32_t j) {
  if (!places.tree_begin) return {0, n};
  const std::int32_t t = lower_bound(places.tree_begin, 0, places.trees, j + 1) - 1;
  return {places.tree_begin[t], places.tree_begin[t + 1]};
}

/// The node that is cut at gap j, the one before place j.
__device__ Range node_around(const PlacesView& places, Range all, std::int32_t j) {
  const std::int32_t* const part = places.part;
  if (part && part[j - 1] != part[j]) {
    if (places.part_key[j - 1] != places.part_key[j]) return range_of_bits(places.part_key, all, j);
    return range_of_halves(range_of_equal(places.part_key, all, j), j,
                           [&](Range node) { return cut_between_parts(part, node); });
  }
  if (part) all = range_of_equal(part, all, j);
  if (places.key[j - 1] != places.key[j]) return range_of_bits(places.key, all, j);
  return range_of_halves(range_of_equal(places.key, all, j), j,
                         [](Range node) { return node.begin + (node.end - node.begin) / 2; });
}

/// Each gap between neighbouring panels of a tree is where exactly one node is cut in two. Finds
/// that node's places [begin[j], end[j]); −1 between trees.
__global__ void find_ranges(PlacesView places, std::int32_t n, std::int32_t* begin,
                            std::int32_t* end) {
  const auto j = static_cast<std::int32_t>(1 + thread_index());
  if (j >= n) return;
  const Range tree = tree_around(places, n, j);
  const Range node = tree.begin == j ? Range{-1, -1} : node_around(places, tree, j);
  begin[j] = node.begin;
  end[j] = node.end;
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
__global__ void number_nodes(const std::int32_t* begin, const std::int32_t* end, std::int32_t n,
                             const std::int32_t* nodes_from, const std::int32_t* nodes_before,
                             Cluster* nodes, std::int32_t* parent, std::int32_t* panel_node) {
  const auto i = static_cast<std::int32_t>(thread_index());
  if (i >= n) return;
  std::int32_t at = i + nodes_before[i] + nodes_from[i];
  panel_node[i] = at;
  nodes[at] = {i, i + 1, -1, -1, 0, {}, 0, 0, {}};
  for (std::int32_t middle = i + 1; middle < n && begin[middle] == i; middle = end[middle]) {
    --at;
    const std::int32_t left = at + 1, right = at + 2 * (middle - i);
    nodes[at] = {i, end[middle], left, right, 0, {}, 0, 0, {}};
    parent[left] = parent[right] = at;
  }
}

/// Area, centroid and smear of nodes.
struct Measure {
  DevicePanels panels;
  PlacesView places;
  Cluster* nodes;

  __device__ void of_panel(std::int32_t k) const {
    measure_panel(panels.triangle(places.panel(nodes[k].begin)), nodes[k]);
  }
  __device__ void of_halves(std::int32_t k) const {
    measure_halves(nodes[nodes[k].left], nodes[nodes[k].right], nodes[k]);
  }
};

__global__ void flag_leaves(const Cluster* nodes, const std::int32_t* parent, std::int32_t n_nodes,
                            int max_leaf, std::int32_t* is_leaf, std::int32_t* is_above) {
  const std::int64_t k = thread_index();
  if (k >= n_nodes) return;
  const bool small = nodes[k].size() <= max_leaf;
  is_above[k] = !small;
  is_leaf[k] = small && (parent[k] < 0 || nodes[parent[k]].size() > max_leaf);
}

struct Vertices {
  const Vec3d* of_panels;  ///< [n][3]
  PlacesView places;

  __device__ Vec3d at(std::int64_t v) const {
    return of_panels[3 * static_cast<std::int64_t>(places.panel(static_cast<std::int32_t>(v / 3))) +
                     v % 3];
  }
};

/// Largest distance of an end of a panel at [begin, end) from a point, in all lanes.
__device__ double reach(const Vertices& vertices, std::int32_t begin, std::int32_t end,
                        Vec3d from) {
  double reach2 = 0;
  for (std::int64_t v = 3 * static_cast<std::int64_t>(begin) + threadIdx.x % warp_size;
       v < 3 * static_cast<std::int64_t>(end); v += warp_size)
    reach2 = fmax(reach2, norm2(vertices.at(v) - from));
  for (int step = warp_size / 2; step > 0; step /= 2)
    reach2 = fmax(reach2, __shfl_xor_sync(whole_warp, reach2, step));
  return std::sqrt(reach2);
}

/// Of nodes above leaves whose radii are measured: they are upper bounds until then.
__global__ void clear_radii(const std::int32_t* above, std::int64_t n, Cluster* nodes) {
  const std::int64_t k = thread_index();
  if (k < n && !nodes[above[k]].is_long()) nodes[above[k]].radius = 0;
}

/// Radii of nodes that are not long; long ones have theirs from their halves. A warp for each leaf
/// does the nodes in it and its share of those above. Bits of numbers that are not negative are
/// ordered as the numbers are, so atomic maxima give the same result in any order of the warps.
__global__ void find_radii(const std::int32_t* leaves, std::int64_t n_leaves,
                           const std::int32_t* parent, Vertices vertices, Cluster* nodes) {
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

DeviceClusterTree make_cluster_tree(const DevicePanels& panels, const PlacesView& places,
                                    int max_leaf, cudaStream_t stream) {
  FMBEM_REQUIRE(panels.size > 0 && panels.size < (std::int64_t{1} << 30),
                "the preconditioner cannot take " << panels.size << " panels");
  const auto n = static_cast<std::int32_t>(panels.size), n_nodes = 2 * n - places.trees;
  const unsigned blocks = blocks_for(n);
  DeviceBuffer<std::int32_t> begin(n, stream), end(n, stream);
  launch(find_ranges, blocks_for(n - 1), threads_per_block, 0, stream, places, n, begin.data(),
         end.data());
  DeviceBuffer<std::int32_t> nodes_from(n, stream), nodes_before(n, stream);
  launch(count_nodes, blocks, threads_per_block, 0, stream, begin.data(), end.data(), n,
         nodes_from.data());
  exclusive_sum(nodes_from.data(), nodes_before.data(), n, stream);

  DeviceClusterTree tree;
  tree.nodes = DeviceBuffer<Cluster>(n_nodes, stream);
  tree.parent = DeviceBuffer<std::int32_t>(n_nodes, stream);
  tree.panel_node = DeviceBuffer<std::int32_t>(n, stream);
  tree.parent.fill_bytes(0xff);  // −1 of roots
  launch(number_nodes, blocks, threads_per_block, 0, stream, begin.data(), end.data(), n,
         nodes_from.data(), nodes_before.data(), tree.nodes.data(), tree.parent.data(),
         tree.panel_node.data());
  from_panels_up(tree, Measure{panels, places, tree.nodes.data()}, stream);

  DeviceBuffer<std::int32_t> is_leaf(n_nodes, stream), is_above(n_nodes, stream);
  launch(flag_leaves, blocks_for(n_nodes), threads_per_block, 0, stream, tree.nodes.data(),
         tree.parent.data(), n_nodes, max_leaf, is_leaf.data(), is_above.data());
  tree.leaves = where(is_leaf, stream);
  tree.above = where(is_above, stream);
  const auto leaves = static_cast<std::int64_t>(tree.leaves.size());
  const auto above = static_cast<std::int64_t>(tree.above.size());
  launch(clear_radii, blocks_for(above), threads_per_block, 0, stream, tree.above.data(), above,
         tree.nodes.data());
  launch(find_radii, blocks_for(leaves, warps_per_block), threads_per_block, 0, stream,
         tree.leaves.data(), leaves, tree.parent.data(), Vertices{panels.vertices, places},
         tree.nodes.data());
  return tree;
}

}  // namespace fmbem::cuda::bem
