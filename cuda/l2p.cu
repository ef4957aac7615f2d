// L2P, a warp for a leaf, or a block for a large one.
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/l2p_point.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/leaves_of_block.cuh"
#include "fmbem/cuda/strengths.cuh"

namespace fmbem::cuda {
namespace {

template <class T, class N, class Kernel, bool Potential, bool Gradient>
__global__ void __launch_bounds__(threads_per_block)
    l2p_kernel(PointsView<N> targets, NearView near, LeavesView leaves, bool has_far,
               TableView<T> table, ExpansionsView<T> expansions, ResultsView results,
               Kernel in_tree, int top_level) {
  constexpr int channels = Potential + 3 * Gradient;
  T* const s_room = dynamic_shared<T>();
  const Steps<T> steps(table, s_room);
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const int slots = 2 * table.pairs, v = blockIdx.y;
  T* const locals = s_room + Steps<T>::numbers(table.p, table.pairs) + warp * slots * channels;
  const double strengths = strength_scale(results.largest[v]);

  for_leaves_of_block(leaves, leaves.tree.targets, [&](std::int32_t box, bool together) {
    const int2 range = share_of_warp(leaves.tree.targets[box], together);
    const int level = leaves.tree.level(box);
    const bool is_far = has_far && level >= top_level;
    const ToUnitBox<T, N> unit_box(leaves.root, leaves.tree, box);
    const double from_unit = unit_box.scale;
    const Kernel kernel = in_unit(in_tree, 1 / unit_box.scale);

    if (is_far) {
      const T* const local = expansions.local(box, v);
      __syncwarp();  // all are done with the leaf before
      for (int slot = lane; slot < slots; slot += warp_size) {
        // [pair][channel][2]
        T* const out = locals + slot / 2 * 2 * channels + slot % 2;
        if constexpr (Potential) {
          const std::int32_t position = table.position[slot];
          out[0] = position < 0 ? T(0) : local[position];
        }
        if constexpr (Gradient) {
#pragma unroll
          for (int axis = 0; axis < 3; ++axis)
            out[2 * (Potential + axis)] = derivative_at(table, kernel, local, slot, axis);
        }
      }
      __syncwarp();
    }

    for (std::int32_t k = range.x + lane; k < range.y; k += warp_size) {
      T value[channels] = {};
      if (is_far)
        add_local_values(table, steps, kernel, locals,
                         unit_box(targets.x[k], targets.y[k], targets.z[k]), value);
      const std::int64_t from = v * targets.count + k, to = v * targets.count + targets.order[k];
      if constexpr (Potential)
        results.to->potential[to] = results.scale / strengths *
                                    ((near.potential ? near.potential[from] : 0) +
                                     from_unit * static_cast<double>(value[0]));
      if constexpr (Gradient) {
        const double scale = results.gradient_scale / strengths, square = from_unit * from_unit;
        const auto component = [&](int axis) {
          return scale * ((near.gradient[axis] ? near.gradient[axis][from] : 0) +
                          square * static_cast<double>(value[Potential + axis]));
        };
        results.to->gradient[to] = {component(0), component(1), component(2)};
      }
    }
  });
}

}  // namespace

template <class T, class N>
void l2p(const PointsView<N>& targets, const NearView& near, const LeavesView& leaves, bool has_far,
         const TableView<T>& table, const ExpansionsView<T>& expansions, const FarKernel& far,
         const ResultsView& results, cudaStream_t stream) {
  const bool potential = results.potential, gradient = results.gradient;
  const int channels = potential + 3 * gradient;
  const WarpBlocks<T> blocks(table, 2 * table.pairs * channels);
  fmm::with_kernel(far.kappa, [&]<class Kernel>(Kernel kernel) {
    launch(potential && gradient ? l2p_kernel<T, N, Kernel, true, true>
           : potential           ? l2p_kernel<T, N, Kernel, true, false>
                                 : l2p_kernel<T, N, Kernel, false, true>,
           dim3(blocks_for(leaves.count, blocks.warps), expansions.vectors),
           blocks.warps * warp_size, blocks.shared_bytes, stream, targets, near, leaves, has_far,
           table, expansions, results, kernel, far.top_level);
  });
}

#define FMBEM_INSTANTIATE(T, N)                                                      \
  template void l2p(const PointsView<N>&, const NearView&, const LeavesView&, bool,  \
                    const TableView<T>&, const ExpansionsView<T>&, const FarKernel&, \
                    const ResultsView&, cudaStream_t);
FMBEM_INSTANTIATE(double, double)
FMBEM_INSTANTIATE(double, float)
FMBEM_INSTANTIATE(float, double)
FMBEM_INSTANTIATE(float, float)
#undef FMBEM_INSTANTIATE

}  // namespace fmbem::cuda
