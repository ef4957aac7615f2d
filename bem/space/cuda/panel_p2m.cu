#include "fmbem/bem/space/cuda/stacks.cuh"

namespace fmbem::cuda::bem {
namespace {

template <class T>
struct PanelP2mArguments : PanelSourcesView {
  TableView<T> table;
  const T* charges;
  ExpansionsView<T> expansions;
  int top_level;
};

template <class T, PanelKind kind>
__host__ __device__ constexpr int warp_numbers(int pairs) {
  return p2m_numbers<T>(pairs, 1) + WarpPanels<T, kind>::numbers;
}

/// A warp, or with pieces a team of warps, for each box (x) and right-hand side (y). A warp takes
/// the points of 32 panels at a time, each by its rule, one after the other.
template <class T, PanelKind kind, class Kernel>
__global__ void __launch_bounds__(threads_per_block)
    panel_p2m_kernel(const __grid_constant__ PanelP2mArguments<T> a, Kernel in_tree) {
  constexpr bool with_pieces = kind == PanelKind::with_pieces,
                 both = kind == PanelKind::charges_and_dipoles;
  // Points of a thread, as many as registers hold.
  constexpr int together = has_dipoles(kind) && sizeof(T) == 8 ? 2 : 4;
  T* const s_room = dynamic_shared<T>();
  const Steps<T> steps(a.table, s_room);
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const int team = with_pieces ? a.team : 1, member = warp % team;
  const std::int64_t b =
      static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / warp_size / team) + warp / team;
  if (!with_pieces && b >= a.n_boxes) return;
  const bool works = b < a.n_boxes;  // the others are waited for
  const int slots = 2 * a.table.pairs, v = blockIdx.y;
  T* const buffer = s_room + Steps<T>::numbers(a.table.p, a.table.pairs) +
                    warp * warp_numbers<T, kind>(a.table.pairs);
  T* const sums = buffer + slots_at_once * padded_row;
  const WarpPanels<T, kind> panels{sums + slots};
  for (int k = lane; k < slots; k += warp_size) sums[k] = 0;
  const std::int32_t box = a.boxes[works ? b : 0];
  const int2 range = works ? a.tree.own_sources(box) : int2{0, 0};
  static_assert(Kernel::homogeneous || !with_pieces);
  if (!Kernel::homogeneous && level_of(a.tree.code[box]) < a.top_level) return;
  const ToUnitBox<T, double> unit_box(a.root, a.tree.code[box]);
  const Kernel kernel = in_unit(in_tree, 1 / unit_box.scale);
  for (std::int32_t first_panel = range.x + member * warp_size; first_panel < range.y;
       first_panel += team * warp_size) {
    const std::int32_t own = first_panel + lane;
    __syncwarp();  // the panels before are done
    const auto densities = [&]() -> PanelDensities<T> {
      if constexpr (both)
        return {a.charges[2 * v * a.sources + own], a.charges[(2 * v + 1) * a.sources + own]};
      const T density = a.charges[v * a.sources + own];
      return {density, density};
    };
    const auto [begin, points, is_piece] = put_source(a, unit_box, own, range.y, densities, panels);
    __syncwarp();
    const WarpCounts counts(points);
    const int all = counts.all();
    for_rounds<together>(
        0, all, [&]<int Each>(std::integral_constant<int, Each>, std::int32_t first) {
          Vec3<Coordinate<T, kind>> place[Each];
          std::conditional_t<both, Dual<T>, T> weight[Each];
#pragma unroll
          for (int i = 0; i < Each; ++i) {
            const int point = first + i * warp_size + lane;
            const int of = counts.lane_of(point);  // whose panel the point is of
            const int q = point + __shfl_sync(whole_warp, begin - counts.before(), of);
            place[i] = {};
            weight[i] = 0;
            [[maybe_unused]] bool of_piece = false;
            if constexpr (with_pieces) of_piece = __shfl_sync(whole_warp, is_piece, of);
            if (point >= all) continue;
            if constexpr (with_pieces) {
              if (of_piece) {
                const StripMomentRulesView& rules = a.pieces.rules;
                const T s = static_cast<T>(rules.s[q]), height = panels.height(of, s);
                place[i] = panels.point(of, s, static_cast<T>(rules.eta[q]) * height);
                weight[i] = panels.charge(of) * height * static_cast<T>(rules.weight[q]);
                continue;
              }
            }
            place[i] =
                panels.point(of, static_cast<T>(a.rules.xi[q]), static_cast<T>(a.rules.eta[q]));
            const T share = static_cast<T>(a.rules.weight[q]);
            if constexpr (both)
              weight[i] = {share, share * panels.charge(of)};  // a derivative is wanted
            else
              weight[i] = kind == PanelKind::dipoles ? share : share * panels.charge(of);
          }
          add_moments<Each>(a.table, steps, factors_at<Each, T>(kernel, place, a.table.p), place,
                            weight, buffer, sums);
        });
  }
  if constexpr (with_pieces)
    __syncthreads();
  else
    __syncwarp();

  if (!works || member > 0) return;
  T* const moment = a.expansions.moment(box, v);
  for (int slot = lane; slot < slots; slot += warp_size) {
    T sum = sums[slot];
    for (int k = 1; k < team; ++k) sum += sums[k * warp_numbers<T, kind>(a.table.pairs) + slot];
    if (a.table.position[slot] >= 0) moment[a.table.position[slot]] = sum;
  }
}

}  // namespace

template <class T>
void panel_p2m(const PanelStore& panels, const SpreadTree& tree, PanelKind panel_kind,
               const MomentRules& rules, const PieceMoments* pieces, const BoxStacks* stacks,
               const TableView<T>& table, const T* charges, const ExpansionsView<T>& expansions,
               const FarKernel& far, cudaStream_t stream) {
  PanelP2mArguments<T> arguments{sources_of(panels, tree, rules, pieces), table, charges,
                                 expansions, far.top_level};
  if (stacks) {
    stack_p2m(arguments, *stacks, table, charges, expansions, stream);
    arguments.boxes = stacks->others().data();
    arguments.n_boxes = static_cast<std::int64_t>(stacks->others().size());
  }
  const auto enqueue = [&]<PanelKind kind>(std::integral_constant<PanelKind, kind>,
                                           const auto& kernel) {
    const WarpBlocks<T> blocks(table, warp_numbers<T, kind>(table.pairs));
    if (kind == PanelKind::with_pieces) arguments.team = team_of(arguments, blocks.warps);
    launch(panel_p2m_kernel<T, kind, std::remove_cvref_t<decltype(kernel)>>,
           dim3(blocks_for(arguments.n_boxes, blocks.warps / arguments.team), expansions.vectors),
           blocks.warps * warp_size, blocks.shared_bytes, stream, arguments, kernel);
  };
  if (panel_kind != PanelKind::charges_and_dipoles)
    return with_kind(panel_kind, far.kappa, enqueue);
  const auto both = std::integral_constant<PanelKind, PanelKind::charges_and_dipoles>();
  fmm::with_kernel(far.kappa, [&](const auto& kernel) { enqueue(both, kernel); });
}

template void panel_p2m(const PanelStore&, const SpreadTree&, PanelKind, const MomentRules&,
                        const PieceMoments*, const BoxStacks*, const TableView<double>&,
                        const double*, const ExpansionsView<double>&, const FarKernel&,
                        cudaStream_t);
template void panel_p2m(const PanelStore&, const SpreadTree&, PanelKind, const MomentRules&,
                        const PieceMoments*, const BoxStacks*, const TableView<float>&,
                        const float*, const ExpansionsView<float>&, const FarKernel&, cudaStream_t);

}  // namespace fmbem::cuda::bem
