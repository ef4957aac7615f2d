#pragma once

#include "fmbem/bem/geometry/cuda/panel_store.cuh"
#include "fmbem/bem/near/cuda/rules.cuh"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"

namespace fmbem::cuda::bem {

/// What kernels of the near field see: a block works on a row, that is on a leaf with targets.
struct NearRowsView {
  PanelKernel kernel;  ///< in the unit of lengths here
  const Vec3d *vertices, *centroid;
  const double *area, *radius;
  const std::int32_t* source_order;
  PointsView<double> targets;
  const std::int32_t* own_source;  ///< as SpreadTree::own_source, or null
  double
      scale;  ///< lengths here are the panels' times it: so no square leaves the range of numbers
  TreeView tree;
  const std::int32_t* leaves;
  NearListsView lists;
  const std::int64_t* pairs_before;  ///< [rows + 1], of the rows before
  std::int64_t panels;               ///< sources

  /// The same with rows counted from that one on.
  NearRowsView from(std::int64_t row) const {
    NearRowsView later = *this;
    later.leaves += row;
    later.lists.begin += row;
    later.pairs_before += row;
    return later;
  }
  __device__ int2 targets_of(std::int64_t row) const { return tree.targets[leaves[row]]; }
  __device__ Vec3d target(std::int64_t i) const {
    return {targets.x[i], targets.y[i], targets.z[i]};
  }
  /// The panel whose centroid the i-th target is, −1 for none.
  __device__ std::int32_t own_panel(std::int64_t i) const {
    const std::int32_t target = targets.order[i];
    return own_source ? own_source[target] : target;
  }
};

/// `kernel` is in the panels' unit.
inline NearRowsView rows_of(const PanelStore& panels, const SpreadTree& tree,
                            const PanelKernel& kernel) {
  return {{kernel.source, kernel.kappa / tree.scale},
          panels.vertices.data(),
          panels.centroid.data(),
          panels.area.data(),
          panels.radius.data(),
          tree.source_order.data(),
          tree.targets(),
          tree.own_source.data(),
          tree.scale,
          tree.tree.view(),
          tree.far.target_leaves.data(),
          tree.near.view(),
          tree.near.pairs_before.data(),
          panels.size()};
}

/// Calls body(std::integral_constant<Trace, …>()).
template <class Body>
decltype(auto) with_trace(Trace source, Body&& body) {
  return source == Trace::value ? body(std::integral_constant<Trace, Trace::value>())
                                : body(std::integral_constant<Trace, Trace::normal>());
}

/// A point in two parts: differences to others are rounded to N's digits, and no worse where they
/// are close.
template <class N>
struct PrecisePoint;
template <>
struct PrecisePoint<double> {
  Vec3d at;
  __device__ static PrecisePoint of(Vec3d x) { return {x}; }
  __device__ friend Vec3d operator-(const PrecisePoint& a, const PrecisePoint& b) {
    return a.at - b.at;
  }
};
template <>
struct alignas(8) PrecisePoint<float> {
  Vec3<float> high, low;
  __device__ static PrecisePoint of(Vec3d x) {
    const auto in_float = [](Vec3d y) {
      return Vec3<float>{static_cast<float>(y.x), static_cast<float>(y.y), static_cast<float>(y.z)};
    };
    const Vec3<float> high = in_float(x);
    return {high, in_float({x.x - high.x, x.y - high.y, x.z - high.z})};
  }
  __device__ friend Vec3<float> operator-(const PrecisePoint& a, const PrecisePoint& b) {
    return (a.high - b.high) + (a.low - b.low);
  }
};

/// A panel with its place, laid out so that few wide loads bring all that is needed.
template <class N, Trace source>
struct alignas(16) NearPanel : RulePanel<N, source> {
  PrecisePoint<N> centroid;
};

template <class N, Trace source>
__device__ inline RuleWeight<N, source> rule_weight(const NearRowsView& a, std::int64_t panel) {
  if constexpr (source == Trace::value) {
    return static_cast<N>(inv_4pi * (a.scale * a.scale * a.area[panel]));
  } else {
    const Vec3d* const v = a.vertices + 3 * panel;
    const Vec3d twice = cross(a.scale * (v[1] - v[0]), a.scale * (v[2] - v[0]));
    const double half = 0.5 * inv_4pi;
    return {static_cast<N>(half * twice.x), static_cast<N>(half * twice.y),
            static_cast<N>(half * twice.z)};
  }
}

template <class N, Trace source, class Rules>
__device__ inline NearPanel<N, source> near_panel(const NearRowsView& a, const Rules& rules,
                                                  std::int64_t panel) {
  const Vec3d* const v = a.vertices + 3 * panel;
  const Vec3d unit_centroid = a.scale * a.centroid[panel];
  const auto corner = [&](int k) {
    const Vec3d d = a.scale * v[k] - unit_centroid;
    return Vec3<N>{static_cast<N>(d.x), static_cast<N>(d.y), static_cast<N>(d.z)};
  };
  const double unit_radius = a.scale * a.radius[panel];
  return {RulePanel<N, source>(rules, corner(1), corner(2), rule_weight<N, source>(a, panel),
                               unit_radius * unit_radius),
          PrecisePoint<N>::of(unit_centroid)};
}

template <class N, Trace source, class Rules>
__global__ void __launch_bounds__(threads_per_block)
    pack_panels(const __grid_constant__ NearRowsView a, const __grid_constant__ Rules rules,
                NearPanel<N, source>* packed) {
  const std::int64_t k = thread_index();
  if (k < a.panels) packed[k] = near_panel<N, source>(a, rules, a.source_order[k]);
}

/// All panels in the order of the tree, so that what a block needs lies together, and is made once
/// for all blocks. For one product, or one pass over the rows.
template <class N, Trace source>
class PackedPanels {
 public:
  template <class Rules>
  PackedPanels(const NearRowsView& view, const Rules& rules, cudaStream_t stream)
      : panels_(view.panels, stream) {
    launch(pack_panels<N, source, Rules>, blocks_for(view.panels), threads_per_block, 0, stream,
           view, rules, panels_.data());
  }
  const NearPanel<N, source>* data() const { return panels_.data(); }

 private:
  DeviceBuffer<NearPanel<N, source>> panels_;
};

/// A place where nothing is: this far from the root, whose side is at most 2.
inline constexpr double far_away = 16;

/// Panels that a block takes to shared memory at a time.
template <class N, Trace source, int Room>
struct SharedPanels {
  using Packed = NearPanel<N, source>;
  Packed panel[Room];
  std::int32_t number[Room];

  /// The panel at a place in the order of the tree.
  __device__ void load(const NearRowsView& a, const Packed* packed, int at, int to) {
    static_assert(sizeof(Packed) % sizeof(float4) == 0 && alignof(Packed) == alignof(float4));
    constexpr int parts = sizeof(Packed) / sizeof(float4);
    const auto* const from = reinterpret_cast<const float4*>(packed + at);
    auto* const into = reinterpret_cast<float4*>(panel + to);
#pragma unroll
    for (int k = 0; k < parts; ++k) into[k] = __ldg(from + k);
    number[to] = a.source_order[at];
  }
  /// A panel whose integrals are zero by every rule.
  __device__ void load_nothing(int to) {
    panel[to] = {{}, PrecisePoint<N>::of({far_away, far_away, far_away})};
  }
};

/// Goes through the numbers of `count` ranges, range(e) being the e-th, `room` at a time, by the
/// whole block: calls load(number, place, e) for places from 0 on, then body(how many). Each thread
/// finds its number by itself, so that none waits for another's to come from memory.
template <class Range, class Load, class Body>
__device__ inline void for_ranges(int count, Range&& range, int room, Load&& load, Body&& body) {
  const int lane = threadIdx.x % warp_size, first_of_warp = threadIdx.x - lane;
  int filled = 0;
  const auto empty = [&] {
    __syncthreads();
    body(filled);
    __syncthreads();
    filled = 0;
  };
  for (int e = lane; e - lane < count; e += warp_size) {
    const int2 own = e < count ? range(e) : int2{};
    const WarpCounts numbers(size_of(own));
    const int shift = own.x - numbers.before();
    for (int done = 0, some = 0; done < numbers.all(); done += some) {
      some = min(numbers.all() - done, room - filled);
      for (int k = first_of_warp; k < some; k += blockDim.x) {
        const int place = done + k + lane, of = numbers.lane_of(place);
        const int at = place + __shfl_sync(whole_warp, shift, of);
        if (k + lane < some) load(at, filled + k + lane, e - lane + of);
      }
      filled += some;
      if (filled == room) empty();
    }
  }
  if (filled > 0) empty();
}

/// Calls body(panels in shared memory, count) for the panels of a row, up to `room` at a time, by
/// the whole block. `packed`: PackedPanels.
template <class Shared, class Body>
__device__ inline void for_panels(const NearRowsView& a, std::int64_t row,
                                  const typename Shared::Packed* packed, int room, Shared& shared,
                                  Body&& body) {
  const NearEntry* const list = a.lists.entries + a.lists.begin[row];
  for_ranges(
      static_cast<int>(a.lists.begin[row + 1] - a.lists.begin[row]),
      [&](int e) {
        const NearEntry entry = list[e];
        return int2{entry.begin, entry.begin + entry.count};
      },
      room, [&](int at, int place, int) { shared.load(a, packed, at, place); },
      [&](int filled) { body(shared, filled); });
}

/// Calls body(target, k, panel) for the pairs of a row that are too close for a rule, the k-th of
/// the target, in the order of the lists; one thread for each target.
template <class N, class Kernel, class Body>
__device__ inline void for_close_pairs(const NearRowsView& a, std::int64_t row,
                                       const NearPanel<N, Trace::value>* packed,
                                       const NearRules<N, Kernel>& rules, Body&& body) {
  const int2 targets = a.targets_of(row);
  for (std::int32_t first = targets.x; first < targets.y; first += blockDim.x) {
    const std::int32_t i = first + static_cast<std::int32_t>(threadIdx.x);
    const bool works = i < targets.y;
    const auto x = PrecisePoint<N>::of(a.target(works ? i : targets.x));
    int found = 0;
    constexpr int room = 128;
    auto& shared = static_shared<SharedPanels<N, Trace::value, room>>();
    for_panels(a, row, packed, room, shared, [&](const auto& panels, int some) {
      for (int j = 0; works && j < some; ++j)
        if (panels.panel[j].rule_at(rules.distance2(panels.panel[j].centroid - x)) < 0)
          body(i, found++, panels.number[j]);
    });
  }
}

/// The near sources of each row, in the order of the near lists.
struct RowSources {
  RowSources() = default;
  /// Waits for the stream.
  RowSources(const NearRowsView& view, std::int64_t rows, cudaStream_t stream);
  DeviceBuffer<std::int64_t> begin;   ///< [rows + 1]
  DeviceBuffer<std::int32_t> source;  ///< of each row
  std::int64_t bytes() const { return begin.bytes() + source.bytes(); }
};

/// The panels of the columns of each row, in device memory.
struct RowPanels {
  const std::int64_t* begin;  ///< [rows + 1]
  const std::int32_t* panel;
};
/// y = the products of stored entries, row after row, [panels of the row][targets], those of each
/// row from view.pairs_before on.
template <class Entry>
void multiply_stored_rows(const NearRowsView& view, std::int64_t rows, const Entry* entries,
                          const RowPanels& panels, const double* x, int vectors,
                          const double* factor, double* y, cudaStream_t stream);

/// Pairs that are too close for a rule, target after target in the order of the near lists.
struct ClosePairs {
  DeviceBuffer<std::int64_t> begin;  ///< [targets + 1]
  DeviceBuffer<std::int32_t> panel;
  std::int64_t bytes() const { return begin.bytes() + panel.bytes(); }
};
template <class N, class Kernel>
ClosePairs find_close_pairs(const NearRowsView& view, std::int64_t rows,
                            const PackedPanels<N, Trace::value>& packed,
                            const NearRules<N, Kernel>& rules, cudaStream_t stream);

/// Their integrals, to the tolerance.
template <class Entry>
DeviceBuffer<Entry> integrate_close_pairs(const NearRowsView& view, const ClosePairs& pairs,
                                          double tolerance, cudaStream_t stream);

/// The same pairs panel after panel: begin is [panels + 1] then, and `panel` that of each target.
/// Fills values in their order.
template <class Entry>
ClosePairs transposed_pairs(const NearRowsView& view, const ClosePairs& pairs, const Entry* values,
                            DeviceBuffer<Entry>& by_panel, cudaStream_t stream);

/// Stands for an integral, which is never below −1/2: the pair is too close for a rule.
template <class Entry>
inline constexpr Entry close_mark = -1;

/// Puts integrals, to the tolerance, in the place of marks. `panels` are the near sources of each
/// row, from panels_begin[row] on; `entries` are row after row, [near sources][targets].
template <class Entry>
void integrate_marked(const NearRowsView& view, std::int64_t rows, const std::int64_t* panels_begin,
                      const std::int32_t* panels, double tolerance, Entry* entries,
                      cudaStream_t stream);

}  // namespace fmbem::cuda::bem
