#include <type_traits>

#include "fmbem/bem/space/cuda/panel_p2m.cuh"
#include "fmbem/cuda/p2m.cuh"

namespace fmbem::cuda::bem {
namespace {

template <class T>
struct PanelP2mArguments {
  const Vec3d* vertices;
  const double *area, *radius;
  const std::int32_t* order;
  double scale;
  TreeView tree;
  Cube root;
  const std::int32_t* boxes;
  std::int64_t n_boxes, sources;
  int team;  ///< warps of a box
  MomentRulesView rules;
  PieceMoments pieces;
  TableView<T> table;
  const T* charges;
  ExpansionsView<T> expansions;
};

/// What the sources are: charged panels, some of them in pieces, or panels of dipoles along their
/// normals.
enum class PanelKind { whole, with_pieces, dipoles };

/// A coordinate of a point; of a dipole's with that of the dipole.
template <class T, PanelKind kind>
using Coordinate = std::conditional_t<kind == PanelKind::dipoles, Dual<T>, T>;

/// Panels of a warp in shared memory, a row for each of their numbers: a corner and the edges from
/// there in the unit box, and the charge on the area, or the dipole on it; of trapezoids also the
/// height that they have at the corner, and by how much it is more at the other side, over the mean
/// one.
template <class T, PanelKind kind>
struct WarpPanels {
  static constexpr int numbers = (kind == PanelKind::whole ? 10 : 12) * padded_row;
  T* room;

  __device__ void put(int lane, Vec3<T> corner, Vec3<T> edge1, Vec3<T> edge2, T charge) const {
    const T values[] = {corner.x, corner.y, corner.z, edge1.x, edge1.y,
                        edge1.z,  edge2.x,  edge2.y,  edge2.z, charge};
#pragma unroll
    for (int k = 0; k < 10; ++k) room[k * padded_row + lane] = values[k];
  }
  __device__ void put_dipole(int lane, Vec3<T> dipole) const {
    for (int axis = 0; axis < 3; ++axis) room[(9 + axis) * padded_row + lane] = dipole[axis];
  }
  __device__ Vec3<Coordinate<T, kind>> point(int lane, T xi, T eta) const {
    const T* const from = room + lane;
    const auto at = [&](int axis) -> Coordinate<T, kind> {
      const T x = from[axis * padded_row] + xi * from[(3 + axis) * padded_row] +
                  eta * from[(6 + axis) * padded_row];
      if constexpr (kind == PanelKind::dipoles)
        return {x, from[(9 + axis) * padded_row]};
      else
        return x;
    };
    return {at(0), at(1), at(2)};
  }
  __device__ T charge(int lane) const { return room[9 * padded_row + lane]; }
  __device__ void put_heights(int lane, T first, T more) const {
    room[10 * padded_row + lane] = first;
    room[11 * padded_row + lane] = more;
  }
  __device__ T height(int lane, T xi) const {
    return room[10 * padded_row + lane] + xi * room[11 * padded_row + lane];
  }
};

template <class T, PanelKind kind>
__host__ __device__ constexpr int warp_numbers(int pairs) {
  return p2m_numbers<T>(pairs, 1) + WarpPanels<T, kind>::numbers;
}

/// A piece of a long panel as WarpPanels has it, and its rule.
struct PlacedPiece {
  Vec3d corner, along, across;
  double area, first, more;
  int begin, points;
};

template <class T>
__device__ inline PlacedPiece place_piece(const PanelP2mArguments<T>& a, std::int64_t piece,
                                          std::int64_t panel, double side) {
  const Vec3d* const v = a.vertices + 3 * panel;
  const PiecesView& pieces = a.pieces.pieces;
  const Strip strip = pieces.strip_of(panel, make_triangle(v[0], v[1], v[2]));
  const StripPoints& counts = a.pieces.rules.points;
  const double from = pieces.begin_of(piece), to = pieces.end_of(piece), length = to - from,
               first = strip.height(from), last = strip.height(to), mean = 0.5 * (first + last);
  const int along = counts.along(side, length), across = counts.across(side, strip.span());
  return {strip.point(from, 0),
          length * strip.along,
          mean * (strip.skew * strip.along + strip.across),
          mean * length,
          first / mean,
          (last - first) / mean,
          a.pieces.rules.begin[(along - 1) * StripPoints::most_across + across - 1],
          along * across};
}

/// A warp, or with pieces a team of them, for each box (x) and right-hand side (y). The points of
/// 32 panels at a time, each by its rule, go through a warp one behind the other.
template <class T, PanelKind kind>
__global__ void __launch_bounds__(threads_per_block)
    panel_p2m_kernel(const __grid_constant__ PanelP2mArguments<T> a) {
  constexpr bool with_pieces = kind == PanelKind::with_pieces;
  // Points of a thread, as many as registers hold.
  constexpr int together = kind == PanelKind::dipoles && sizeof(T) == 8 ? 2 : 4;
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
  const ToUnitBox<T, double> unit_box(a.root, a.tree.code[box]);
  const double scale = unit_box.scale * a.scale, side = 1 / scale;
  const auto in_t = [](Vec3d x) {
    return Vec3<T>{static_cast<T>(x.x), static_cast<T>(x.y), static_cast<T>(x.z)};
  };
  for (std::int32_t first_panel = range.x + member * warp_size; first_panel < range.y;
       first_panel += team * warp_size) {
    const std::int32_t own = first_panel + lane;
    int begin = 0, points = 0;
    __syncwarp();  // the panels before are done
    bool is_piece = false;
    if constexpr (with_pieces) {
      const std::int64_t piece = own < range.y ? a.order[own] : 0;
      const std::int64_t panel = a.pieces.pieces.panel[piece];
      is_piece = own < range.y && a.pieces.pieces.is_cut(panel);
      panels.put_heights(lane, 1, 0);
      if (is_piece) {
        const PlacedPiece placed = place_piece(a, piece, panel, side);
        begin = placed.begin;
        points = placed.points;
        const Vec3d at = a.scale * placed.corner, along = scale * placed.along,
                    across = scale * placed.across;
        panels.put(
            lane, unit_box(at.x, at.y, at.z), in_t(along), in_t(across),
            a.charges[v * a.sources + own] * static_cast<T>(a.scale * a.scale * placed.area));
        panels.put_heights(lane, static_cast<T>(placed.first), static_cast<T>(placed.more));
      }
    }
    if (own < range.y && !is_piece) {
      const std::int64_t panel = with_pieces ? a.pieces.pieces.panel[a.order[own]] : a.order[own];
      const int rule = a.rules.at(side, a.radius[panel]);
      begin = a.rules.begin[rule];
      points = a.rules.begin[rule + 1] - begin;
      const Vec3d* const corner = a.vertices + 3 * panel;
      const Vec3d at = a.scale * corner[0];
      const Vec3d edge1 = scale * (corner[1] - corner[0]), edge2 = scale * (corner[2] - corner[0]);
      const T charge = a.charges[v * a.sources + own];
      panels.put(lane, unit_box(at.x, at.y, at.z), in_t(edge1), in_t(edge2),
                 charge * static_cast<T>(a.scale * a.scale * a.area[panel]));
      // In the unit box, over the area in the tree's unit.
      if constexpr (kind == PanelKind::dipoles)
        panels.put_dipole(lane, charge * in_t(0.5 / unit_box.scale * cross(edge1, edge2)));
    }
    __syncwarp();
    const WarpCounts counts(points);
    const int all = counts.all();
    for_rounds<together>(
        0, all, [&]<int Each>(std::integral_constant<int, Each>, std::int32_t first) {
          Vec3<Coordinate<T, kind>> place[Each];
          T weight[Each];
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
            weight[i] = static_cast<T>(a.rules.weight[q]);
            if constexpr (kind != PanelKind::dipoles) weight[i] *= panels.charge(of);
          }
          add_moments<Each>(a.table, steps, place, weight, buffer, sums);
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

/// Warps of a box: as many as have two rounds of panels each, of `warps` that a block has.
int team_of(std::int64_t sources, std::int64_t boxes, int warps) {
  int team = 1;
  while (2 * team <= warps && warps % (2 * team) == 0 && sources > 4 * team * warp_size * boxes)
    team *= 2;
  return team;
}

}  // namespace

template <class T>
void panel_p2m(const PanelStore& panels, const SpreadTree& tree, Trace source,
               const MomentRules& rules, const PieceMoments* pieces, const TableView<T>& table,
               const T* charges, const ExpansionsView<T>& expansions, cudaStream_t stream) {
  const auto boxes = static_cast<std::int64_t>(tree.far.source_boxes.size());
  PanelP2mArguments<T> arguments{
      panels.vertices.data(),
      panels.area.data(),
      panels.radius.data(),
      tree.source_order.data(),
      tree.scale,
      tree.tree.view(),
      tree.tree.root,
      tree.far.source_boxes.data(),
      boxes,
      tree.sources(),
      1,
      rules.view(),
      pieces ? *pieces : PieceMoments{{}, {StripPoints(1), nullptr, nullptr, nullptr, nullptr}},
      table,
      charges,
      expansions};
  const auto enqueue = [&]<PanelKind kind>(std::integral_constant<PanelKind, kind>) {
    const WarpBlocks<T> blocks(table, warp_numbers<T, kind>(table.pairs));
    if (kind == PanelKind::with_pieces)
      arguments.team = team_of(tree.sources(), boxes, blocks.warps);
    launch(panel_p2m_kernel<T, kind>,
           dim3(blocks_for(boxes, blocks.warps / arguments.team), expansions.vectors),
           blocks.warps * warp_size, blocks.shared_bytes, stream, arguments);
  };
  if (source == Trace::normal)
    enqueue(std::integral_constant<PanelKind, PanelKind::dipoles>());
  else if (pieces)
    enqueue(std::integral_constant<PanelKind, PanelKind::with_pieces>());
  else
    enqueue(std::integral_constant<PanelKind, PanelKind::whole>());
}

template void panel_p2m(const PanelStore&, const SpreadTree&, Trace, const MomentRules&,
                        const PieceMoments*, const TableView<double>&, const double*,
                        const ExpansionsView<double>&, cudaStream_t);
template void panel_p2m(const PanelStore&, const SpreadTree&, Trace, const MomentRules&,
                        const PieceMoments*, const TableView<float>&, const float*,
                        const ExpansionsView<float>&, cudaStream_t);

}  // namespace fmbem::cuda::bem
