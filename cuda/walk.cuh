#pragma once

#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/tree.cuh"

namespace fmbem::cuda {

/// Boxes that wait in a warp's walk of a treecode. Taking boxes one by one, a walk has at most
/// seven of each level waiting, so that is what it does where so many have no room beside them.
struct WalkStack {
  static constexpr int size = 1024;
  std::int32_t boxes[size];

  __device__ static int one_by_one(const TreeView& tree) {
    return size - 8 * (tree.upper_code ? fmm::deepest_tree_level : deepest_level);
  }
};

/// The side of a box of a root of side 1, and its centre there.
__device__ inline double unit_side(int level) {
#ifdef __CUDA_ARCH__
  return __longlong_as_double(static_cast<long long>(1023 - level) << 52);
#else
  return __builtin_ldexp(1.0, -level);
#endif
}
struct UnitBox {
  double side = 1, inverse_side = 1;
  Vec3d centre{};  ///< a multiple of 2^-43, as are differences: all of them are exact
  UnitBox() = default;
  __device__ UnitBox(const TreeView& tree, std::int32_t box) {
    const int level = tree.level(box);
    side = unit_side(level);
    inverse_side = unit_side(-level);
    const fmm::TreeCell cell = tree.cell(box);
    const auto middle = [&](int axis) { return side * (static_cast<double>(cell[axis]) + 0.5); };
    centre = {middle(0), middle(1), middle(2)};
  }
};

/// What that lane has.
__device__ inline UnitBox of_lane(const UnitBox& box, int lane) {
  UnitBox other;
  other.side = __shfl_sync(whole_warp, box.side, lane);
  other.inverse_side = __shfl_sync(whole_warp, box.inverse_side, lane);
  other.centre = {__shfl_sync(whole_warp, box.centre.x, lane),
                  __shfl_sync(whole_warp, box.centre.y, lane),
                  __shfl_sync(whole_warp, box.centre.z, lane)};
  return other;
}

/// fmm::is_accepted(), rounded in the same way.
__device__ inline bool is_accepted(const UnitBox& leaf, const UnitBox& box, double theta2) {
  const Vec3d r = leaf.centre - box.centre;
  const double radii = __dmul_rn(0.8660254037844386, leaf.side + box.side),
               square = __dadd_rn(__dadd_rn(__dmul_rn(r.x, r.x), __dmul_rn(r.y, r.y)),
                                  __dmul_rn(r.z, r.z));
  return __dmul_rn(radii, radii) <= __dmul_rn(theta2, square);
}

/// What of a walk a kernel's reach leaves out: nothing of Laplace's.
struct EndlessReach {
  static __device__ bool leaves_out(const UnitBox&, const UnitBox&) { return false; }
  static __device__ bool has_expansions(const UnitBox&) { return true; }
};
/// fmm::are_beyond() and fmm::has_expansions(), rounded in the same way.
struct KernelReach {
  double root_side, reach;  ///< in the tree's unit; `reach` may be endless

  __device__ bool leaves_out(const UnitBox& leaf, const UnitBox& box) const {
    // Exact, and powers of two times what it is in whole sides.
    const double half = 0.5 * (leaf.side + box.side);
    const auto gap = [&](double a, double b) { return fmax(fabs(a - b) - half, 0.0); };
    const Vec3d gaps{gap(leaf.centre.x, box.centre.x), gap(leaf.centre.y, box.centre.y),
                     gap(leaf.centre.z, box.centre.z)};
    const double square = __dadd_rn(__dadd_rn(__dmul_rn(gaps.x, gaps.x), __dmul_rn(gaps.y, gaps.y)),
                                    __dmul_rn(gaps.z, gaps.z));
    return __dmul_rn(__dsqrt_rn(square), root_side) > reach;
  }
  __device__ bool has_expansions(const UnitBox& box) const { return root_side * box.side <= reach; }
};

/// fmm::walk_treecode() by a warp, of a leaf: calls m2p(box, unit box) for boxes that act on it by
/// their expansions, p2p(box) for leaves that act point by point, with all lanes, in an order that
/// the tree alone decides. After the boxes of each step it calls done(). Lanes look at 32 boxes at
/// a time, and what waits is in shared memory alone.
__device__ inline void walk(const TreeView& tree, const UnitBox& leaf, double theta2,
                            const auto& reach, WalkStack& stack, auto&& m2p, auto&& p2p,
                            auto&& done) {
  const int lane = threadIdx.x % warp_size, one_by_one = WalkStack::one_by_one(tree);
  int waiting = 1;
  if (lane == 0) stack.boxes[0] = 0;
  while (waiting > 0) {
    const int room = (one_by_one - waiting) / 7;
    const int take = max(1, min(min(warp_size, waiting), room));
    __syncwarp();
    std::int32_t box = lane < take ? stack.boxes[waiting - 1 - lane] : -1;
    if (box >= 0 && is_empty(tree.sources[box])) box = -1;
    waiting -= take;
    const UnitBox unit_box = box < 0 ? UnitBox() : UnitBox(tree, box);
    if (box >= 0 && reach.leaves_out(leaf, unit_box)) box = -1;
    const bool accepted =
        box >= 0 && reach.has_expansions(unit_box) && is_accepted(leaf, unit_box, theta2);
    const std::int32_t split = box >= 0 && !accepted ? tree.split_of[box] : -1;
    const bool is_near = box >= 0 && !accepted && split < 0;
    __syncwarp();  // all have taken theirs
    std::int32_t child[8];
    int children = 0;
#pragma unroll
    for (int octant = 0; octant < 8; ++octant) {
      child[octant] = split < 0 ? -1 : tree.child[8 * static_cast<std::int64_t>(split) + octant];
      children += child[octant] >= 0;
    }
    const WarpCounts places(children);
    int place = waiting + places.before();
#pragma unroll
    for (int octant = 0; octant < 8; ++octant)
      if (child[octant] >= 0) stack.boxes[place++] = child[octant];
    waiting += places.all();
    for (unsigned left = __ballot_sync(whole_warp, accepted); left != 0; left &= left - 1) {
      const int of = __ffs(static_cast<int>(left)) - 1;
      m2p(__shfl_sync(whole_warp, box, of), of_lane(unit_box, of));
    }
    for (unsigned left = __ballot_sync(whole_warp, is_near); left != 0; left &= left - 1)
      p2p(__shfl_sync(whole_warp, box, __ffs(static_cast<int>(left)) - 1));
    done();
  }
}

}  // namespace fmbem::cuda
