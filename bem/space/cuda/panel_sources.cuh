#pragma once

// Panels or their pieces in the boxes that they are sources of, for P2M and, transposed, for L2P.
#include <type_traits>

#include "fmbem/bem/space/cuda/panel_stages.cuh"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/dual.cuh"
#include "fmbem/cuda/p2m.cuh"

namespace fmbem::cuda::bem {

/// The sources, and the boxes with sources of their own.
struct PanelSourcesView {
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
};

inline PanelSourcesView sources_of(const PanelStore& panels, const SpreadTree& tree,
                                   const MomentRules& rules, const PieceMoments* pieces) {
  return {
      panels.vertices.data(),
      panels.area.data(),
      panels.radius.data(),
      tree.source_order.data(),
      tree.scale,
      tree.tree.view(),
      tree.tree.root,
      tree.far.source_boxes.data(),
      static_cast<std::int64_t>(tree.far.source_boxes.size()),
      tree.sources(),
      1,
      rules.view(),
      pieces ? *pieces : PieceMoments{{}, {StripPoints(1), nullptr, nullptr, nullptr, nullptr}}};
}

constexpr bool has_dipoles(PanelKind kind) {
  return kind == PanelKind::dipoles || kind == PanelKind::charges_and_dipoles;
}

/// A coordinate of a point; of a dipole's with that of the dipole.
template <class T, PanelKind kind>
using Coordinate = std::conditional_t<has_dipoles(kind), Dual<T>, T>;

/// Densities of a panel: of charge, and of dipoles along its normal.
template <class T>
struct PanelDensities {
  T charge, dipole;
};

/// Panels of a warp in shared memory, a row for each of their numbers: a corner and the edges from
/// it in the unit box, and the charge, or the dipole and then the charge, on the area. Trapezoids
/// also have the relative height at the corner and how much larger it is on the other side, both
/// over the mean height.
template <class T, PanelKind kind>
struct WarpPanels {
  static constexpr int charge_row = has_dipoles(kind) ? 12 : 9;
  static constexpr int numbers = (kind == PanelKind::whole                 ? 10
                                  : kind == PanelKind::charges_and_dipoles ? 13
                                                                           : 12) *
                                 padded_row;
  T* room;

  __device__ void put(int lane, Vec3<T> corner, Vec3<T> edge1, Vec3<T> edge2, T charge) const {
    const T values[] = {corner.x, corner.y, corner.z, edge1.x, edge1.y,
                        edge1.z,  edge2.x,  edge2.y,  edge2.z};
#pragma unroll
    for (int k = 0; k < 9; ++k) room[k * padded_row + lane] = values[k];
    if constexpr (kind != PanelKind::dipoles) room[charge_row * padded_row + lane] = charge;
  }
  __device__ void put_dipole(int lane, Vec3<T> dipole) const {
    for (int axis = 0; axis < 3; ++axis) room[(9 + axis) * padded_row + lane] = dipole[axis];
  }
  __device__ Vec3<Coordinate<T, kind>> point(int lane, T xi, T eta) const {
    const T* const from = room + lane;
    const auto at = [&](int axis) -> Coordinate<T, kind> {
      const T x = from[axis * padded_row] + xi * from[(3 + axis) * padded_row] +
                  eta * from[(6 + axis) * padded_row];
      if constexpr (has_dipoles(kind))
        return {x, from[(9 + axis) * padded_row]};
      else
        return x;
    };
    return {at(0), at(1), at(2)};
  }
  __device__ Vec3<T> place(int lane, T xi, T eta) const {
    const T* const from = room + lane;
    const auto at = [&](int axis) {
      return from[axis * padded_row] + xi * from[(3 + axis) * padded_row] +
             eta * from[(6 + axis) * padded_row];
    };
    return {at(0), at(1), at(2)};
  }
  __device__ Vec3<T> dipole(int lane) const {
    return {room[9 * padded_row + lane], room[10 * padded_row + lane],
            room[11 * padded_row + lane]};
  }
  __device__ T charge(int lane) const { return room[charge_row * padded_row + lane]; }
  __device__ void put_heights(int lane, T first, T more) const {
    room[10 * padded_row + lane] = first;
    room[11 * padded_row + lane] = more;
  }
  __device__ T height(int lane, T xi) const {
    return room[10 * padded_row + lane] + xi * room[11 * padded_row + lane];
  }
};

/// A piece of a long panel as WarpPanels has it, and its rule.
struct PlacedPiece {
  Vec3d corner, along, across;
  double area, first, more;
  int begin, points;
};

__device__ inline PlacedPiece place_piece(const PanelSourcesView& a, std::int64_t piece,
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

/// The points of a lane's source: those of a rule from `begin` on.
struct LanePoints {
  int begin = 0, points = 0;
  bool is_piece = false;
};

/// Puts source `own`, in the tree's order, of densities() into the lane's place, if it is below
/// `end`.
template <class T, PanelKind kind, class Densities>
__device__ inline LanePoints put_source(const PanelSourcesView& a,
                                        const ToUnitBox<T, double>& unit_box, std::int32_t own,
                                        std::int32_t end, Densities&& densities,
                                        const WarpPanels<T, kind>& panels) {
  constexpr bool with_pieces = kind == PanelKind::with_pieces;
  const int lane = threadIdx.x % warp_size;
  const double scale = unit_box.scale * a.scale, side = 1 / scale;
  const auto in_t = [](Vec3d x) {
    return Vec3<T>{static_cast<T>(x.x), static_cast<T>(x.y), static_cast<T>(x.z)};
  };
  LanePoints own_points;
  auto& [begin, points, is_piece] = own_points;
  if constexpr (with_pieces) {
    const std::int64_t piece = own < end ? a.order[own] : 0;
    const std::int64_t panel = a.pieces.pieces.panel[piece];
    is_piece = own < end && a.pieces.pieces.is_cut(panel);
    panels.put_heights(lane, 1, 0);
    if (is_piece) {
      const PlacedPiece placed = place_piece(a, piece, panel, side);
      begin = placed.begin;
      points = placed.points;
      const Vec3d at = a.scale * placed.corner, along = scale * placed.along,
                  across = scale * placed.across;
      panels.put(lane, unit_box(at.x, at.y, at.z), in_t(along), in_t(across),
                 densities().charge * static_cast<T>(a.scale * a.scale * placed.area));
      panels.put_heights(lane, static_cast<T>(placed.first), static_cast<T>(placed.more));
    }
  }
  if (own < end && !is_piece) {
    const std::int64_t panel = with_pieces ? a.pieces.pieces.panel[a.order[own]] : a.order[own];
    const int rule = a.rules.at(side, a.radius[panel]);
    begin = a.rules.begin[rule];
    points = a.rules.begin[rule + 1] - begin;
    const Vec3d* const corner = a.vertices + 3 * panel;
    const Vec3d at = a.scale * corner[0];
    const Vec3d edge1 = scale * (corner[1] - corner[0]), edge2 = scale * (corner[2] - corner[0]);
    const PanelDensities<T> strength = densities();
    panels.put(lane, unit_box(at.x, at.y, at.z), in_t(edge1), in_t(edge2),
               strength.charge * static_cast<T>(a.scale * a.scale * a.area[panel]));
    // In the unit box, over the area in the tree's unit.
    if constexpr (has_dipoles(kind))
      panels.put_dipole(lane, strength.dipole * in_t(0.5 / unit_box.scale * cross(edge1, edge2)));
  }
  return own_points;
}

/// The factors f_n of dipoles with their derivatives along these: of f_n(κ|x|) by |x|² that is
/// κ² f_{n+1}/(4n + 6).
template <class T, int N, class Kernel>
class DipoleFactors {
 public:
  __device__ DipoleFactors(const Kernel& kernel, const Vec3<Dual<T>>* place, int p) {
    T r2[N], rise[N];
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const Dual<T> square = norm2(place[i]);
      r2[i] = square.value;
      rise[i] = static_cast<T>(0.5 * kernel.kappa * kernel.kappa) * square.slope;
    }
    kernel.template regular_factors<N>(r2, p, f_);
    for (int n = 0; n <= p; ++n)
#pragma unroll
      for (int i = 0; i < N; ++i) slope_[n * N + i] = rise[i] * f_[(n + 1) * N + i] / (2 * n + 3);
  }
  __device__ Dual<T> times(int point, int n, Dual<T> harmonic) const {
    return Dual<T>(f_[n * N + point], slope_[n * N + point]) * harmonic;
  }

 private:
  T f_[(fmm::highest_order + 2) * N], slope_[(fmm::highest_order + 1) * N];
};

/// Those of N points, which are dipoles where coordinates have slopes.
template <int N, class T, class V, class Kernel>
__device__ inline auto factors_at(const Kernel& kernel, const Vec3<V>* place, int p) {
  if constexpr (Kernel::homogeneous) {
    return DegreeFactors<T, N, Kernel>(kernel, nullptr, p);
  } else if constexpr (std::is_same_v<V, T>) {
    T r2[N];
#pragma unroll
    for (int i = 0; i < N; ++i) r2[i] = norm2(place[i]);
    return DegreeFactors<T, N, Kernel>(kernel, r2, p);
  } else {
    return DipoleFactors<T, N, Kernel>(kernel, place, p);
  }
}

/// Warps of a box: of the `warps` that a block has, as many as have two rounds of panels each.
inline int team_of(const PanelSourcesView& a, int warps) {
  int team = 1;
  while (2 * team <= warps && warps % (2 * team) == 0 &&
         a.sources > 4 * team * warp_size * a.n_boxes)
    team *= 2;
  return team;
}

/// Calls enqueue(std::integral_constant<PanelKind, …>(), kernel in the tree's unit). Pieces are
/// those of Laplace's kernel.
template <class Enqueue>
void with_kind(PanelKind kind, double kappa, Enqueue&& enqueue) {
  const auto whole = std::integral_constant<PanelKind, PanelKind::whole>();
  const auto dipoles = std::integral_constant<PanelKind, PanelKind::dipoles>();
  if (kind == PanelKind::with_pieces)
    return enqueue(std::integral_constant<PanelKind, PanelKind::with_pieces>(), fmm::Laplace());
  fmm::with_kernel(kappa, [&](const auto& kernel) {
    kind == PanelKind::whole ? enqueue(whole, kernel) : enqueue(dipoles, kernel);
  });
}

}  // namespace fmbem::cuda::bem
