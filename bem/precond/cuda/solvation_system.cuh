#pragma once

#include <cstdint>

#include "fmbem/bem/geometry/triangle.hpp"
#include "fmbem/bem/precond/cuda/elimination.cuh"
#include "fmbem/bem/precond/cuda/solvation_systems.cuh"

namespace fmbem::cuda::bem {

/// A node of a small system, in coordinates about its leaf's centre. Its size is an odd number of
/// words, so that neighbours are in different banks of shared memory.
struct SolvationNode {
  float x, y, z, smear2;
  float close2;                ///< panels closer than its root take closed forms; −1 for clusters
  float kappa[2], epsilon[2];  ///< of the regions behind and ahead
  std::int32_t region[2];

  __device__ bool is_panel() const { return close2 >= 0; }
};
static_assert(sizeof(SolvationNode) % 8 == 4);

/// What the columns of a node are made of besides: about the leaf's centre the middles of a panel's
/// edges.
struct SolvationColumns {
  float charge, own_k;
  Vec3<float> normal, middle[3];
};

/// Shared memory of a block, whose system has so many unknowns, of which so many are its leaf's.
/// Nodes and pairs of close panels have the room of an elimination, before it.
struct SolvationWorkspace {
  static constexpr int most_pairs = 2048;

  std::int32_t* column_of;  ///< [size]
  float* factor;            ///< [own]
  float* room;
  SolvationNode* nodes;       ///< [size / 2]
  SolvationColumns* columns;  ///< [size / 2]
  ushort2* pairs;             ///< [most_pairs]

  static constexpr std::int64_t bytes(int size, int own) {
    const std::int64_t of_elimination =
                           elimination_floats(size) * static_cast<std::int64_t>(sizeof(float)),
                       of_nodes = size / 2 *
                                      static_cast<std::int64_t>(sizeof(SolvationNode) +
                                                                sizeof(SolvationColumns)) +
                                  most_pairs * static_cast<std::int64_t>(sizeof(ushort2));
    return numbers(size, own) * static_cast<std::int64_t>(sizeof(std::int32_t)) +
           (of_elimination > of_nodes ? of_elimination : of_nodes);
  }
  __device__ SolvationWorkspace(std::int32_t* memory, int size, int own)
      : column_of(memory),
        factor(reinterpret_cast<float*>(memory + size)),
        room(reinterpret_cast<float*>(memory + numbers(size, own))),
        nodes(reinterpret_cast<SolvationNode*>(room)),
        columns(reinterpret_cast<SolvationColumns*>(nodes + size / 2)),
        pairs(reinterpret_cast<ushort2*>(columns + size / 2)) {}

 private:
  __host__ __device__ static constexpr int numbers(int size, int own) {
    return (size + own + 3) / 4 * 4;
  }
};

/// Fills the system of a leaf, by a block.
class SolvationFill {
 public:
  __device__ SolvationFill(const SolvationNodes& of, const Cluster* clusters, const Cluster& leaf,
                           const std::int32_t* cut, int m, const SolvationWorkspace& space,
                           const SquareMatrix& matrix)
      : of_(of),
        clusters_(clusters),
        cut_(cut),
        origin_(leaf.centroid),
        m_(m),
        space_(space),
        matrix_(matrix) {}

  __device__ void operator()() const {
    __shared__ int s_close;
    const int thread = static_cast<int>(threadIdx.x);
    if (thread == 0) s_close = 0;
    for (int k = thread; k < m_; k += general_threads) {
      space_.nodes[k] = place(k);
      space_.columns[k] = columns_of(k);
    }
    __syncthreads();
    for (int l = thread / warp_size; l < m_; l += general_threads / warp_size)
      for (int k = thread % warp_size; k < m_; k += warp_size) set_far(k, l, &s_close);
    __syncthreads();
    // A few pairs in a hundred. They are gathered first, so that threads do not wait for others.
    for (int e = thread; e < min(s_close, SolvationWorkspace::most_pairs); e += general_threads)
      set_close(space_.pairs[e].x, space_.pairs[e].y);
    __syncthreads();
  }

 private:
  /// Closer than so many radii of the source panels take closed forms.
  static constexpr float close_radii = 4;

  __device__ Triangle triangle(const Cluster& panel) const {
    const Vec3d* const vertex = of_.vertices + 3 * std::int64_t{of_.panel_at[panel.begin]};
    return make_triangle(vertex[0], vertex[1], vertex[2]);
  }
  __device__ Vec3<float> about_leaf(Vec3d x) const {
    const Vec3d d = x - origin_;
    return {static_cast<float>(d.x), static_cast<float>(d.y), static_cast<float>(d.z)};
  }

  __device__ SolvationNode place(int k) const {
    const Cluster& node = clusters_[cut_[k]];
    const NodeSides& sides = of_.sides[cut_[k]];
    const Vec3<float> at = about_leaf(node.centroid);
    const auto reach =
        node.is_panel() ? close_radii * static_cast<float>(triangle(node).radius) : 0;
    const auto number = [](double x) { return static_cast<float>(x); };
    return {at.x,
            at.y,
            at.z,
            number(point_smear2(node)),
            node.is_panel() ? reach * reach : -1,
            {number(of_.media.kappa[sides.inside]), number(of_.media.kappa[sides.outside])},
            {number(of_.media.permittivity[sides.inside]),
             number(of_.media.permittivity[sides.outside])},
            {sides.inside, sides.outside}};
  }

  __device__ float distance(const SolvationNode& k, const SolvationNode& l) const {
    const Vec3<float> d{k.x - l.x, k.y - l.y, k.z - l.z};
    return sqrtf(norm2(d) + k.smear2 + l.smear2);
  }

  /// Sets the entries of φ and q of node l in Green's identities on node k, of the region behind k
  /// first, from its V and K without screening and the distance by which they are screened.
  __device__ void set(int k, int l, float v, float double_layer, float apart) const {
    const SolvationNode &to = space_.nodes[k], &from = space_.nodes[l];
    float of_potential[2], of_flux[2];
#pragma unroll
    for (int side = 0; side < 2; ++side) {
      const std::int32_t region = to.region[side];
      const float sign = region == from.region[0]   ? 1
                         : region == from.region[1] ? -1
                                                    : 0,
                  kr = to.kappa[side] * apart, screened = sign * expf(-kr);
      of_potential[side] = (k == l ? 0.5f : 0.f) + (1 + kr) * screened * double_layer;
      of_flux[side] = -from.epsilon[0] / to.epsilon[side] * screened * v;
    }
    const auto store = [&](int column, const float(&entries)[2]) {
      *reinterpret_cast<float2*>(matrix_.column(column) + 2 * k) = {entries[0], entries[1]};
    };
    store(2 * l, of_potential);
    store(2 * l + 1, of_flux);
  }

  __device__ SolvationColumns columns_of(int l) const {
    const Cluster& node = clusters_[cut_[l]];
    const NodeSides& sides = of_.sides[cut_[l]];
    const auto number = [](double x) { return static_cast<float>(x); };
    SolvationColumns columns{
        number(inv_4pi * node.area),
        number(sides.own_k),
        {number(sides.normal.x), number(sides.normal.y), number(sides.normal.z)},
        {}};
    if (node.is_panel()) {
      const Triangle t = triangle(node);
#pragma unroll
      for (int edge = 0; edge < 3; ++edge)
        columns.middle[edge] = about_leaf(0.5 * (t.vertex[edge] + t.vertex[(edge + 1) % 3]));
    }
    return columns;
  }

  /// Nodes are points that are smeared. Panels on panels by the middles of their edges, which is
  /// exact for polynomials of degree 2; pairs of close ones are listed, or set where the list is
  /// full.
  __device__ void set_far(int k, int l, int* close) const {
    const SolvationNode &to = space_.nodes[k], &from = space_.nodes[l];
    const SolvationColumns& of = space_.columns[l];
    const Vec3<float> x{to.x, to.y, to.z}, d{to.x - from.x, to.y - from.y, to.z - from.z};
    const float apart2 = norm2(d) + to.smear2 + from.smear2, over = rsqrtf(apart2);
    float v = over, double_layer = dot(of.normal, d) * over * over * over;
    if (from.is_panel() && to.is_panel()) {
      if (norm2(d) < from.close2) {
        const int e = atomicAdd(close, 1);
        if (e < SolvationWorkspace::most_pairs)
          space_.pairs[e] =
              make_ushort2(static_cast<std::uint16_t>(k), static_cast<std::uint16_t>(l));
        else
          set_close(k, l);
        return;
      }
      v = double_layer = 0;
#pragma unroll
      for (const Vec3<float>& point : of.middle) {
        const Vec3<float> from_point = x - point;
        const float over_point = rsqrtf(norm2(from_point));
        v += over_point / 3;
        double_layer += dot(of.normal, from_point) * over_point * over_point * over_point / 3;
      }
    }
    set(k, l, of.charge * v, k == l ? of.own_k : of.charge * double_layer, apart2 * over);
  }

  __device__ void set_close(int k, int l) const {
    const Triangle t = triangle(clusters_[cut_[l]]);
    const Vec3d x = clusters_[cut_[k]].centroid;
    set(k, l, static_cast<float>(triangle_potential(t, x)),
        static_cast<float>(k == l ? of_.sides[cut_[l]].own_k : triangle_double_layer(t, x)),
        distance(space_.nodes[k], space_.nodes[l]));
  }

  const SolvationNodes& of_;
  const Cluster* clusters_;
  const std::int32_t* cut_;
  Vec3d origin_;
  int m_;
  const SolvationWorkspace& space_;
  const SquareMatrix& matrix_;
};

}  // namespace fmbem::cuda::bem
