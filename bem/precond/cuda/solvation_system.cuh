#pragma once

#include <cstdint>

#include "fmbem/bem/geometry/triangle.hpp"
#include "fmbem/bem/precond/cuda/solvation_systems.cuh"
#include "fmbem/bem/precond/cuda/tiles.cuh"

namespace fmbem::cuda::bem {

/// A node of a small system, in coordinates about its leaf's centre.
struct alignas(16) SolvationNode {
  Vec3<float> at;
  float smear2;
  float kappa[2], of_flux[2];  ///< of the regions behind and ahead: κ, and −1/ε
  std::int32_t region[2];
  float close2;   ///< panels closer than its root take closed forms; −1 for clusters
  float epsilon;  ///< of the region behind
  // As a source, besides:
  Vec3<float> normal;
  float own_k;
  Vec3<float> middle[3];  ///< of a panel's edges, from its centre; 0 of clusters
  float charge;           ///< area / (4π)

  __device__ bool is_panel() const { return close2 >= 0; }
};

/// Where a block has the nodes of a system and its pairs of close panels, in shared memory.
struct SolvationRoom {
  static constexpr int most_pairs = 2048;

  SolvationNode* nodes;  ///< [m]
  ushort2* pairs;        ///< [most_pairs]

  static constexpr std::int64_t bytes(int m) {
    return m * static_cast<std::int64_t>(sizeof(SolvationNode)) +
           most_pairs * static_cast<std::int64_t>(sizeof(ushort2));
  }
  __device__ SolvationRoom(void* memory, int m)
      : nodes(static_cast<SolvationNode*>(memory)), pairs(reinterpret_cast<ushort2*>(nodes + m)) {}
};

/// ∫ 1/|y| dS and ∫ −n·y/|y|³ dS over a triangle seen from the origin, as view_triangle() has them.
struct CloseIntegrals {
  float potential, angle;

  __device__ CloseIntegrals(const Vec3<float> (&corner)[3], Vec3<float> normal, float twice_area) {
    float r[3], least = INFINITY, height = 0;
#pragma unroll
    for (int c = 0; c < 3; ++c) {
      r[c] = sqrtf(norm2(corner[c]));
      if (r[c] < least) {
        least = r[c];
        height = -dot(corner[c], normal);
      }
    }
    float denominator = r[0] * r[1] * r[2];
    potential = 0;
#pragma unroll
    for (int c = 0; c < 3; ++c) {
      const Vec3<float>&begin = corner[c], &end = corner[(c + 1) % 3];
      const float r_begin = r[c], r_end = r[(c + 1) % 3], length = sqrtf(norm2(end - begin));
      const Vec3<float> along = (1 / length) * (end - begin), outward = cross(along, normal);
      const float distance = dot(r_begin < r_end ? begin : end, outward);
      if (distance != 0)
        potential += distance * edge_log_ratio(dot(begin, along), dot(end, along), r_begin, r_end,
                                               length, distance * distance + height * height);
      denominator += dot(begin, end) * r[(c + 2) % 3];
    }
    angle = height == 0 ? 0 : 2 * atan2f(twice_area * height, denominator);
    potential -= height * angle;
  }
};

/// Fills the system of a leaf, by a block. Entries of node l in the two equations of node k go to
/// store(k, l, of_potential, of_flux), the equation of the region behind k first.
template <class Store>
class SolvationFill {
 public:
  __device__ SolvationFill(const SolvationNodes& of, const Cluster* clusters, const Cluster& leaf,
                           const std::int32_t* cut, int m, const SolvationRoom& room,
                           const Store& store)
      : of_(of),
        clusters_(clusters),
        cut_(cut),
        origin_(leaf.centroid),
        m_(m),
        room_(room),
        store_(store) {}

  __device__ void operator()() const {
    __shared__ int s_close;
    const int thread = static_cast<int>(threadIdx.x);
    if (thread == 0) s_close = 0;
    for (int k = thread; k < m_; k += block_threads()) room_.nodes[k] = place(k);
    __syncthreads();
    for (int first = 0; first < m_; first += warp_size) {
      const int k = first + thread % warp_size;
      const SolvationNode to = room_.nodes[min(k, m_ - 1)];
      const int begin = thread / warp_size, step = block_threads() / warp_size;
      for (int l = begin; l < m_; l += step) {
        const SolvationNode from = room_.nodes[l];
        const Entries entries = far_entries(to, from, k == l);
        if (k < m_) store_(k, l, entries.of_potential, entries.of_flux);
      }
      for (int l = begin; l < m_; l += step) list_close(k, to, l, &s_close);
    }
    __syncthreads();
    // A few pairs in a hundred. They are gathered first, so that threads do not wait for others.
    for (int e = thread; e < min(s_close, SolvationRoom::most_pairs); e += block_threads())
      set_close(room_.pairs[e].x, room_.pairs[e].y);
    __syncthreads();
  }

 private:
  /// Closer than so many radii of the source panels take closed forms.
  static constexpr float close_radii = 4;

  __device__ const Vec3d* vertices_of(const Cluster& panel) const {
    return of_.vertices + 3 * std::int64_t{of_.panel_at[panel.begin]};
  }
  __device__ static Vec3<float> single(Vec3d x) {
    return {static_cast<float>(x.x), static_cast<float>(x.y), static_cast<float>(x.z)};
  }

  __device__ SolvationNode place(int k) const {
    const Cluster& node = clusters_[cut_[k]];
    const NodeSides& sides = of_.sides[cut_[k]];
    SolvationNode placed;
    placed.at = single(node.centroid - origin_);
    placed.smear2 = static_cast<float>(point_smear2(node));
    placed.region[0] = sides.inside;
    placed.region[1] = sides.outside;
#pragma unroll
    for (int side = 0; side < 2; ++side) {
      placed.kappa[side] = static_cast<float>(of_.media.kappa[placed.region[side]]);
      placed.of_flux[side] = static_cast<float>(-1 / of_.media.permittivity[placed.region[side]]);
    }
    placed.close2 = -1;
    placed.epsilon = static_cast<float>(of_.media.permittivity[sides.inside]);
    placed.normal = single(sides.normal);
    placed.own_k = static_cast<float>(sides.own_k);
    placed.charge = static_cast<float>(inv_4pi * node.area);
    for (Vec3<float>& middle : placed.middle) middle = {0, 0, 0};
    if (!node.is_panel()) return placed;
    const Vec3d* const vertex = vertices_of(node);
    double radius2 = 0;
#pragma unroll
    for (int c = 0; c < 3; ++c) {
      placed.middle[c] = single(0.5 * (vertex[c] + vertex[(c + 1) % 3]) - node.centroid);
      radius2 = fmax(radius2, norm2(vertex[c] - node.centroid));
    }
    placed.close2 = close_radii * close_radii * static_cast<float>(radius2);
    return placed;
  }

  /// Of φ and q of a node in Green's identities on another one, of the region behind it first.
  struct Entries {
    float2 of_potential, of_flux;
  };
  /// From V and K without screening and the distance by which they are screened.
  __device__ static Entries entries_of(const SolvationNode& to, const SolvationNode& from,
                                       bool same, float v, float double_layer, float apart) {
    float of_potential[2], of_flux[2];
#pragma unroll
    for (int side = 0; side < 2; ++side) {
      const std::int32_t region = to.region[side];
      const float sign = region == from.region[0]   ? 1
                         : region == from.region[1] ? -1
                                                    : 0,
                  kr = to.kappa[side] * apart, screened = sign * __expf(-kr);
      of_potential[side] = (same ? 0.5f : 0.f) + (1 + kr) * screened * double_layer;
      of_flux[side] = from.epsilon * to.of_flux[side] * screened * v;
    }
    return {{of_potential[0], of_potential[1]}, {of_flux[0], of_flux[1]}};
  }

  /// Nodes are points that are smeared; on panels, panels are the middles of their edges, which is
  /// exact for polynomials of degree 2. All pairs take the same steps, as nothing is under way at
  /// once where there are branches.
  __device__ static Entries far_entries(const SolvationNode& to, const SolvationNode& from,
                                        bool same) {
    const Vec3<float> d = to.at - from.at;
    const float smears2 = to.smear2 + from.smear2, apart2 = norm2(d) + smears2,
                height = dot(from.normal, d), on_panel = to.is_panel() ? 1 : 0,
                smear2 = to.is_panel() && from.is_panel() ? 0 : smears2;
    float v = 0, double_layer = 0;
#pragma unroll
    for (const Vec3<float>& middle : from.middle) {
      const float over = rsqrtf(norm2(d - on_panel * middle) + smear2);
      v += over;
      double_layer += height * over * over * over;  // from the left: 1/r³ may be out of range
    }
    const float third = from.charge / 3;
    return entries_of(to, from, same, third * v, same ? from.own_k : third * double_layer,
                      apart2 * rsqrtf(apart2));
  }

  /// Close pairs of panels are listed, or set where the list is full. By a warp.
  __device__ void list_close(int k, const SolvationNode& to, int l, int* count) const {
    const SolvationNode& from = room_.nodes[l];
    const bool is_close = k < m_ && to.is_panel() && norm2(to.at - from.at) < from.close2;
    const unsigned all = __ballot_sync(whole_warp, is_close);
    if (all == 0) return;
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    int begin = 0;
    if (lane == 0) begin = atomicAdd(count, __popc(all));
    const int e = __shfl_sync(whole_warp, begin, 0) + bits_below(all, lane);
    if (!is_close) return;
    if (e < SolvationRoom::most_pairs)
      room_.pairs[e] = make_ushort2(static_cast<std::uint16_t>(k), static_cast<std::uint16_t>(l));
    else
      set_close(k, l);
  }

  /// By closed forms, in single precision and in units of the panel's longest edge.
  __device__ void set_close(int k, int l) const {
    const SolvationNode &to = room_.nodes[k], &from = room_.nodes[l];
    const Vec3d* const vertex = vertices_of(clusters_[cut_[l]]);
    const Vec3d x = clusters_[cut_[k]].centroid;
    Vec3<float> corner[3];  // from x
    float length2 = 0;
#pragma unroll
    for (int c = 0; c < 3; ++c) {
      corner[c] = single(vertex[c] - x);
      length2 = fmaxf(length2, norm2(single(vertex[(c + 1) % 3] - vertex[c])));
    }
    constexpr auto four_pi = static_cast<float>(1 / inv_4pi);
    const float unit = sqrtf(length2), over = 1 / unit;
#pragma unroll
    for (Vec3<float>& c : corner) c = over * c;
    const CloseIntegrals close(corner, from.normal, 2 * four_pi * from.charge * over * over);
    const Entries entries = entries_of(to, from, k == l, unit / four_pi * close.potential,
                                       k == l ? from.own_k : close.angle / four_pi,
                                       sqrtf(norm2(to.at - from.at) + to.smear2 + from.smear2));
    store_(k, l, entries.of_potential, entries.of_flux);
  }

  const SolvationNodes& of_;
  const Cluster* clusters_;
  const std::int32_t* cut_;
  Vec3d origin_;
  int m_;
  const SolvationRoom& room_;
  const Store& store_;
};

}  // namespace fmbem::cuda::bem
