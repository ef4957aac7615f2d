#include "fmbem/bem/cuda/panel_p2m.cuh"
#include "fmbem/cuda/p2m.cuh"

namespace fmbem::cuda {
namespace {

template <class T>
struct PanelP2mArguments {
  const Vec3d* vertices;
  const double *area, *radius;
  const std::int32_t* order;
  double unit;
  TreeView tree;
  Cube root;
  const std::int32_t* boxes;
  std::int64_t n_boxes, sources;
  MomentRulesView rules;
  TableView<T> table;
  const T* charges;
  ExpansionsView<T> expansions;
};

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
  T* const buffer = s_room + Steps<T>::numbers(a.table.p, a.table.pairs) +
                    warp * p2m_numbers<T>(a.table.pairs, 1);
  T* const sums = buffer + slots_at_once * padded_row;
  const int slots = 2 * a.table.pairs, v = blockIdx.y;
  for (int k = lane; k < slots; k += warp_size) sums[k] = 0;
  const std::int32_t box = a.boxes[b];
  const int2 range = a.tree.own_sources(box);
  const ToUnitBox<T, double> unit_box(a.root, a.tree.code[box]);

  const double side = 1 / (unit_box.scale * a.unit);
  __syncwarp();

  for (std::int32_t first_panel = range.x; first_panel < range.y; first_panel += warp_size) {
    const std::int32_t own = first_panel + lane;
    int begin = 0, points = 0;
    if (own < range.y) {
      const int rule = a.rules.at(side, a.radius[a.order[own]]);
      begin = a.rules.begin[rule];
      points = a.rules.begin[rule + 1] - begin;
    }
    int before = points;
    for (int step = 1; step < warp_size; step *= 2) {
      const int other = __shfl_up_sync(whole_warp, before, step);
      if (lane >= step) before += other;
    }
    const int all = __shfl_sync(whole_warp, before, warp_size - 1);
    before -= points;
    for_rounds(0, all, [&]<int Each>(std::integral_constant<int, Each>, std::int32_t first) {
      Vec3<T> place[Each];
      T weight[Each];
#pragma unroll
      for (int i = 0; i < Each; ++i) {
        const int point = first + i * warp_size + lane;
        int of = 0;  // the lane whose panel the point is of
        for (int step = warp_size / 2; step > 0; step /= 2)
          if (__shfl_sync(whole_warp, before, of + step) <= point) of += step;
        const int q = point - __shfl_sync(whole_warp, before - begin, of);
        place[i] = {};
        weight[i] = 0;
        if (point >= all) continue;
        const std::int32_t k = first_panel + of;
        const std::int64_t panel = a.order[k];
        const Vec3d* const corner = a.vertices + 3 * panel;
        const Vec3d y = a.unit * (corner[0] + a.rules.xi[q] * (corner[1] - corner[0]) +
                                  a.rules.eta[q] * (corner[2] - corner[0]));
        place[i] = unit_box(y.x, y.y, y.z);
        weight[i] = a.charges[v * a.sources + k] *
                    static_cast<T>(a.rules.weight[q] * (a.unit * a.unit * a.area[panel]));
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
  const WarpBlocks<T> blocks(table, p2m_numbers<T>(table.pairs, 1));
  const auto boxes = static_cast<std::int64_t>(tree.far.source_boxes.size());
  launch(panel_p2m_kernel<T>, dim3(blocks_for(boxes, blocks.warps), expansions.vectors),
         blocks.warps * warp_size, blocks.shared_bytes, stream,
         PanelP2mArguments<T>{panels.vertices.data(), panels.area.data(), panels.radius.data(),
                              tree.source_order.data(), tree.unit, tree.tree.view(), tree.tree.root,
                              tree.far.source_boxes.data(), boxes, tree.sources(), rules.view(),
                              table, charges, expansions});
}

template void panel_p2m(const PanelStore&, const SpreadTree&, const MomentRules&,
                        const TableView<double>&, const double*, const ExpansionsView<double>&,
                        cudaStream_t);
template void panel_p2m(const PanelStore&, const SpreadTree&, const MomentRules&,
                        const TableView<float>&, const float*, const ExpansionsView<float>&,
                        cudaStream_t);

}  // namespace fmbem::cuda
