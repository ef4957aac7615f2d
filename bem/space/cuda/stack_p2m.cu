#include "fmbem/bem/space/cuda/stacks.cuh"

namespace fmbem::cuda::bem {
namespace {

template <class T>
struct StackP2mArguments : PanelSourcesView {
  StacksView stacks;
  TableView<T> table;
  const T* charges;
  ExpansionsView<T> expansions;
};

constexpr int most_parts = StackParts::most_lines * StackParts::most_densities;

/// Of a warp, in shared memory: what P2M takes, and the parts' sums.
template <class T>
__host__ __device__ constexpr int stack_warp_numbers(int pairs) {
  return p2m_numbers<T>(pairs, 1) + most_parts;
}

/// Sums over the pieces of a warp, those of every `step` from `first` on, of charge ∫ P_l T_k dS:
/// [densities][lines], P_l in the place along, T_k in that across, over half the stack's extent
/// times its length.
template <class T>
__device__ void sum_stack_parts(const StackP2mArguments<T>& a, const BoxStack& stack, int2 range,
                                int first, int step, int vector, T* buffer, T* sums) {
  constexpr int together = 4;  // points of a piece
  const StripMomentRulesView& rules = a.pieces.rules;
  const int along = stack.parts.densities + 1, points = along * stack.across,
            begin = rules.begin[(along - 1) * StripPoints::most_across + stack.across - 1];
  for (int k = first; k < range.y - range.x; k += step) {
    const std::int32_t own = range.x + k + static_cast<int>(threadIdx.x) % warp_size;
    PlaceInStack place{0, 0, 0};
    T charge = 0;
    if (own < range.y) {
      place = a.stacks.place[own];
      charge = a.charges[vector * a.sources + own];
    }
    for (int q = begin; q < begin + points; q += together) {
      T at[together], along_at[together], weight[together], before[together] = {};
#pragma unroll
      for (int i = 0; i < together; ++i) {
        const bool is_there = q + i < begin + points;
        const int point = is_there ? q + i : begin;
        const double height = place.first + rules.s[point] * (place.last - place.first);
        at[i] = static_cast<T>(place.at + rules.eta[point] * height);
        along_at[i] = static_cast<T>(2 * rules.s[point] - 1);
        weight[i] = is_there ? charge * static_cast<T>(fabs(height) * rules.weight[point]) : T(0);
      }
      int filled = 0;
      T* to = sums;
      for (int l = 0; l < stack.parts.densities; ++l) {
        T here[together], previous[together];
#pragma unroll
        for (int i = 0; i < together; ++i) {
          here[i] = weight[i];
          previous[i] = weight[i] * at[i];
        }
        for (int line = 0; line < stack.parts.lines; ++line) {
          T sum = 0;
#pragma unroll
          for (int i = 0; i < together; ++i) {
            sum += here[i];
            const T next = 2 * at[i] * here[i] - previous[i];
            previous[i] = here[i];
            here[i] = next;
          }
          buffer[filled * padded_row + threadIdx.x % warp_size] = sum;
          if (++filled < slots_at_once) continue;
          add_up(buffer, filled, to);
          to += filled;
          filled = 0;
        }
#pragma unroll
        for (int i = 0; i < together; ++i) {
          const T next = (static_cast<T>(2 * l + 1) * along_at[i] * weight[i] -
                          static_cast<T>(l) * before[i]) /
                         static_cast<T>(l + 1);
          before[i] = weight[i];
          weight[i] = next;
        }
      }
      if (filled > 0) add_up(buffer, filled, to);
    }
  }
}

/// The charge of a point on a line: the polynomials through the parts' sums.
template <class T>
__device__ T point_charge(const StackParts& parts, const T* sums, T along, T across) {
  T charge = 0, density = 1, density_before = 0;
  for (int l = 0; l < parts.densities; ++l) {
    T sum = 0, here = 2, before = 2 * across;
    for (int line = 0; line < parts.lines; ++line) {
      sum += (line == 0 ? T(1) : here) * sums[l * parts.lines + line];
      const T next = 2 * across * here - before;
      before = here;
      here = next;
    }
    charge += static_cast<T>(2 * l + 1) * density * sum;
    const T next =
        (static_cast<T>(2 * l + 1) * along * density - static_cast<T>(l) * density_before) /
        static_cast<T>(l + 1);
    density_before = density;
    density = next;
  }
  return charge / static_cast<T>(parts.lines);
}

/// A block for each stack (x) and right-hand side (y).
template <class T>
__global__ void __launch_bounds__(threads_per_block)
    stack_p2m_kernel(const __grid_constant__ StackP2mArguments<T> a) {
  T* const s_room = dynamic_shared<T>();
  const Steps<T> steps(a.table, s_room);
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size,
            warps = blockDim.x / warp_size, slots = 2 * a.table.pairs, v = blockIdx.y,
            numbers = stack_warp_numbers<T>(a.table.pairs);
  T* const first_room = s_room + Steps<T>::numbers(a.table.p, a.table.pairs);
  T* const buffer = first_room + warp * numbers;
  T* const moments = buffer + slots_at_once * padded_row;
  T* const parts = moments + slots;
  const std::int32_t which = a.stacks.which[blockIdx.x], box = a.boxes[which];
  const BoxStack& stack = a.stacks.stack[which];
  for (int k = lane; k < slots; k += warp_size) moments[k] = 0;
  for (int k = lane; k < most_parts; k += warp_size) parts[k] = 0;
  __syncwarp();
  sum_stack_parts(a, stack, a.tree.own_sources(box), warp * warp_size, warps * warp_size, v, buffer,
                  parts);
  __syncthreads();
  // The sum over warps, in their order.
  T* const all_parts = first_room + slots_at_once * padded_row + slots;
  for (int k = threadIdx.x; k < stack.parts.count(); k += blockDim.x)
    for (int other = 1; other < warps; ++other) all_parts[k] += all_parts[other * numbers + k];
  __syncthreads();

  const ToUnitBox<T, double> unit_box(a.root, a.tree.code[box]);
  const StripMomentRulesView& rules = a.pieces.rules;
  const int begin = rules.begin[(stack.along - 1) * StripPoints::most_across];
  const double area = a.scale * a.scale * stack.half * stack.frame.length;
  for (int first = warp * warp_size; first < stack.along * stack.parts.lines;
       first += warps * warp_size) {
    Vec3<T> place[1]{};
    T weight[1]{};
    const int line = (first + lane) / stack.along, q = begin + (first + lane) % stack.along;
    if (line < stack.parts.lines) {
      const double across = cospi((line + 0.5) / stack.parts.lines);
      const Vec3d at = a.scale * stack.frame.point(rules.s[q] * stack.frame.length,
                                                   stack.middle + stack.half * across);
      place[0] = unit_box(at.x, at.y, at.z);
      weight[0] = static_cast<T>(area * rules.weight[q]) *
                  point_charge(stack.parts, all_parts, static_cast<T>(2 * rules.s[q] - 1),
                               static_cast<T>(across));
    }
    add_moments<1>(a.table, steps, DegreeFactors<T, 1, fmm::Laplace>({}, nullptr, a.table.p), place,
                   weight, buffer, moments);
  }
  __syncthreads();
  T* const moment = a.expansions.moment(box, v);
  const T* const all_moments = first_room + slots_at_once * padded_row;
  for (int slot = threadIdx.x; slot < slots; slot += blockDim.x) {
    T sum = 0;
    for (int k = 0; k < warps; ++k) sum += all_moments[k * numbers + slot];
    if (a.table.position[slot] >= 0) moment[a.table.position[slot]] = sum;
  }
}

}  // namespace

template <class T>
void stack_p2m(const PanelSourcesView& sources, const BoxStacks& stacks, const TableView<T>& table,
               const T* charges, const ExpansionsView<T>& expansions, cudaStream_t stream) {
  const WarpBlocks<T> blocks(table, stack_warp_numbers<T>(table.pairs));
  launch(stack_p2m_kernel<T>, dim3(static_cast<unsigned>(stacks.count()), expansions.vectors),
         blocks.warps * warp_size, blocks.shared_bytes, stream,
         StackP2mArguments<T>{sources, stacks.view(), table, charges, expansions});
}

template void stack_p2m(const PanelSourcesView&, const BoxStacks&, const TableView<double>&,
                        const double*, const ExpansionsView<double>&, cudaStream_t);
template void stack_p2m(const PanelSourcesView&, const BoxStacks&, const TableView<float>&,
                        const float*, const ExpansionsView<float>&, cudaStream_t);

}  // namespace fmbem::cuda::bem
