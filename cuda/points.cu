// P2M and L2P: between points and the expansions of leaves, a warp for each leaf.
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/p2m.cuh"
#include "fmbem/cuda/strengths.cuh"

namespace fmbem::cuda {
namespace {

// ---- P2M

template <class T, class N, bool Dipoles>
__global__ void __launch_bounds__(threads_per_block)
    p2m_kernel(std::int64_t sources, StrengthsView<N> strengths, TreeView tree, Cube root,
               const std::int32_t* leaves, std::int64_t n_leaves, TableView<T> table,
               ExpansionsView<T> expansions) {
  constexpr int channels = Dipoles ? 4 : 1;
  T* const s_room = dynamic_shared<T>();
  const Steps<T> steps(table, s_room);
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const std::int64_t leaf = static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / warp_size) + warp;
  if (leaf >= n_leaves) return;
  T* const buffer = s_room + Steps<T>::numbers(table.p, table.pairs) +
                    warp * p2m_numbers<T>(table.pairs, channels);
  T* const sums = buffer + slots_at_once * padded_row;
  const int slots = 2 * table.pairs, v = blockIdx.y;
  for (int k = lane; k < slots * channels; k += warp_size) sums[k] = 0;
  const std::int32_t box = leaves[leaf];
  const int2 range = tree.sources[box];
  const ToUnitBox<T, N> unit_box(root, tree.code[box]);
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
    if (strengths.charges) add_moments<Each>(table, steps, place, weight, buffer, sums);
    for (int axis = 0; axis + 1 < channels; ++axis) {
#pragma unroll
      for (int i = 0; i < Each; ++i) {
        const std::int32_t k = first + i * warp_size + lane;
        weight[i] = 0;
        if (k >= range.y) continue;
        const ChargedPoint<N> d = strengths.dipoles[v * sources + k];
        weight[i] = to_unit * static_cast<T>(axis == 0 ? d.x : axis == 1 ? d.y : d.z);
      }
      add_moments<Each>(table, steps, place, weight, buffer, sums + (axis + 1) * slots);
    }
  };
  for_rounds(range.x, range.y, add_points);
  __syncwarp();

  T* const moment = expansions.moment(box, v);
  if constexpr (Dipoles) {
    // As many rows as moments; each takes its own slot of the charges last.
    const RowsView<T>& rows = table.moment_of_dipoles;
    for (int i = lane; i < table.count; i += warp_size) {
      T sum = 0;
      for (std::int32_t k = rows.begin[i]; k < rows.begin[i + 1]; ++k)
        sum += rows.value[k] * sums[slots + rows.index[k]];
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

// ---- L2P

template <class T, class N, bool Potential, bool Gradient>
__global__ void __launch_bounds__(threads_per_block)
    l2p_kernel(PointsView<N> targets, NearView near, TreeView tree, Cube root,
               const std::int32_t* leaves, std::int64_t n_leaves, bool has_far, TableView<T> table,
               ExpansionsView<T> expansions, ResultsView results) {
  constexpr int channels = Potential + 3 * Gradient;
  T* const s_room = dynamic_shared<T>();
  const Steps<T> steps(table, s_room);
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const std::int64_t leaf = static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / warp_size) + warp;
  if (leaf >= n_leaves) return;
  const int slots = 2 * table.pairs, v = blockIdx.y;
  T* const locals = s_room + Steps<T>::numbers(table.p, table.pairs) + warp * slots * channels;
  const std::int32_t box = leaves[leaf];
  const int2 range = tree.targets[box];
  const int level = level_of(tree.code[box]);
  const bool is_far = has_far && level >= 2;
  const ToUnitBox<T, N> unit_box(root, tree.code[box]);
  const double from_unit = unit_box.scale;

  if (is_far) {
    const T* const local = expansions.local(box, v);
    for (int slot = lane; slot < slots; slot += warp_size) {
      // [pair][channel][2]
      T* const out = locals + slot / 2 * 2 * channels + slot % 2;
      if constexpr (Potential) {
        const std::int32_t position = table.position[slot];
        out[0] = position < 0 ? T(0) : local[position];
      }
      if constexpr (Gradient) {
#pragma unroll
        for (int axis = 0; axis < 3; ++axis) {
          const DerivativeTerms<T> d = table.derivative[3 * slot + axis];
          out[2 * (Potential + axis)] =
              d.value[0] * local[d.index[0]] + d.value[1] * local[d.index[1]];
        }
      }
    }
    __syncwarp();
  }

  const double unit = strength_unit(results.largest[v]);
  for (std::int32_t k = range.x + lane; k < range.y; k += warp_size) {
    T value[channels] = {};
    if (is_far) {
      Harmonics<T> point(unit_box(targets.x[k], targets.y[k], targets.z[k]), T(1));
      const T* local = locals;
      int t = 0;
      for (int m = 0; m <= table.p; ++m) {
        if (m > 0) point.next_order(steps.diagonal[m]);
        point.first_degree();
        T even[channels] = {}, odd[channels] = {};
        for (int n = m; n <= table.p; ++n, ++t, local += 2 * channels) {
          for (int channel = 0; channel < channels; ++channel) {
            even[channel] += local[2 * channel] * point.here;
            odd[channel] += local[2 * channel + 1] * point.here;
          }
          point.next_degree(steps.up[t], steps.down[t]);
        }
        for (int channel = 0; channel < channels; ++channel)
          value[channel] += point.c * even[channel] + point.s * odd[channel];
      }
    }
    const std::int64_t from = v * targets.count + k, to = v * targets.count + targets.order[k];
    if constexpr (Potential)
      results.to->potential[to] =
          results.scale / unit *
          ((near.potential ? near.potential[from] : 0) + from_unit * static_cast<double>(value[0]));
    if constexpr (Gradient) {
      const double scale = results.gradient_scale / unit, square = from_unit * from_unit;
      const auto component = [&](int axis) {
        return scale * ((near.gradient[axis] ? near.gradient[axis][from] : 0) +
                        square * static_cast<double>(value[Potential + axis]));
      };
      results.to->gradient[to] = {component(0), component(1), component(2)};
    }
  }
}

}  // namespace

template <class T, class N>
void p2m(std::int64_t sources, const StrengthsView<N>& strengths, const TreeView& tree,
         const Cube& root, const std::int32_t* leaves, std::int64_t n_leaves,
         const TableView<T>& table, const ExpansionsView<T>& expansions, cudaStream_t stream) {
  const bool dipoles = strengths.dipoles != nullptr;
  const WarpBlocks<T> blocks(table, p2m_numbers<T>(table.pairs, dipoles ? 4 : 1));
  launch(dipoles ? p2m_kernel<T, N, true> : p2m_kernel<T, N, false>,
         dim3(blocks_for(n_leaves, blocks.warps), expansions.vectors), blocks.warps * warp_size,
         blocks.shared_bytes, stream, sources, strengths, tree, root, leaves, n_leaves, table,
         expansions);
}

template <class T, class N>
void l2p(const PointsView<N>& targets, const NearView& near, const TreeView& tree, const Cube& root,
         const std::int32_t* leaves, std::int64_t n_leaves, bool has_far, const TableView<T>& table,
         const ExpansionsView<T>& expansions, const ResultsView& results, cudaStream_t stream) {
  const bool potential = results.potential, gradient = results.gradient;
  const int channels = potential + 3 * gradient;
  const WarpBlocks<T> blocks(table, 2 * table.pairs * channels);
  launch(potential && gradient ? l2p_kernel<T, N, true, true>
         : potential           ? l2p_kernel<T, N, true, false>
                               : l2p_kernel<T, N, false, true>,
         dim3(blocks_for(n_leaves, blocks.warps), expansions.vectors), blocks.warps * warp_size,
         blocks.shared_bytes, stream, targets, near, tree, root, leaves, n_leaves, has_far, table,
         expansions, results);
}

#define FMBEM_INSTANTIATE(T, N)                                                          \
  template void p2m(std::int64_t, const StrengthsView<N>&, const TreeView&, const Cube&, \
                    const std::int32_t*, std::int64_t, const TableView<T>&,              \
                    const ExpansionsView<T>&, cudaStream_t);                             \
  template void l2p(const PointsView<N>&, const NearView&, const TreeView&, const Cube&, \
                    const std::int32_t*, std::int64_t, bool, const TableView<T>&,        \
                    const ExpansionsView<T>&, const ResultsView&, cudaStream_t);
FMBEM_INSTANTIATE(double, double)
FMBEM_INSTANTIATE(double, float)
FMBEM_INSTANTIATE(float, double)
FMBEM_INSTANTIATE(float, float)
#undef FMBEM_INSTANTIATE

}  // namespace fmbem::cuda
