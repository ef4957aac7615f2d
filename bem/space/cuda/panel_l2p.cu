// L2P where the targets are panels: the transposed P2M.
#include "fmbem/bem/space/cuda/panel_sources.cuh"
#include "fmbem/cuda/l2p_point.cuh"

namespace fmbem::cuda::bem {
namespace {

template <class T>
struct PanelL2pArguments : PanelSourcesView {
  TableView<T> table;
  ExpansionsView<T> expansions;
  double* values;
  int top_level;
};

/// Points that a thread takes at a time, all of one source, so that a coefficient's derivative
/// along its normal is made once for all of them.
constexpr int points_at_once = 4;

/// Channels: one for charges; for dipoles the components of the gradient.
constexpr int channels_of(PanelKind kind) { return kind == PanelKind::dipoles ? 3 : 1; }

/// Numbers of shared memory that a warp works with: its box's expansion, [pair][channel][2], sums
/// of its threads, and panels.
template <class T, PanelKind kind>
__host__ __device__ constexpr int l2p_numbers(int pairs) {
  return 2 * pairs * channels_of(kind) + warp_size + WarpPanels<T, kind>::numbers;
}

/// The local expansion of a box or its gradient, by a warp.
template <class T, PanelKind kind, class Kernel>
__device__ inline void load_local(const TableView<T>& table, const Kernel& kernel, const T* local,
                                  T* out) {
  constexpr int channels = channels_of(kind);
  for (int slot = threadIdx.x % warp_size; slot < 2 * table.pairs; slot += warp_size) {
    T* const to = out + slot / 2 * 2 * channels + slot % 2;
    if constexpr (kind == PanelKind::dipoles) {
#pragma unroll
      for (int axis = 0; axis < 3; ++axis)
        to[2 * axis] = derivative_at(table, kernel, local, slot, axis);
    } else {
      const std::int32_t position = table.position[slot];
      to[0] = position < 0 ? T(0) : local[position];
    }
  }
}

/// Σ weight_i L(place_i), or of dipole · ∇L.
template <class T, PanelKind kind, class Kernel>
__device__ inline T local_sum(const TableView<T>& table, const Steps<T>& steps,
                              const Kernel& kernel, const T* local, const Vec3<T>& dipole,
                              const Vec3<T>* place, const T* weight) {
  Harmonics<T> point[points_at_once];
  T r2[points_at_once];
#pragma unroll
  for (int i = 0; i < points_at_once; ++i) {
    point[i] = Harmonics<T>(place[i], weight[i]);
    r2[i] = point[i].r2;
  }
  const DegreeFactors<T, points_at_once, Kernel> factors(kernel, r2, table.p);
  T sum = 0;
  int t = 0;
  for (int m = 0; m <= table.p; ++m) {
    T even[points_at_once] = {}, odd[points_at_once] = {};
#pragma unroll
    for (int i = 0; i < points_at_once; ++i) {
      if (m > 0) point[i].next_order(steps.diagonal[m]);
      point[i].first_degree();
    }
    for (int n = m; n <= table.p; ++n, ++t, local += 2 * channels_of(kind)) {
      T of_even, of_odd;
      if constexpr (kind == PanelKind::dipoles) {
        of_even = dipole.x * local[0] + dipole.y * local[2] + dipole.z * local[4];
        of_odd = dipole.x * local[1] + dipole.y * local[3] + dipole.z * local[5];
      } else {
        of_even = local[0];
        of_odd = local[1];
      }
#pragma unroll
      for (int i = 0; i < points_at_once; ++i) {
        const T here = factors.times(i, n, point[i].here);
        even[i] += of_even * here;
        odd[i] += of_odd * here;
        point[i].next_degree(steps.up[t], steps.down[t]);
      }
    }
#pragma unroll
    for (int i = 0; i < points_at_once; ++i) sum += point[i].c * even[i] + point[i].s * odd[i];
  }
  return sum;
}

/// A team of warps for each box (x) and right-hand side (y). A warp takes the points of 32 sources
/// at a time, each by its rule, one after the other; a thread has points of one source.
template <class T, PanelKind kind, class Kernel>
__global__ void __launch_bounds__(threads_per_block)
    panel_l2p_kernel(const __grid_constant__ PanelL2pArguments<T> a, Kernel in_tree) {
  T* const s_room = dynamic_shared<T>();
  const Steps<T> steps(a.table, s_room);
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const int member = warp % a.team, v = blockIdx.y;
  const std::int64_t b =
      static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / warp_size / a.team) + warp / a.team;
  const int numbers = l2p_numbers<T, kind>(a.table.pairs);
  T* const first_room = s_room + Steps<T>::numbers(a.table.p, a.table.pairs);
  T* const local = first_room + (warp - member) * numbers;  // the team's
  T* const sums = first_room + warp * numbers + 2 * a.table.pairs * channels_of(kind);
  const WarpPanels<T, kind> panels{sums + warp_size};
  const bool works = b < a.n_boxes;
  const std::int32_t box = a.boxes[works ? b : 0];
  const int top_level = Kernel::homogeneous ? 2 : a.top_level;
  const bool is_far = works && level_of(a.tree.code[box]) >= top_level;  // else all is near
  const ToUnitBox<T, double> unit_box(a.root, a.tree.code[box]);
  const Kernel kernel = in_unit(in_tree, 1 / unit_box.scale);
  if (is_far && member == 0)
    load_local<T, kind>(a.table, kernel, a.expansions.local(box, v), local);
  __syncthreads();
  if (!works) return;

  const int2 range = a.tree.own_sources(box);
  for (std::int32_t first_source = range.x + member * warp_size; first_source < range.y;
       first_source += a.team * warp_size) {
    const std::int32_t own = first_source + lane;
    T sum = 0;
    if (is_far) {
      __syncwarp();  // the sources before are done
      const LanePoints own_points = put_source(
          a, unit_box, own, range.y,
          [] {
            return PanelDensities<T>{1, 1};
          },
          panels);
      __syncwarp();
      const int shares = (own_points.points + points_at_once - 1) / points_at_once;
      const WarpCounts counts(shares);
      for (int first = 0; first < counts.all(); first += warp_size) {
        const int share = first + lane;
        const int of = counts.lane_of(share);  // whose source the points are of
        const int before = points_at_once * (share - __shfl_sync(whole_warp, counts.before(), of));
        const int points = __shfl_sync(whole_warp, own_points.points, of),
                  begin = __shfl_sync(whole_warp, own_points.begin, of);
        [[maybe_unused]] bool of_piece = false;
        if constexpr (kind == PanelKind::with_pieces)
          of_piece = __shfl_sync(whole_warp, own_points.is_piece, of);
        T part = 0;
        if (share < counts.all()) {
          Vec3<T> place[points_at_once];
          T weight[points_at_once];
#pragma unroll
          for (int i = 0; i < points_at_once; ++i) {
            const bool is_there = before + i < points;
            const int q = begin + (is_there ? before + i : 0);
            if (kind == PanelKind::with_pieces && of_piece) {
              const StripMomentRulesView& rules = a.pieces.rules;
              const T s = static_cast<T>(rules.s[q]), height = panels.height(of, s);
              place[i] = panels.place(of, s, static_cast<T>(rules.eta[q]) * height);
              weight[i] = is_there ? height * static_cast<T>(rules.weight[q]) : T(0);
            } else {
              place[i] =
                  panels.place(of, static_cast<T>(a.rules.xi[q]), static_cast<T>(a.rules.eta[q]));
              weight[i] = is_there ? static_cast<T>(a.rules.weight[q]) : T(0);
            }
          }
          if constexpr (kind == PanelKind::dipoles)
            part =
                local_sum<T, kind>(a.table, steps, kernel, local, panels.dipole(of), place, weight);
          else
            part = panels.charge(of) *
                   local_sum<T, kind>(a.table, steps, kernel, local, {}, place, weight);
        }
        sums[lane] = part;
        __syncwarp();
        const int end = min(counts.before() + shares, first + warp_size);
        for (int k = max(counts.before(), first); k < end; ++k) sum += sums[k - first];
        __syncwarp();
      }
    }
    if (own < range.y)
      a.values[v * a.sources + a.order[own]] = unit_box.scale * static_cast<double>(sum);
  }
}

}  // namespace

template <class T>
void panel_l2p(const PanelStore& panels, const SpreadTree& tree, PanelKind panel_kind,
               const MomentRules& rules, const PieceMoments* pieces, const TableView<T>& table,
               const ExpansionsView<T>& expansions, const FarKernel& far, double* values,
               cudaStream_t stream) {
  PanelL2pArguments<T> arguments{sources_of(panels, tree, rules, pieces), table, expansions, values,
                                 far.top_level};
  with_kind(panel_kind, far.kappa,
            [&]<PanelKind kind>(std::integral_constant<PanelKind, kind>, const auto& kernel) {
              const WarpBlocks<T> blocks(table, l2p_numbers<T, kind>(table.pairs));
              arguments.team = team_of(arguments, blocks.warps);
              launch(panel_l2p_kernel<T, kind, std::remove_cvref_t<decltype(kernel)>>,
                     dim3(blocks_for(arguments.n_boxes, blocks.warps / arguments.team),
                          expansions.vectors),
                     blocks.warps * warp_size, blocks.shared_bytes, stream, arguments, kernel);
            });
}

template void panel_l2p(const PanelStore&, const SpreadTree&, PanelKind, const MomentRules&,
                        const PieceMoments*, const TableView<double>&,
                        const ExpansionsView<double>&, const FarKernel&, double*, cudaStream_t);
template void panel_l2p(const PanelStore&, const SpreadTree&, PanelKind, const MomentRules&,
                        const PieceMoments*, const TableView<float>&, const ExpansionsView<float>&,
                        const FarKernel&, double*, cudaStream_t);

}  // namespace fmbem::cuda::bem
