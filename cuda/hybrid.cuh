#pragma once

#include <vector>

#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/lists.cuh"
#include "fmbem/cuda/m2l_displaced.cuh"
#include "fmbem/cuda/pass.cuh"

// What a hybrid of treecode and FMM has beside the FMM's stages.

namespace fmbem::cuda {

/// Up to 64 targets of a leaf, which a warp takes or, where much acts on them, a block; and the
/// boxes that act on them.
struct ActingItem {
  std::int64_t begin;
  std::int32_t boxes;               ///< how many, from `begin` on
  std::int32_t leaf, first, count;  ///< the leaf's box; targets
};
inline constexpr int targets_of_an_item = 2 * warp_size;

struct ActingView {
  const ActingItem* items;
  std::int64_t count, long_ones;  ///< the long ones come first
  const std::int32_t* boxes;
};

/// Boxes that act on points.
struct ActingLists {
  DeviceBuffer<ActingItem> items;
  std::int64_t long_items = 0;  ///< which have work for the warps of a block
  DeviceBuffer<std::int32_t> boxes;
  ActingView view() const {
    return {items.data(), static_cast<std::int64_t>(items.size()), long_items, boxes.data()};
  }
  std::int64_t bytes() const { return items.bytes() + boxes.bytes(); }
};

/// Sources that act on local expansions: those of boxes[row] are [begin[row], begin[row + 1]).
struct P2lRowsView {
  const std::int32_t* boxes;
  const std::int64_t* begin;
  const std::int32_t* sources;
  std::int64_t count;
};

/// What acts by M2P, by P2P out of the near lists' reach, by P2L, and by M2L at displacements that
/// the FMM does not have.
struct HybridDeviceLists {
  ActingLists m2p, p2p;
  DeviceBuffer<std::int32_t> p2l_boxes, p2l_sources;
  DeviceBuffer<std::int64_t> p2l_begin;
  DisplacedDeviceLists displaced;
  /// As fmm::PlanInfo counts them.
  std::int64_t m2p_pairs = 0, p2l_pairs = 0, p2p_pairs = 0, m2l_pairs = 0;

  P2lRowsView p2l_view() const {
    return {p2l_boxes.data(), p2l_begin.data(), p2l_sources.data(),
            static_cast<std::int64_t>(p2l_boxes.size())};
  }
  std::int64_t bytes() const {
    return m2p.bytes() + p2p.bytes() + p2l_boxes.bytes() + p2l_sources.bytes() + p2l_begin.bytes() +
           displaced.bytes();
  }
};

/// Points as PointsView has them in double precision.
inline PointsView<double> exact_places(const PointsView<double>& points) { return points; }
inline PointsView<double> exact_places(const PointsView<float>& points) {
  return {points.count, points.order, points.exact_x, points.exact_y, points.exact_z};
}

/// P2L: adds charges to local expansions. As S_i(y)/|y|^(2n+1) = S_i(ξ)/|y| with ξ = y/|y|²
/// (Kelvin), this is P2M of charges q/|y| at inverted points, with h_n of Yukawa's kernel. A warp a
/// row.
template <class T, class N>
void p2l(const PointsView<double>& sources, const StrengthsView<N>& strengths,
         const P2lRowsView& rows, const TreeView& tree, const Cube& root, const TableView<T>& table,
         const ExpansionsView<T>& expansions, const FarKernel& kernel, cudaStream_t stream);

/// What acts on points by its expansions.
template <class T>
struct M2pArguments {
  PointsView<double> targets;
  ActingView acting;
  TreeView tree;
  Cube root;
  TableView<T> table;     ///< with gradients by Yukawa's kernel that of RaisedTable
  RowsView<T> monomials;  ///< from moments; null for spherical expansions
  ExpansionsView<T> expansions;
  double kappa;      ///< in the tree's unit; 0 of Laplace's kernel
  NearView results;  ///< to which it is added
};
template <class T>
void m2p(const M2pArguments<T>& arguments, cudaStream_t stream);

/// What acts on points by its own ones, out of the near lists' reach: of pairs in N, whose
/// differences are of coordinates in double precision.
template <class N>
struct FarPairsArguments {
  PointsView<double> sources, targets;
  StrengthsView<N> strengths;
  int vectors;
  ActingView acting;
  TreeView tree;
  Cube root;
  double kappa;      ///< in the tree's unit; 0 of Laplace's kernel
  NearView results;  ///< to which it is added
};
template <class N>
void p2p_out_of_reach(const FarPairsArguments<N>& arguments, cudaStream_t stream);

}  // namespace fmbem::cuda
