// L2P of second derivatives, a warp for each leaf: three at a time, so that the derived expansions
// take no more shared memory than those of potential and gradient do.
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/l2p_point.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/strengths.cuh"

namespace fmbem::cuda {
namespace {

constexpr int at_once = 3;

/// Expansions of xx, xy and xz, or of yy, yz and zz, by a warp. `derived` has room for one.
template <class T, class Kernel>
__device__ void derive_twice(const TableView<T>& table, const Kernel& kernel, const T* local,
                             bool last_three, T* derived, T* locals) {
  const int slots = 2 * table.pairs, lane = threadIdx.x % warp_size;
  const auto derive = [&](int first_axis, int last_axis, int channel_of_first) {
    __syncwarp();  // all are done with the one before
    for (int slot = lane; slot < slots; slot += warp_size) {
      const std::int32_t position = table.position[slot];
      if (position >= 0) derived[position] = derivative_at(table, kernel, local, slot, first_axis);
    }
    __syncwarp();
    for (int slot = lane; slot < slots; slot += warp_size)
      for (int axis = first_axis; axis <= last_axis; ++axis)
        locals[2 * (slot / 2 * at_once + channel_of_first + axis - first_axis) + slot % 2] =
            derivative_at(table, kernel, derived, slot, axis);
  };
  if (last_three) {
    derive(1, 2, 0);
    derive(2, 2, 2);
  } else {
    derive(0, 2, 0);
  }
  __syncwarp();
}

template <class T, class Kernel>
__global__ void __launch_bounds__(threads_per_block)
    l2p_hessian_kernel(PointsView<double> targets, NearView near, LeavesView leaves, bool has_far,
                       TableView<T> table, ExpansionsView<T> expansions, ResultsView results,
                       Kernel in_tree, int top_level) {
  T* const s_room = dynamic_shared<T>();
  const Steps<T> steps(table, s_room);
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const std::int64_t leaf = static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / warp_size) + warp;
  if (leaf >= leaves.count) return;
  const int numbers = table.count + 2 * table.pairs * at_once, v = blockIdx.y;
  T* const derived = s_room + Steps<T>::numbers(table.p, table.pairs) + warp * numbers;
  T* const locals = derived + table.count;
  const std::int32_t box = leaves.boxes[leaf];
  const int2 range = leaves.tree.targets[box];
  const int level = leaves.tree.level(box);
  const bool is_far = has_far && level >= top_level;
  const ToUnitBox<T, double> unit_box(leaves.root, leaves.tree, box);
  const double cube = unit_box.scale * unit_box.scale * unit_box.scale;
  const Kernel kernel = in_unit(in_tree, 1 / unit_box.scale);
  const double scale = results.hessian_scale / strength_scale(results.largest[v]);
  for (int first_entry = 0; first_entry < 6; first_entry += at_once) {
    if (is_far)
      derive_twice(table, kernel, expansions.local(box, v), first_entry > 0, derived, locals);
    for (std::int32_t k = range.x + lane; k < range.y; k += warp_size) {
      T value[at_once] = {};
      if (is_far)
        add_local_values(table, steps, kernel, locals,
                         unit_box(targets.x[k], targets.y[k], targets.z[k]), value);
      const std::int64_t from = v * targets.count + k;
      double* const to = &results.to->hessian[v * targets.count + targets.order[k]].xx;
#pragma unroll
      for (int entry = 0; entry < at_once; ++entry)
        to[first_entry + entry] = scale * (near.hessian[first_entry + entry][from] +
                                           cube * static_cast<double>(value[entry]));
    }
  }
}

}  // namespace

template <class T>
void l2p_hessian(const PointsView<double>& targets, const NearView& near, const LeavesView& leaves,
                 bool has_far, const TableView<T>& table, const ExpansionsView<T>& expansions,
                 const FarKernel& far, const ResultsView& results, cudaStream_t stream) {
  const WarpBlocks<T> blocks(table, table.count + 2 * table.pairs * at_once);
  fmm::with_kernel(far.kappa, [&]<class Kernel>(Kernel kernel) {
    launch(l2p_hessian_kernel<T, Kernel>,
           dim3(blocks_for(leaves.count, blocks.warps), expansions.vectors),
           blocks.warps * warp_size, blocks.shared_bytes, stream, targets, near, leaves, has_far,
           table, expansions, results, kernel, far.top_level);
  });
}

#define FMBEM_INSTANTIATE(T)                                                                     \
  template void l2p_hessian(const PointsView<double>&, const NearView&, const LeavesView&, bool, \
                            const TableView<T>&, const ExpansionsView<T>&, const FarKernel&,     \
                            const ResultsView&, cudaStream_t);
FMBEM_INSTANTIATE(double)
FMBEM_INSTANTIATE(float)
#undef FMBEM_INSTANTIATE

}  // namespace fmbem::cuda
