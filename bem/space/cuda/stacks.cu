#include "fmbem/bem/space/cuda/stacks.cuh"
#include "fmbem/cuda/launch.cuh"

namespace fmbem::cuda::bem {
namespace {

/// Fewer pieces are no stack.
constexpr int least_pieces = 32;

struct FoundStacks {
  std::int32_t *is_stack, *is_other;  ///< [boxes with sources of their own]
  BoxStack* stack;
  PlaceInStack* place;  ///< [sources]
};

__device__ inline StripPiece strip_piece(const PanelSourcesView& a, std::int64_t piece,
                                         std::int64_t panel) {
  const Vec3d* const v = a.vertices + 3 * panel;
  const PiecesView& pieces = a.pieces.pieces;
  return {pieces.strip_of(panel, make_triangle(v[0], v[1], v[2])), pieces.begin_of(piece),
          pieces.end_of(piece)};
}

/// The extent of all pieces, in all threads.
__device__ inline StackExtent whole_extent(const StackExtent& own) {
  auto& extents = static_shared<StackExtent[threads_per_block]>();
  extents[threadIdx.x] = own;
  for (int half = threads_per_block / 2; half > 0; half /= 2) {
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < half) extents[threadIdx.x].add(extents[threadIdx.x + half]);
  }
  __syncthreads();
  return extents[0];
}

/// A block for each box.
__global__ void __launch_bounds__(threads_per_block)
    find_stacks(const __grid_constant__ PanelSourcesView a, double tolerance, FoundStacks found) {
  const std::int64_t b = blockIdx.x;
  const std::int32_t box = a.boxes[b];
  const int2 range = a.tree.own_sources(box);
  const int pieces = range.y - range.x, thread = static_cast<int>(threadIdx.x);
  const double side = ldexp(a.root.side, -level_of(a.tree.code[box])) / a.scale;
  const auto piece_of = [&](int k) -> std::int64_t { return a.order[range.x + k]; };
  const auto panel_of = [&](int k) -> std::int64_t { return a.pieces.pieces.panel[piece_of(k)]; };
  StackParts parts{0, 0};
  if (pieces >= least_pieces && a.pieces.pieces.is_cut(panel_of(0))) {
    const StackFrame frame(strip_piece(a, piece_of(0), panel_of(0)));
    // The first piece, which all know, stands for none.
    StackedPiece placed{};
    bool is_stack = frame.place(strip_piece(a, piece_of(0), panel_of(0)), side,
                                same_in_stacks * tolerance, placed);
    StackExtent extent(placed);
    extent.heights = 0;
    for (int k = thread; k < pieces && is_stack; k += threads_per_block) {
      const std::int64_t panel = panel_of(k);
      is_stack =
          a.pieces.pieces.is_cut(panel) &&
          frame.place(strip_piece(a, piece_of(k), panel), side, same_in_stacks * tolerance, placed);
      if (!is_stack) break;
      extent.add(StackExtent(placed));
      found.place[range.x + k] = {placed.at, placed.to * placed.first, placed.to * placed.last};
    }
    if (__syncthreads_and(is_stack)) {
      extent = whole_extent(extent);
      parts = stack_parts(extent, pieces, side, tolerance);
      if (parts.lines > 0) {
        const StripPoints& points = a.pieces.rules.points;
        const double middle = 0.5 * (extent.low + extent.high),
                     half = 0.5 * (extent.high - extent.low);
        if (thread == 0)
          found.stack[b] = {
              frame,
              middle,
              half,
              parts,
              min(points.along(side, frame.length) + parts.densities, StripPoints::most_along),
              points.across(side, extent.tallest)};
        for (int k = thread; k < pieces; k += threads_per_block) {
          PlaceInStack& place = found.place[range.x + k];
          place = {(place.at - middle) / half, place.first / half, place.last / half};
        }
      }
    }
  }
  if (thread > 0) return;
  found.is_stack[b] = parts.lines > 0;
  found.is_other[b] = parts.lines == 0;
}

__global__ void take_boxes(const std::int32_t* boxes, std::int64_t n, std::int32_t* which) {
  const std::int64_t k = thread_index();
  if (k < n) which[k] = boxes[which[k]];
}

}  // namespace

BoxStacks::BoxStacks(const PanelSourcesView& sources, double tolerance, cudaStream_t stream)
    : stack_(sources.n_boxes, stream), place_(sources.sources, stream) {
  DeviceBuffer<std::int32_t> is_stack(sources.n_boxes, stream), is_other(sources.n_boxes, stream);
  launch(find_stacks, static_cast<unsigned>(sources.n_boxes), threads_per_block, 0, stream, sources,
         tolerance, FoundStacks{is_stack.data(), is_other.data(), stack_.data(), place_.data()});
  which_ = where(is_stack, stream);
  others_ = where(is_other, stream);
  const auto n = static_cast<std::int64_t>(others_.size());
  launch(take_boxes, blocks_for(n), threads_per_block, 0, stream, sources.boxes, n, others_.data());
  if (count() > 0) return;
  stack_ = {};
  place_ = {};
}

}  // namespace fmbem::cuda::bem
