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
  MomentRulesView rules;
  TableView<T> table;
  const T* charges;
  ExpansionsView<T> expansions;
};

/// Panels of a warp in shared memory, a row for each of their numbers: a corner and the edges from
/// there in the unit box, and the charge on the area.
template <class T>
struct WarpPanels {
  static constexpr int numbers = 10 * padded_row;
  T* room;

  __device__ void put(int lane, Vec3<T> corner, Vec3<T> edge1, Vec3<T> edge2, T charge) const {
    const T values[] = {corner.x, corner.y, corner.z, edge1.x, edge1.y,
                        edge1.z,  edge2.x,  edge2.y,  edge2.z, charge};
#pragma unroll
    for (int k = 0; k < 10; ++k) room[k * padded_row + lane] = values[k];
  }
  __device__ Vec3<T> point(int lane, T xi, T eta) const {
    const T* const from = room + lane;
    const auto at = [&](int axis) {
      return from[axis * padded_row] + xi * from[(3 + axis) * padded_row] +
             eta * from[(6 + axis) * padded_row];
    };
    return {at(0), at(1), at(2)};
  }
  __device__ T charge(int lane) const { return room[9 * padded_row + lane]; }
};

template <class T>
__host__ __device__ constexpr int warp_numbers(int pairs) {
  return p2m_numbers<T>(pairs, 1) + WarpPanels<T>::numbers;
}

/// A warp for each box (x) and right-hand side (y). The points of 32 panels at a time, each by its
/// rule, go through the warp one behind the other.
template <class T>
__global__ void __launch_bounds__(threads_per_block)
    panel_p2m_kernel(const __grid_constant__ PanelP2mArguments<T> a) {
  T* const s_room = dynamic_shared<T>();
  const Steps<T> steps(a.table, s_room);
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const std::int64_t b = static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / warp_size) + warp;
  if (b >= a.n_boxes) return;
  const int slots = 2 * a.table.pairs, v = blockIdx.y;
  T* const buffer =
      s_room + Steps<T>::numbers(a.table.p, a.table.pairs) + warp * warp_numbers<T>(a.table.pairs);
  T* const sums = buffer + slots_at_once * padded_row;
  const WarpPanels<T> panels{sums + slots};
  for (int k = lane; k < slots; k += warp_size) sums[k] = 0;
  const std::int32_t box = a.boxes[b];
  const int2 range = a.tree.own_sources(box);
  const ToUnitBox<T, double> unit_box(a.root, a.tree.code[box]);
  const double scale = unit_box.scale * a.scale, side = 1 / scale;
  for (std::int32_t first_panel = range.x; first_panel < range.y; first_panel += warp_size) {
    const std::int32_t own = first_panel + lane;
    int begin = 0, points = 0;
    __syncwarp();  // the panels before are done
    if (own < range.y) {
      const std::int64_t panel = a.order[own];
      const int rule = a.rules.at(side, a.radius[panel]);
      begin = a.rules.begin[rule];
      points = a.rules.begin[rule + 1] - begin;
      const Vec3d* const corner = a.vertices + 3 * panel;
      const Vec3d at = a.scale * corner[0];
      const auto edge = [&](int k) {
        const Vec3d d = scale * (corner[k] - corner[0]);
        return Vec3<T>{static_cast<T>(d.x), static_cast<T>(d.y), static_cast<T>(d.z)};
      };
      panels.put(
          lane, unit_box(at.x, at.y, at.z), edge(1), edge(2),
          a.charges[v * a.sources + own] * static_cast<T>(a.scale * a.scale * a.area[panel]));
    }
    __syncwarp();
    const WarpCounts counts(points);
    const int all = counts.all();
    for_rounds(0, all, [&]<int Each>(std::integral_constant<int, Each>, std::int32_t first) {
      Vec3<T> place[Each];
      T weight[Each];
#pragma unroll
      for (int i = 0; i < Each; ++i) {
        const int point = first + i * warp_size + lane;
        const int of = counts.lane_of(point);  // whose panel the point is of
        const int q = point + __shfl_sync(whole_warp, begin - counts.before(), of);
        place[i] = {};
        weight[i] = 0;
        if (point >= all) continue;
        place[i] = panels.point(of, static_cast<T>(a.rules.xi[q]), static_cast<T>(a.rules.eta[q]));
        weight[i] = panels.charge(of) * static_cast<T>(a.rules.weight[q]);
      }
      add_moments<Each>(a.table, steps, place, weight, buffer, sums);
    });
  }
  __syncwarp();

  T* const moment = a.expansions.moment(box, v);
  for (int slot = lane; slot < slots; slot += warp_size)
    if (a.table.position[slot] >= 0) moment[a.table.position[slot]] = sums[slot];
}

}  // namespace

template <class T>
void panel_p2m(const PanelStore& panels, const SpreadTree& tree, const MomentRules& rules,
               const TableView<T>& table, const T* charges, const ExpansionsView<T>& expansions,
               cudaStream_t stream) {
  const WarpBlocks<T> blocks(table, warp_numbers<T>(table.pairs));
  const auto boxes = static_cast<std::int64_t>(tree.far.source_boxes.size());
  launch(panel_p2m_kernel<T>, dim3(blocks_for(boxes, blocks.warps), expansions.vectors),
         blocks.warps * warp_size, blocks.shared_bytes, stream,
         PanelP2mArguments<T>{panels.vertices.data(), panels.area.data(), panels.radius.data(),
                              tree.source_order.data(), tree.scale, tree.tree.view(),
                              tree.tree.root, tree.far.source_boxes.data(), boxes, tree.sources(),
                              rules.view(), table, charges, expansions});
}

template void panel_p2m(const PanelStore&, const SpreadTree&, const MomentRules&,
                        const TableView<double>&, const double*, const ExpansionsView<double>&,
                        cudaStream_t);
template void panel_p2m(const PanelStore&, const SpreadTree&, const MomentRules&,
                        const TableView<float>&, const float*, const ExpansionsView<float>&,
                        cudaStream_t);

}  // namespace fmbem::cuda::bem
