// P2M of points, a warp for a leaf, or a block for a large one.
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/leaves_of_block.cuh"
#include "fmbem/cuda/p2m.cuh"

namespace fmbem::cuda {
namespace {

/// The moments of a leaf from its sums, [channels][slots].
template <bool Dipoles, class T, class Kernel>
__device__ void write_moments(const TableView<T>& table, const Kernel& kernel, const T* sums,
                              T* moment) {
  const int lane = threadIdx.x % warp_size, slots = 2 * table.pairs;
  if constexpr (Dipoles) {
    // As many rows as moments; each takes its own slot of the charges last.
    const RowsView<T>& rows = table.moment_of_dipoles;
    for (int i = lane; i < table.count; i += warp_size) {
      T sum = 0;
      for (std::int32_t k = rows.begin[i]; k < rows.begin[i + 1]; ++k)
        sum += rows.value[k] * sums[slots + rows.index[k]];
      if constexpr (!Kernel::homogeneous) {
        const RowsView<T>& rises = table.rises_of_dipoles;
        T rise = 0;
        for (std::int32_t k = rises.begin[i]; k < rises.begin[i + 1]; ++k)
          rise += rises.value[k] * sums[slots + rises.index[k]];
        sum += static_cast<T>(kernel.kappa * kernel.kappa) * rise;
      }
      moment[i] = sum;
    }
    __syncwarp();
  }
  for (int slot = lane; slot < slots; slot += warp_size) {
    const std::int32_t position = table.position[slot];
    if (position < 0) continue;
    if constexpr (Dipoles)
      moment[position] += sums[slot];
    else
      moment[position] = sums[slot];
  }
}

/// Adds the sums of the block's warps to those of the first one, in their order. `apart`: numbers
/// from one warp's to the next one's.
template <class T>
__device__ void add_up_warps(T* sums_of_first, int apart, int numbers) {
  __syncthreads();
  for (int k = threadIdx.x; k < numbers; k += blockDim.x) {
    T sum = sums_of_first[k];
    for (int warp = 1; warp < static_cast<int>(blockDim.x) / warp_size; ++warp)
      sum += sums_of_first[warp * apart + k];
    sums_of_first[k] = sum;
  }
  __syncthreads();
}

template <class T, class N, class Kernel, bool Dipoles>
__global__ void __launch_bounds__(threads_per_block)
    p2m_kernel(std::int64_t sources, StrengthsView<N> strengths, LeavesView leaves,
               TableView<T> table, ExpansionsView<T> expansions, Kernel in_tree, int top_level) {
  constexpr int channels = Dipoles ? 4 : 1;
  T* const s_room = dynamic_shared<T>();
  const Steps<T> steps(table, s_room);
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const int slots = 2 * table.pairs, v = blockIdx.y, apart = p2m_numbers<T>(table.pairs, channels);
  T* const first_buffer = s_room + Steps<T>::numbers(table.p, table.pairs);
  T* const buffer = first_buffer + warp * apart;
  T* const sums = buffer + slots_at_once * padded_row;

  for_leaves_of_block(leaves, leaves.tree.sources, [&](std::int32_t box, bool together) {
    if (!Kernel::homogeneous && leaves.tree.level(box) < top_level) return;
    __syncwarp();  // all are done with the leaf before
    for (int k = lane; k < slots * channels; k += warp_size) sums[k] = 0;
    const int2 range = share_of_warp(leaves.tree.sources[box], together);
    const ToUnitBox<T, N> unit_box(leaves.root, leaves.tree, box);
    const Kernel kernel = in_unit(in_tree, 1 / unit_box.scale);
    const T to_unit = static_cast<T>(unit_box.scale);
    __syncwarp();

    const auto add_points = [&]<int Each>(std::integral_constant<int, Each>, std::int32_t first) {
      Vec3<T> place[Each];
      T weight[Each];
#pragma unroll
      for (int i = 0; i < Each; ++i) {
        const std::int32_t k = first + i * warp_size + lane;
        place[i] = {};
        weight[i] = 0;
        if (k >= range.y) continue;
        const ChargedPoint<N> source = strengths.places[v * sources + k];
        place[i] = unit_box(source.x, source.y, source.z);
        weight[i] = static_cast<T>(source.charge);
      }
      T r2[Each];
#pragma unroll
      for (int i = 0; i < Each; ++i) r2[i] = norm2(place[i]);
      const DegreeFactors<T, Each, Kernel> factors(kernel, r2, table.p);
      if (strengths.charges) add_moments<Each>(table, steps, factors, place, weight, buffer, sums);
      for (int axis = 0; axis + 1 < channels; ++axis) {
#pragma unroll
        for (int i = 0; i < Each; ++i) {
          const std::int32_t k = first + i * warp_size + lane;
          weight[i] = 0;
          if (k >= range.y) continue;
          const ChargedPoint<N> d = strengths.dipoles[v * sources + k];
          weight[i] = to_unit * static_cast<T>(axis == 0 ? d.x : axis == 1 ? d.y : d.z);
        }
        add_moments<Each>(table, steps, factors, place, weight, buffer, sums + (axis + 1) * slots);
      }
    };
    for_rounds(range.x, range.y, add_points);
    __syncwarp();
    if (together) add_up_warps(first_buffer + slots_at_once * padded_row, apart, slots * channels);
    if (!together || warp == 0)
      write_moments<Dipoles>(table, kernel, sums, expansions.moment(box, v));
    if (together) __syncthreads();  // before the first warp's sums are made anew
  });
}

}  // namespace

template <class T, class N>
void p2m(std::int64_t sources, const StrengthsView<N>& strengths, const LeavesView& leaves,
         const TableView<T>& table, const ExpansionsView<T>& expansions, const FarKernel& far,
         cudaStream_t stream) {
  const bool dipoles = strengths.dipoles != nullptr;
  const WarpBlocks<T> blocks(table, p2m_numbers<T>(table.pairs, dipoles ? 4 : 1));
  fmm::with_kernel(far.kappa, [&]<class Kernel>(Kernel kernel) {
    launch(dipoles ? p2m_kernel<T, N, Kernel, true> : p2m_kernel<T, N, Kernel, false>,
           dim3(blocks_for(leaves.count, blocks.warps), expansions.vectors),
           blocks.warps * warp_size, blocks.shared_bytes, stream, sources, strengths, leaves, table,
           expansions, kernel, far.top_level);
  });
}

#define FMBEM_INSTANTIATE(T, N)                                                                    \
  template void p2m(std::int64_t, const StrengthsView<N>&, const LeavesView&, const TableView<T>&, \
                    const ExpansionsView<T>&, const FarKernel&, cudaStream_t);
FMBEM_INSTANTIATE(double, double)
FMBEM_INSTANTIATE(double, float)
FMBEM_INSTANTIATE(float, double)
FMBEM_INSTANTIATE(float, float)
#undef FMBEM_INSTANTIATE

}  // namespace fmbem::cuda
