#include <algorithm>
#include <utility>

#include "fmbem/bem/near/block_product.hpp"
#include "fmbem/bem/precond/cuda/cluster_apply.cuh"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"

namespace fmbem::cuda::bem {
namespace {

/// Nodes of a cut whose means are in shared memory at a time.
constexpr int cut_part = 2 * threads_per_block;

__global__ void take_spans(const Cluster* nodes, std::int64_t n_nodes, NodeSpan* spans,
                           double* area) {
  const std::int64_t k = thread_index();
  if (k >= n_nodes) return;
  spans[k] = {nodes[k].begin, nodes[k].end, nodes[k].area};
  if (nodes[k].is_panel()) area[nodes[k].begin] = nodes[k].area;
}

__device__ inline std::int32_t place_above(const std::int32_t* above, std::int32_t n_above,
                                           std::int32_t node) {
  return node < 0 ? -1 : lower_bound(above, 0, n_above, node);
}

/// Of the leaves and the nodes above them, of which there are fewer.
__global__ void link_nodes(const Cluster* nodes, const std::int32_t* parent,
                           const std::int32_t* leaves, std::int32_t n_leaves,
                           const std::int32_t* above, std::int32_t n_above,
                           std::int32_t* leaf_parent, NodeAbove* out) {
  const std::int64_t i = thread_index();
  if (i >= n_leaves) return;
  leaf_parent[i] = place_above(above, n_above, parent[leaves[i]]);
  if (i >= n_above) return;  // there are more leaves
  const std::int32_t k = above[i];
  out[i] = {k, nodes[k].left, nodes[k].right, place_above(above, n_above, parent[k])};
}

/// Area-weighted means over the nodes in leaves, each from its panels.
__global__ void take_low_means(const NodeSpan* nodes, std::int64_t n_nodes, int max_leaf,
                               const double* area, const double* x, std::int64_t n, double* means) {
  const std::int64_t k = thread_index();
  if (k >= n_nodes) return;
  const NodeSpan node = nodes[k];
  x += blockIdx.y * n;
  double mean = x[node.begin];
  if (node.end - node.begin > max_leaf) return;
  if (node.end - node.begin > 1) {
    double sum = 0;
    for (std::int32_t i = node.begin; i < node.end; ++i) sum += area[i] * x[i];
    mean = sum / node.area;
  }
  means[blockIdx.y * n_nodes + k] = mean;
}

/// The nodes above, from the leaves up. The second thread that comes to a node goes on with it.
__global__ void take_high_means(const NodeSpan* nodes, std::int64_t n_nodes,
                                const std::int32_t* leaf_parent, std::int64_t n_leaves,
                                const NodeAbove* above, unsigned* arrived, double* means) {
  const std::int64_t f = thread_index();
  if (f >= n_leaves) return;
  means += blockIdx.y * n_nodes;
  arrived += blockIdx.y * (n_leaves - 1);
  for (std::int32_t a = leaf_parent[f]; a >= 0; a = above[a].parent) {
    __threadfence();
    if (atomicAdd(arrived + a, 1u) == 0) return;
    __threadfence();
    const NodeAbove node = above[a];
    means[node.node] =
        (nodes[node.left].area * means[node.left] + nodes[node.right].area * means[node.right]) /
        nodes[node.node].area;
  }
}

/// Four neighbouring values of rows.
using Quad = uint2;
__device__ inline float2 low_half(Quad q) {
  return __half22float2(*reinterpret_cast<const __half2*>(&q.x));
}
__device__ inline float2 high_half(Quad q) {
  return __half22float2(*reinterpret_cast<const __half2*>(&q.y));
}

/// A block for each leaf. A thread has four neighbouring panels and every so many nodes of the cut,
/// so that a block reads its rows in one piece. The threads' shares are summed last. Where panels
/// have several fields these count as panels, and those of nodes as nodes.
template <int vectors, int fields>
__global__ void __launch_bounds__(threads_per_block)
    apply_rows(LeafRowsView view, const double* means, int present, double* y, std::int64_t n) {
  __shared__ double s_means[vectors][cut_part];
  __shared__ double s_sums[4 * threads_per_block];
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t f = blockIdx.x, begin = view.cut_begin[f];
  const auto m = fields * static_cast<std::int32_t>(view.cut_begin[f + 1] - begin);
  const NodeSpan leaf = view.nodes[view.leaves[f]];
  const std::int32_t own = fields * (leaf.end - leaf.begin), quads = (own + 3) / 4;
  const Quad* rows = reinterpret_cast<const Quad*>(view.rows + view.row_begin[f]);

  for (std::int32_t first_quad = 0; first_quad < quads; first_quad += threads_per_block) {
    const int width = min(quads - first_quad, threads_per_block);
    const int shares = threads_per_block / width, share = thread / width;
    const int quad = thread % width;
    double sum[vectors][4] = {};
    for (std::int32_t first = 0; first < m; first += cut_part) {
      const int part = min(m - first, cut_part);
      __syncthreads();
      for (int k = thread; k < part; k += threads_per_block) {
        const std::int32_t node = view.cut[begin + (first + k) / fields],
                           field = (first + k) % fields;
#pragma unroll
        for (int v = 0; v < vectors; ++v)
          s_means[v][k] =
              v < present ? means[(std::int64_t{v} * fields + field) * view.n_nodes + node] : 0;
      }
      __syncthreads();
      if (share >= shares) continue;
      const Quad* from = rows + static_cast<std::int64_t>(first) * quads + first_quad + quad;
#pragma unroll 4
      for (int k = share; k < part; k += shares) {
        const Quad row = __ldcs(from + static_cast<std::int64_t>(k) * quads);
        const float2 low = low_half(row), high = high_half(row);
#pragma unroll
        for (int v = 0; v < vectors; ++v) {
          const double mean = s_means[v][k];
          sum[v][0] += static_cast<double>(low.x) * mean;
          sum[v][1] += static_cast<double>(low.y) * mean;
          sum[v][2] += static_cast<double>(high.x) * mean;
          sum[v][3] += static_cast<double>(high.y) * mean;
        }
      }
    }
    const int columns = min(4 * width, own - 4 * first_quad);
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      if (v >= present) break;
      __syncthreads();
      // [share][panel], four neighbouring ones a thread
#pragma unroll
      for (int c = 0; c < 4; ++c) s_sums[4 * thread + c] = sum[v][c];
      __syncthreads();
      for (int i = thread; i < columns; i += threads_per_block) {
        double all = 0;
        for (int s = 0; s < shares; ++s) all += s_sums[4 * s * width + i];
        const std::int32_t panel = fields * leaf.begin + 4 * first_quad + i;
        y[v * n * fields + panel] = all * static_cast<double>(view.scale[panel]) / view.extent;
      }
    }
  }
}

}  // namespace

LeafRowsView RowsProduct::view() const {
  return {nodes_.data(),
          static_cast<std::int64_t>(nodes_.size()),
          leaves_.data(),
          cuts_.begin.data(),
          cuts_.nodes.data(),
          rows_.begin.data(),
          rows_.values.data(),
          rows_.scale.data(),
          extent_};
}

RowsProduct::RowsProduct(const DeviceClusterTree& tree, DeviceCuts cuts, DeviceRows rows,
                         double extent, int max_leaf, cudaStream_t stream, int fields)
    : extent_(extent),
      max_leaf_(max_leaf),
      fields_(fields),
      cuts_(std::move(cuts)),
      rows_(std::move(rows)) {
  cuts_.has_long = {};  // that was for the systems
  const auto n_nodes = static_cast<std::int64_t>(tree.nodes.size());
  const auto n_leaves = static_cast<std::int64_t>(tree.leaves.size());
  area_ = DeviceBuffer<double>(tree.size(), stream);
  nodes_ = DeviceBuffer<NodeSpan>(n_nodes, stream);
  launch(take_spans, blocks_for(n_nodes), threads_per_block, 0, stream, tree.nodes.data(), n_nodes,
         nodes_.data(), area_.data());
  leaves_ = DeviceBuffer<std::int32_t>(n_leaves, stream);
  FMBEM_CUDA(cudaMemcpyAsync(leaves_.data(), tree.leaves.data(), n_leaves * sizeof(std::int32_t),
                             cudaMemcpyDeviceToDevice, stream));
  parent_ = DeviceBuffer<std::int32_t>(n_leaves, stream);
  above_ = DeviceBuffer<NodeAbove>(tree.above.size(), stream);
  launch(link_nodes, blocks_for(n_leaves), threads_per_block, 0, stream, tree.nodes.data(),
         tree.parent.data(), tree.leaves.data(), n_leaves, tree.above.data(), tree.above.size(),
         parent_.data(), above_.data());
}

template <int vectors>
void RowsProduct::apply_group(const double* x, double* y, int present, double* means,
                              unsigned* arrived, cudaStream_t stream) const {
  const auto n_nodes = static_cast<std::int64_t>(nodes_.size());
  const auto many = static_cast<unsigned>(present * fields_);
  launch(take_low_means, dim3(blocks_for(n_nodes), many), threads_per_block, 0, stream,
         nodes_.data(), n_nodes, max_leaf_, area_.data(), x, size(), means);
  if (leaves() > 1) {
    FMBEM_CUDA(cudaMemsetAsync(arrived, 0, many * (leaves() - 1) * sizeof(*arrived), stream));
    launch(take_high_means, dim3(blocks_for(leaves()), many), threads_per_block, 0, stream,
           nodes_.data(), n_nodes, parent_.data(), leaves(), above_.data(), arrived, means);
  }
  launch(fields_ == 1 ? apply_rows<vectors, 1> : apply_rows<vectors, 2>,
         static_cast<unsigned>(leaves()), threads_per_block, 0, stream, view(), means, present, y,
         size());
}

void RowsProduct::apply(const double* x, double* y, int n_vectors, cudaStream_t stream) const {
  const std::int64_t most = std::int64_t{fields_} * std::min(n_vectors, block_vectors);
  DeviceBuffer<double> means(most * nodes_.size(), stream);
  DeviceBuffer<unsigned> arrived(most * (leaves() - 1), stream);
  for_vector_groups(n_vectors, [&](int first, int width, int present) {
    const double* from = x + first * size() * fields_;
    double* to = y + first * size() * fields_;
    if (width == 1)
      apply_group<1>(from, to, present, means.data(), arrived.data(), stream);
    else
      apply_group<block_vectors>(from, to, present, means.data(), arrived.data(), stream);
  });
}

std::int64_t RowsProduct::bytes() const {
  return area_.bytes() + nodes_.bytes() + leaves_.bytes() + parent_.bytes() + above_.bytes() +
         cuts_.begin.bytes() + cuts_.nodes.bytes() + rows_.begin.bytes() + rows_.values.bytes() +
         rows_.scale.bytes();
}

}  // namespace fmbem::cuda::bem
