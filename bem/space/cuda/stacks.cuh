#pragma once

#include "fmbem/bem/space/cuda/panel_sources.cuh"
#include "fmbem/bem/space/stack_frame.hpp"

namespace fmbem::cuda::bem {

/// A stack of pieces that are a box's own sources (bem/space/stack.hpp).
struct BoxStack {
  StackFrame frame;
  double middle, half;  ///< of the pieces across
  StackParts parts;
  int along, across;  ///< points of the rules for a line, and for a piece across
};

/// Where a piece is across its stack, from the middle on, and its heights at both ends, all over
/// half of the stack's extent; heights are negative where they go the other way.
struct PlaceInStack {
  double at, first, last;
};

struct StacksView {
  const std::int32_t* which;  ///< [stacks], of the boxes with sources of their own
  const BoxStack* stack;      ///< of those boxes
  const PlaceInStack* place;  ///< [sources], in the tree's order
};

/// The boxes whose own sources are stacks of pieces. Their charges are those of the stack's parts,
/// lines across at Chebyshev's points with Legendre's polynomials along, as many as serve whatever
/// the number of pieces.
class BoxStacks {
 public:
  /// `tolerance`: relative error of the sources' moments. Waits for the stream.
  BoxStacks(const PanelSourcesView& sources, double tolerance, cudaStream_t stream);

  std::int64_t count() const { return static_cast<std::int64_t>(which_.size()); }
  StacksView view() const { return {which_.data(), stack_.data(), place_.data()}; }
  /// Boxes with other sources of their own.
  const DeviceBuffer<std::int32_t>& others() const { return others_; }
  std::int64_t bytes() const {
    return which_.bytes() + stack_.bytes() + place_.bytes() + others_.bytes();
  }

 private:
  DeviceBuffer<std::int32_t> which_, others_;
  DeviceBuffer<BoxStack> stack_;
  DeviceBuffer<PlaceInStack> place_;
};

/// P2M of stacks, as panel_p2m() does it for other boxes: charges are gathered to products of
/// Chebyshev's and Legendre's polynomials, these give charges of points on lines, and these points
/// have the moments of the stack.
template <class T>
void stack_p2m(const PanelSourcesView& sources, const BoxStacks& stacks, const TableView<T>& table,
               const T* charges, const ExpansionsView<T>& expansions, cudaStream_t stream);

}  // namespace fmbem::cuda::bem
