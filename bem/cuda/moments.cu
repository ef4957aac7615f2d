#include <algorithm>

#include "fmbem/bem/cuda/moments.cuh"
#include "fmbem/bem/triangle.hpp"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/harmonics.cuh"
#include "fmbem/cuda/launch.cuh"

namespace fmbem::cuda {
namespace {

/// Lanes that share a panel, one for each point of a rule, in turn.
constexpr int panel_lanes = 8, panels_of_a_warp = warp_size / panel_lanes;

template <class T>
struct MomentArguments {
  const Vec3d* vertices;
  const std::int32_t* order;
  double unit;
  TreeView tree;
  Cube root;
  const std::int32_t* boxes;
  std::int64_t n_boxes;
  MomentRulesView rules;
  TableView<T> table;
  T* rows;
};

/// A warp a box.
template <class T>
__global__ void __launch_bounds__(threads_per_block)
    moments_kernel(const __grid_constant__ MomentArguments<T> a) {
  T* const s_room = dynamic_shared<T>();
  const Steps<T> steps(a.table, s_room);
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const std::int64_t b = static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / warp_size) + warp;
  if (b >= a.n_boxes) return;
  const int slots = 2 * a.table.pairs;
  T* const sums =
      s_room + Steps<T>::numbers(a.table.p, a.table.pairs) + warp * panels_of_a_warp * slots;
  T* const own_sums = sums + lane / panel_lanes * slots;
  const std::int32_t box = a.boxes[b];
  const int2 range = a.tree.own_sources(box);
  const ToUnitBox<T, double> unit_box(a.root, a.tree.code[box]);
  const double side = 1 / (unit_box.scale * a.unit);

  for (std::int32_t first = range.x; first < range.y; first += panels_of_a_warp) {
    const std::int32_t k = first + lane / panel_lanes;
    Triangle t{};
    int begin = 0, points = 0;
    if (k < range.y) {
      const Vec3d* const v = a.vertices + 3 * static_cast<std::int64_t>(a.order[k]);
      t = make_triangle(v[0], v[1], v[2]);
      int rule = 0;
      while (rule + 1 < a.rules.count && side < a.rules.reach[rule] * t.radius) ++rule;
      begin = a.rules.begin[rule];
      points = a.rules.begin[rule + 1] - begin;
    }
    int most = points;
    for (int step = panel_lanes; step < warp_size; step *= 2)
      most = max(most, __shfl_xor_sync(whole_warp, most, step));
    for (int done = 0; done < most; done += panel_lanes) {
      const int q = done + lane % panel_lanes;
      Harmonics<T> point({}, T(0));
      if (q < points) {
        const Vec3d y =
            a.unit * (t.vertex[0] + a.rules.xi[begin + q] * (t.vertex[1] - t.vertex[0]) +
                      a.rules.eta[begin + q] * (t.vertex[2] - t.vertex[0]));
        point = Harmonics<T>(unit_box(y.x, y.y, y.z), static_cast<T>(a.rules.weight[begin + q] *
                                                                     (a.unit * a.unit * t.area)));
      }
      int slot = 0;
      for (int m = 0, step = 0; m <= a.table.p; ++m) {
        if (m > 0) point.next_order(steps.diagonal[m]);
        point.first_degree();
        for (int n = m; n <= a.table.p; ++n, ++step, slot += 2) {
          T even = point.here * point.c, odd = point.here * point.s;
          point.next_degree(steps.up[step], steps.down[step]);
          for (int other = 1; other < panel_lanes; other *= 2) {
            even += __shfl_xor_sync(whole_warp, even, other);
            odd += __shfl_xor_sync(whole_warp, odd, other);
          }
          if (lane % panel_lanes > 0) continue;
          own_sums[slot] = done > 0 ? own_sums[slot] + even : even;
          own_sums[slot + 1] = done > 0 ? own_sums[slot + 1] + odd : odd;
        }
      }
    }
    __syncwarp();
    const int present = min(range.y - first, panels_of_a_warp);
    for (int i = 0; i < present; ++i) {
      T* const row = a.rows + (first + static_cast<std::int64_t>(i)) * a.table.count;
      for (int slot = lane; slot < slots; slot += warp_size)
        if (a.table.position[slot] >= 0) row[a.table.position[slot]] = sums[i * slots + slot];
    }
    __syncwarp();
  }
}

}  // namespace

template <class T>
void integrate_moments(const PanelStore& panels, const SpreadTree& tree, const MomentRules& rules,
                       const TableView<T>& table, T* rows, cudaStream_t stream) {
  const std::size_t steps = sizeof(T) * Steps<T>::numbers(table.p, table.pairs),
                    each = sizeof(T) * panels_of_a_warp * 2 * table.pairs;
  const int warps = static_cast<int>(
      std::clamp<std::size_t>((shared_memory_of_a_block() - steps) / each, 1, warps_per_block));
  const auto boxes = static_cast<std::int64_t>(tree.far.source_boxes.size());
  launch(moments_kernel<T>, blocks_for(boxes, warps), warps * warp_size, steps + warps * each,
         stream,
         MomentArguments<T>{panels.vertices.data(), tree.source_order.data(), tree.unit,
                            tree.tree.view(), tree.tree.root, tree.far.source_boxes.data(), boxes,
                            rules.view(), table, rows});
}

template void integrate_moments(const PanelStore&, const SpreadTree&, const MomentRules&,
                                const TableView<double>&, double*, cudaStream_t);
template void integrate_moments(const PanelStore&, const SpreadTree&, const MomentRules&,
                                const TableView<float>&, float*, cudaStream_t);

}  // namespace fmbem::cuda
