#pragma once

#include "fmbem/bem/geometry/cuda/device_panels.hpp"
#include "fmbem/bem/precond/cluster_kernel.hpp"
#include "fmbem/bem/precond/cuda/cholesky.cuh"
#include "fmbem/bem/precond/cuda/elimination.cuh"

namespace fmbem::cuda::bem {

/// An unknown of a small system. Its size is an odd number of words, so that neighbours are in
/// different banks of shared memory.
struct Unknown {
  PlacedCluster at;
  float radius;        ///< of a panel, in the leaf's units
  std::int32_t panel;  ///< −1 for clusters
};
static_assert(sizeof(Unknown) == 28);

/// The longest edge of a panel in a leaf's coordinates, and its width.
struct PlacedEdge {
  Vec3<float> middle, half;  ///< half: from there to its end; 0 of panels that are not long
  float width;

  PlacedEdge() = default;
  __device__ PlacedEdge(const Triangle& t, Vec3d origin, double unit)
      : half{0, 0, 0}, width(static_cast<float>(unit * panel_width(t))) {
    const int edge = longest_edge_of(t);
    const Vec3d d = unit * (0.5 * (t.vertex[edge] + t.vertex[(edge + 1) % 3]) - origin),
                h = 0.5 * unit * t.length[edge] * t.tangent[edge];
    middle = {static_cast<float>(d.x), static_cast<float>(d.y), static_cast<float>(d.z)};
    if (fmbem::is_long(t))
      half = {static_cast<float>(h.x), static_cast<float>(h.y), static_cast<float>(h.z)};
  }
  __device__ bool is_long() const { return norm2(half) > 0; }
  /// Whether a panel about x of that width may be as close to the edge as triangles_touch() asks
  /// for. Rounding counts as close.
  __device__ bool is_close(Vec3<float> x, float other_width) const {
    const Vec3<float> d = x - middle;
    const float h2 = norm2(half), at = fminf(fmaxf(dot(d, half) / h2, -1.f), 1.f),
                reach = 1.001f * static_cast<float>(long_touching) * (width + other_width) +
                        4e-6f * (fabsf(x.x) + fabsf(x.y) + fabsf(x.z) + sqrtf(h2));
    return norm2(d - at * half) <= reach * reach;
  }
};

/// What a block works with: the matrix and, in another piece of memory, the rest. For Cholesky's
/// factorisation m is filled up to whole tiles; the additions, with ones on the diagonal, stand
/// before the others, so that the own unknowns are last.
struct Workspace {
  float* matrix;
  Unknown* unknowns;        ///< [padded(m)]
  std::int32_t* panels;     ///< [m], the unknowns that are panels
  float* row_scale;         ///< [own]
  PlacedSegment* segment;   ///< [m], of a general system, as are the next
  PlacedEdge* edge;         ///< [m], of the unknowns that are panels
  std::int32_t* column_of;  ///< [m]

  __host__ __device__ static constexpr int padded(int m) { return (m + tile - 1) / tile * tile; }
  /// Of a general system the matrix of either method, as Cholesky's may have to serve.
  __host__ __device__ static constexpr std::int64_t matrix_bytes(int m, bool general) {
    const std::int64_t symmetric = TileMatrix::size(padded(m) / tile) *
                                   static_cast<std::int64_t>(sizeof(float)),
                       square = general ? SquareMatrix::bytes(m) : 0;
    return ((symmetric > square ? symmetric : square) + 15) / 16 * 16;
  }
  static constexpr std::int64_t rest_bytes(int m, int own, bool general) {
    constexpr auto of_general = static_cast<std::int64_t>(
        sizeof(PlacedSegment) + sizeof(PlacedEdge) + sizeof(std::int32_t));
    const std::int64_t all = padded(m) * static_cast<std::int64_t>(sizeof(Unknown)) +
                             m * static_cast<std::int64_t>(sizeof(std::int32_t)) +
                             own * static_cast<std::int64_t>(sizeof(float)) +
                             (general ? m : 0) * of_general;
    return (all + 15) / 16 * 16;
  }
  __device__ Workspace(void* of_matrix, void* rest, int m, int own)
      : matrix(static_cast<float*>(of_matrix)),
        unknowns(static_cast<Unknown*>(rest)),
        panels(reinterpret_cast<std::int32_t*>(unknowns + padded(m))),
        row_scale(reinterpret_cast<float*>(panels + m)),
        segment(reinterpret_cast<PlacedSegment*>(row_scale + own)),
        edge(reinterpret_cast<PlacedEdge*>(segment + m)),
        column_of(reinterpret_cast<std::int32_t*>(edge + m)) {}
};

/// Puts the unknowns of a leaf in their places; returns how many of them are panels.
template <bool general>
__device__ inline int place_unknowns(const Cluster* nodes, const DevicePanels& panels,
                                     const Cluster& leaf, const std::int32_t* cut, int m,
                                     const Workspace& space) {
  const double unit = 1 / leaf.radius;
  const int pad = Workspace::padded(m) - m;
  for (int k = static_cast<int>(threadIdx.x); k < pad + m; k += block_threads()) {
    Unknown unknown{{0, 0, 0, 1, 0}, 0, -1};
    if (k >= pad) {
      const Cluster& node = nodes[cut[k - pad]];
      unknown = {place_cluster(node, leaf.centroid, unit), 0, -1};
      if (node.is_panel()) {
        unknown.radius = static_cast<float>(unit * panels.radius[node.begin]);
        unknown.panel = node.begin;
      }
      if constexpr (general) {
        space.segment[k - pad] = place_segment(node, unit);
        if (node.is_panel())
          space.edge[k - pad] = {panels.triangle(node.begin), leaf.centroid, unit};
      }
      const int own = k - (pad + m - leaf.size());
      if (own >= 0)
        space.row_scale[own] = row_scale(unknown.at.scale, panels.extent, unit, node.area);
    }
    space.unknowns[k] = unknown;
  }
  __syncthreads();
  __shared__ int s_panels;
  if (threadIdx.x < warp_size) {
    int count = 0;
    for (int first = 0; first < m; first += warp_size) {
      const int k = first + static_cast<int>(threadIdx.x);
      const bool is_panel = k < m && space.unknowns[pad + k].panel >= 0;
      const unsigned all = __ballot_sync(whole_warp, is_panel);
      if (is_panel) space.panels[count + __popc(all & ((1u << threadIdx.x) - 1))] = k;
      count += __popc(all);
    }
    if (threadIdx.x == 0) s_panels = count;
  }
  __syncthreads();
  return s_panels;
}

/// The matrix by the smooth kernel alone, with these own entries of panels and clusters; in a
/// general system long nodes are segments.
template <bool general>
__device__ void fill_tiles(const TileMatrix& matrix, const Workspace& space, int pad,
                           float of_panels, float of_clusters) {
  for (int e = static_cast<int>(threadIdx.x); e < tile_entries; e += block_threads()) {
    const int r = e % tile, c = e / tile;
    for (int i = 0; i < matrix.count; ++i) {
      const PlacedCluster row = space.unknowns[tile * i + r].at;
      for (int j = 0; j <= i; ++j) {
        const int k = tile * j + c;
        const PlacedCluster column = space.unknowns[k].at;
        float entry = space.unknowns[k].panel >= 0 ? of_panels : of_clusters;
        if (i != j || r != c)
          entry = general && k >= pad ? segment_entry(row, column, space.segment[k - pad])
                                      : smooth_entry(row, column);
        matrix.at(i, j)[e] = entry;
      }
    }
  }
  __syncthreads();
}

/// The equations as they are, not made symmetric; long nodes are segments.
__device__ inline void fill_equations(const SquareMatrix& a, const Unknown* unknowns,
                                      const PlacedSegment* segment) {
  const int thread = static_cast<int>(threadIdx.x), warps = block_threads() / warp_size;
  for (int l = thread / warp_size; l < a.size; l += warps)
    for (int k = thread % warp_size; k < a.size; k += warp_size)
      a.at(k, l) =
          k == l ? 1 + rounding_of_sums : segment_entry(unknowns[k].at, unknowns[l].at, segment[l]);
  __syncthreads();
}

/// triangles_touch() of two panels that touch(), by two neighbouring lanes, each with its source
/// and the other one's centroid. To be called by whole warps.
__device__ inline bool pair_touches(const Triangle& source, Vec3d target, bool touches) {
  const auto of_other = [](auto own) { return __shfl_xor_sync(whole_warp, own, 1); };
  const double width = panel_width(source), reach = long_touching * (width + of_other(width));
  const int own_long = is_long(source), is_close = own_long && close_to_edge(target, source, reach),
            any_long = own_long | of_other(own_long), any_close = is_close | of_other(is_close);
  return touches && (!any_long || any_close);
}

/// Calls set(k, l, a_kl, a_lk), k > l, for unknowns that are panels that touch.
template <bool general, class Set>
__device__ void for_exact_entries(const DevicePanels& panels, const Workspace& space, int pad,
                                  int n_panels, double unit, Set&& set) {
  // One pair in twenty touches. These are gathered first, so that threads do not wait for others.
  constexpr int capacity = 2 * solve_threads;
  __shared__ int2 s_pairs[capacity];
  __shared__ int s_count;
  const int thread = static_cast<int>(threadIdx.x), threads = block_threads();
  const std::int64_t pairs = static_cast<std::int64_t>(n_panels) * (n_panels - 1) / 2;
  const Unknown* unknowns = space.unknowns + pad;
  if (thread == 0) s_count = 0;
  __syncthreads();
  int k = 1, l = thread, gathered = 0;
  for (std::int64_t first = 0; first < pairs; first += threads, l += threads) {
    for (; l >= k && k < n_panels; ++k) l -= k;
    bool is_near = false;
    if (k < n_panels) {
      const Unknown &s = unknowns[space.panels[k]], &t = unknowns[space.panels[l]];
      const float dx = s.at.x - t.at.x, dy = s.at.y - t.at.y, dz = s.at.z - t.at.z;
      // A shift of the diagonal in single precision, larger than its rounding.
      const float reach = 1.001f * static_cast<float>(touching) * (s.radius + t.radius) +
                          1e-6f * (fabsf(s.at.x) + fabsf(s.at.y) + fabsf(s.at.z));
      is_near = dx * dx + dy * dy + dz * dz <= reach * reach;
      if constexpr (general) {
        const PlacedEdge &e = space.edge[space.panels[k]], &f = space.edge[space.panels[l]];
        if (e.is_long() || f.is_long())
          is_near = is_near && ((e.is_long() && e.is_close({t.at.x, t.at.y, t.at.z}, f.width)) ||
                                (f.is_long() && f.is_close({s.at.x, s.at.y, s.at.z}, e.width)));
      }
      if (is_near) s_pairs[atomicAdd(&s_count, 1)] = make_int2(space.panels[k], space.panels[l]);
    }
    gathered += __syncthreads_count(is_near);
    if (gathered <= capacity - threads && first + threads < pairs) continue;
    const int tasks = 2 * gathered;
    gathered = 0;
    for (int begin = 0; begin < tasks; begin += threads) {
      const int task = begin + thread;
      double entry = 0;
      bool exact = false;
      int2 pair = make_int2(0, 0);
      std::int32_t target = 0, source = 0;
      float scale = 0;
      if (task < tasks) {
        pair = s_pairs[task / 2];
        const Unknown &s = unknowns[pair.x], &t = unknowns[pair.y];
        exact = touch(panels[s.panel], panels[t.panel]);
        const bool swapped = task % 2 == 1;
        target = swapped ? t.panel : s.panel;
        source = swapped ? s.panel : t.panel;
        scale = s.at.scale * t.at.scale;
      }
      if constexpr (general) {
        const Triangle triangle = panels.triangle(source);
        exact = pair_touches(triangle, panels.centroid[target], exact);
        if (exact) entry = exact_entry(panels.centroid[target], triangle, scale, unit);
      } else if (exact) {
        entry = exact_entry(panels.centroid[target], panels.triangle(source), scale, unit);
      }
      const double other = __shfl_xor_sync(whole_warp, entry, 1);
      if (exact && task % 2 == 0) set(pair.x, pair.y, entry, other);
    }
    __syncthreads();
    if (thread == 0) s_count = 0;
    __syncthreads();
  }
  __syncthreads();
}

}  // namespace fmbem::cuda::bem
