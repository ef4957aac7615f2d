#include <algorithm>

#include "fmbem/bem/space/cuda/panel_moments.cuh"
#include "fmbem/bem/space/cuda/panel_sources.cuh"

namespace fmbem::cuda::bem {
namespace {

/// Numbers from a panel's moments to the next one's: whole sectors of memory.
template <class T>
__host__ __device__ constexpr int stride_of(int pairs) {
  constexpr int sector = 32 / sizeof(T);
  return (2 * pairs + sector - 1) / sector * sector;
}

template <class T>
struct MomentsArguments : PanelSourcesView {
  TableView<T> table;
  T* moments;
  int kinds, top_level;

  /// A warp has the b-th box.
  __device__ std::int64_t of_warp() const {
    return static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / warp_size) +
           threadIdx.x / warp_size;
  }
  __device__ bool is_far(std::int32_t box) const { return level_of(tree.code[box]) >= top_level; }
  __host__ __device__ T* of(int kind, std::int64_t source) const {
    return moments + (kind * sources + source) * stride_of<T>(table.pairs);
  }
};

template <class T, PanelKind kind>
__host__ __device__ constexpr int making_numbers() {
  return slots_at_once * padded_row + WarpPanels<T, kind>::numbers;
}

/// Sums over the lanes of N numbers, a power of two: lane k gets that of number k % N.
template <int N, class T>
__device__ T sums_of_warp(T (&part)[N]) {
  const int lane = threadIdx.x % warp_size;
#pragma unroll
  for (int half = N / 2; half > 0; half /= 2) {
    const bool has_upper = lane & half;
#pragma unroll
    for (int k = 0; k < half; ++k) {
      const T kept = has_upper ? part[k + half] : part[k],
              given = has_upper ? part[k] : part[k + half];
      part[k] = kept + __shfl_xor_sync(whole_warp, given, half);
    }
  }
  T sum = part[0];
#pragma unroll
  for (int step = N; step < warp_size; step *= 2) sum += __shfl_xor_sync(whole_warp, sum, step);
  return sum;
}

/// A warp for each box; as many of its lanes share a panel as have some points of its rule each.
template <class T, PanelKind kind, class Kernel>
__global__ void __launch_bounds__(threads_per_block)
    make_moments(const __grid_constant__ MomentsArguments<T> a, int number_of_kind,
                 Kernel in_tree) {
  constexpr int together = has_dipoles(kind) && sizeof(T) == 8 ? 2 : 4;
  T* const s_room = dynamic_shared<T>();
  const Steps<T> steps(a.table, s_room);
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  T* const buffer =
      s_room + Steps<T>::numbers(a.table.p, a.table.pairs) + warp * making_numbers<T, kind>();
  const WarpPanels<T, kind> panels{buffer + slots_at_once * padded_row};
  const std::int64_t b = a.of_warp();
  if (b >= a.n_boxes) return;
  const std::int32_t box = a.boxes[b];
  if (!a.is_far(box)) return;
  const int2 range = a.tree.own_sources(box);
  const ToUnitBox<T, double> unit_box(a.root, a.tree.code[box]);
  const Kernel kernel = in_unit(in_tree, 1 / unit_box.scale);
  const int stride = stride_of<T>(a.table.pairs);
  for (std::int32_t first = range.x; first < range.y; first += warp_size) {
    __syncwarp();  // the panels before are done
    const auto [begin, points, is_piece] = put_source(
        a, unit_box, first + lane, range.y,
        [] {
          return PanelDensities<T>{1, 1};
        },
        panels);
    __syncwarp();
    const int some = min(range.y - first, warp_size);
    T* const rows = a.of(number_of_kind, first);
    int shares = 1;
    while (shares < warp_size && __any_sync(whole_warp, shares * together < points)) ++shares;
    const int each = warp_size / shares;  // panels at a time
    for (int pass = 0; pass < some; pass += each) {
      const bool works = lane / shares < min(each, some - pass);
      const int of = works ? pass + lane / shares : 0;  // the lane's panel
      const int begin_of = __shfl_sync(whole_warp, begin, of),
                all_of = __shfl_sync(whole_warp, points, of), points_of = works ? all_of : 0;
      for (int done = 0; __any_sync(whole_warp, done < points_of); done += shares * together) {
        Vec3<Coordinate<T, kind>> place[together];
        T weight[together];
#pragma unroll
        for (int i = 0; i < together; ++i) {
          const int point = done + i * shares + lane % shares, q = begin_of + point;
          place[i] = {};
          weight[i] = 0;
          if (point >= points_of) continue;
          place[i] =
              panels.point(of, static_cast<T>(a.rules.xi[q]), static_cast<T>(a.rules.eta[q]));
          weight[i] = static_cast<T>(a.rules.weight[q]);
          if constexpr (kind == PanelKind::whole) weight[i] *= panels.charge(of);
        }
        for_moments<together>(a.table, steps, factors_at<together, T>(kernel, place, a.table.p),
                              place, weight, buffer, [&](int slot, int filled) {
                                __syncwarp();
                                for (int k = lane; k < min(each, some - pass) * slots_at_once;
                                     k += warp_size) {
                                  const int panel = k / slots_at_once, at = k % slots_at_once;
                                  if (at >= filled) continue;
                                  T sum = 0;
                                  for (int share = 0; share < shares; ++share)
                                    sum += buffer[at * padded_row + panel * shares + share];
                                  T& to = rows[(pass + panel) * stride + slot + at];
                                  to = done > 0 ? to + sum : sum;
                                }
                                __syncwarp();
                              });
      }
    }
  }
}

/// Vectors whose products share the reading of moments.
constexpr int vectors_at_once = 4;

/// Moments of a box from those of its panels: a warp for each box (x), so many slots of it (y) and
/// vectors (z). Each lane has some slots, so that there is nothing to add up.
template <class T, int Rounds, int Vectors>
__global__ void __launch_bounds__(threads_per_block)
    add_panels(const __grid_constant__ MomentsArguments<T> a, const T* charges,
               ExpansionsView<T> expansions) {
  const std::int64_t b = a.of_warp();
  if (b >= a.n_boxes) return;
  const std::int32_t box = a.boxes[b];
  if (!a.is_far(box)) return;
  const int lane = threadIdx.x % warp_size, slots = 2 * a.table.pairs,
            first_slot = static_cast<int>(blockIdx.y) * Rounds * warp_size + lane,
            first_vector = static_cast<int>(blockIdx.z) * Vectors,
            stride = stride_of<T>(a.table.pairs);
  const int2 range = a.tree.own_sources(box);
  T sum[Vectors][Rounds] = {};
  for (int kind = 0; kind < a.kinds; ++kind) {
    for (std::int32_t first = range.x; first < range.y; first += warp_size) {
      const int some = min(range.y - first, warp_size);
      T charge[Vectors];
#pragma unroll
      for (int v = 0; v < Vectors; ++v)
        charge[v] = lane < some && first_vector + v < expansions.vectors
                        ? charges[((first_vector + v) * a.kinds + kind) * a.sources + first + lane]
                        : T(0);
      const T* row = a.of(kind, first) + first_slot;
#pragma unroll 4
      for (int j = 0; j < some; ++j, row += stride) {
        T value[Rounds];
#pragma unroll
        for (int r = 0; r < Rounds; ++r)
          value[r] = first_slot + r * warp_size < slots ? row[r * warp_size] : T(0);
#pragma unroll
        for (int v = 0; v < Vectors; ++v) {
          const T of_panel = __shfl_sync(whole_warp, charge[v], j);
#pragma unroll
          for (int r = 0; r < Rounds; ++r) sum[v][r] += value[r] * of_panel;
        }
      }
    }
  }
#pragma unroll
  for (int v = 0; v < Vectors; ++v) {
    if (first_vector + v >= expansions.vectors) break;
    T* const moment = expansions.moment(box, first_vector + v);
#pragma unroll
    for (int r = 0; r < Rounds; ++r) {
      const int slot = first_slot + r * warp_size;
      if (slot >= slots) break;
      const std::int32_t position = a.table.position[slot];
      if (position >= 0) moment[position] = sum[v][r];
    }
  }
}

/// Panels that a warp takes at a time.
template <int Vectors>
constexpr int panels_of_a_round = Vectors == 1 ? 8 : 4;

/// A box's local expansion at its panels: a warp for each box (x) and so many vectors (y). Lanes
/// have some slots each, and are added up for several panels and vectors at a time.
template <class T, int Vectors>
__global__ void __launch_bounds__(threads_per_block)
    evaluate_panels(const __grid_constant__ MomentsArguments<T> a, ExpansionsView<T> expansions,
                    double* values) {
  constexpr int panels = panels_of_a_round<Vectors>, sums = panels * Vectors;
  const std::int64_t b = a.of_warp();
  if (b >= a.n_boxes) return;
  const int lane = threadIdx.x % warp_size, slots = 2 * a.table.pairs,
            first_vector = static_cast<int>(blockIdx.y) * Vectors,
            stride = stride_of<T>(a.table.pairs);
  T* const local = dynamic_shared<T>() + threadIdx.x / warp_size * Vectors * stride;
  const std::int32_t box = a.boxes[b];
  const bool is_far = a.is_far(box);  // else all is near
  for (int v = 0; v < Vectors; ++v)
    for (int slot = lane; slot < slots; slot += warp_size) {
      const std::int32_t position = a.table.position[slot];
      const bool is_there = is_far && position >= 0 && first_vector + v < expansions.vectors;
      local[v * stride + slot] =
          is_there ? expansions.local(box, first_vector + v)[position] : T(0);
    }
  __syncwarp();
  const int2 range = a.tree.own_sources(box);
  const double scale = ToUnitBox<T, double>(a.root, a.tree.code[box]).scale;
  for (std::int32_t first = range.x; first < range.y; first += panels) {
    T part[sums] = {};
    if (is_far) {
      const T* row[panels];
#pragma unroll
      for (int j = 0; j < panels; ++j) row[j] = a.of(0, min(first + j, range.y - 1));
#pragma unroll 2
      for (int slot = lane; slot < slots; slot += warp_size) {
        T value[panels];
#pragma unroll
        for (int j = 0; j < panels; ++j) value[j] = row[j][slot];
#pragma unroll
        for (int v = 0; v < Vectors; ++v) {
          const T coefficient = local[v * stride + slot];
#pragma unroll
          for (int j = 0; j < panels; ++j) part[j * Vectors + v] += value[j] * coefficient;
        }
      }
    }
    const T sum = sums_of_warp(part);
    const std::int32_t own = first + lane / Vectors;
    const int v = first_vector + lane % Vectors;
    if (lane < sums && own < range.y && v < expansions.vectors)
      values[v * a.sources + a.order[own]] = scale * static_cast<double>(sum);
  }
}

int kinds_of(PanelKind kind) { return kind == PanelKind::charges_and_dipoles ? 2 : 1; }

template <class T>
MomentsArguments<T> arguments_of(const PanelStore& panels, const SpreadTree& tree,
                                 const MomentRules& rules, const TableView<T>& table, T* moments,
                                 int kinds, int top_level) {
  return {sources_of(panels, tree, rules, nullptr), table, moments, kinds, top_level};
}

/// Calls enqueue(std::integral_constant<int, Vectors>(), blocks for the vectors).
template <class Enqueue>
void for_vectors(int vectors, Enqueue&& enqueue) {
  if (vectors == 1)
    enqueue(std::integral_constant<int, 1>(), 1u);
  else
    enqueue(std::integral_constant<int, vectors_at_once>(), blocks_for(vectors, vectors_at_once));
}

}  // namespace

template <class T>
std::int64_t PanelMoments<T>::bytes_for(std::int64_t sources, PanelKind kind,
                                        const TableView<T>& table) {
  return sources * kinds_of(kind) * stride_of<T>(table.pairs) *
         static_cast<std::int64_t>(sizeof(T));
}

template <class T>
PanelMoments<T>::PanelMoments(const PanelStore& panels, const SpreadTree& tree, PanelKind kind,
                              const MomentRules& rules, const TableView<T>& table,
                              const FarKernel& far, cudaStream_t stream)
    : panels_(panels),
      tree_(tree),
      rules_(rules),
      table_(table),
      top_level_(far.top_level),
      kinds_(kinds_of(kind)),
      moments_(bytes_for(tree.sources(), kind, table) / sizeof(T), stream) {
  const MomentsArguments<T> arguments =
      arguments_of(panels_, tree_, rules_, table_, moments_.data(), kinds_, top_level_);
  const auto make = [&](PanelKind one, int number) {
    with_kind(one, far.kappa,
              [&]<PanelKind Kind>(std::integral_constant<PanelKind, Kind>, const auto& kernel) {
                if constexpr (Kind != PanelKind::with_pieces) {
                  const WarpBlocks<T> blocks(table_, making_numbers<T, Kind>());
                  launch(make_moments<T, Kind, std::remove_cvref_t<decltype(kernel)>>,
                         blocks_for(arguments.n_boxes, blocks.warps), blocks.warps * warp_size,
                         blocks.shared_bytes, stream, arguments, number, kernel);
                }
              });
  };
  if (kind != PanelKind::dipoles) make(PanelKind::whole, 0);
  if (kind != PanelKind::whole) make(PanelKind::dipoles, kinds_ - 1);
}

template <class T>
void PanelMoments<T>::p2m(const T* charges, const ExpansionsView<T>& expansions,
                          cudaStream_t stream) const {
  constexpr int most_rounds = 4;
  const MomentsArguments<T> arguments =
      arguments_of(panels_, tree_, rules_, table_, moments_.data(), kinds_, top_level_);
  const int rounds = static_cast<int>(blocks_for(2 * table_.pairs, warp_size)),
            parts = static_cast<int>(blocks_for(rounds, most_rounds)),
            each = static_cast<int>(blocks_for(rounds, parts));
  for_vectors(expansions.vectors,
              [&]<int Vectors>(std::integral_constant<int, Vectors>, unsigned groups) {
                const dim3 grid(blocks_for(arguments.n_boxes, warps_per_block), parts, groups);
                launch(each == 1   ? add_panels<T, 1, Vectors>
                       : each == 2 ? add_panels<T, 2, Vectors>
                       : each == 3 ? add_panels<T, 3, Vectors>
                                   : add_panels<T, most_rounds, Vectors>,
                       grid, threads_per_block, 0, stream, arguments, charges, expansions);
              });
}

template <class T>
void PanelMoments<T>::l2p(PanelKind kind, const ExpansionsView<T>& expansions, double* values,
                          cudaStream_t stream) const {
  MomentsArguments<T> arguments =
      arguments_of(panels_, tree_, rules_, table_, moments_.data(), kinds_, top_level_);
  if (kinds_ == 2 && kind == PanelKind::dipoles) arguments.moments = arguments.of(1, 0);
  for_vectors(
      expansions.vectors, [&]<int Vectors>(std::integral_constant<int, Vectors>, unsigned groups) {
        const std::size_t each = Vectors * stride_of<T>(table_.pairs) * sizeof(T);
        const auto warps = static_cast<int>(
            std::clamp<std::size_t>(shared_memory_of_a_block() / each, 1, warps_per_block));
        launch(evaluate_panels<T, Vectors>, dim3(blocks_for(arguments.n_boxes, warps), groups),
               warps * warp_size, warps * each, stream, arguments, expansions, values);
      });
}

template class PanelMoments<float>;
template class PanelMoments<double>;

}  // namespace fmbem::cuda::bem
