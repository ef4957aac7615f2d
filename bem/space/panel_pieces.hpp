#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "fmbem/bem/space/cut_boxes.hpp"
#include "fmbem/fmm/base/buffer.hpp"

namespace fmbem {

/// Panels as sources of the far field. A long one is several sources: it is cut along its longest
/// edge where that passes from one box of some level to the next, so that its pieces sink to that
/// level. The pieces of a panel follow each other; each is a trapezoid.
class PanelPieces {
 public:
  PanelPieces(std::span<const Triangle> panels, const CutBoxes& boxes);

  double inflation() const { return inflation_; }
  std::size_t size() const { return panel_.size(); }
  std::size_t panels() const { return begin_.size() - 1; }
  std::int32_t panel(std::size_t piece) const { return panel_[piece]; }
  bool is_cut(std::size_t panel) const { return begin_[panel + 1] - begin_[panel] > 1; }
  /// Where piece k of its panel, which is cut, begins along the longest edge, and ends.
  double begin_of(std::size_t piece) const { return place_[piece + panel_[piece]]; }
  double end_of(std::size_t piece) const { return place_[piece + panel_[piece] + 1]; }

 private:
  double inflation_;
  LargeVector<std::int32_t> begin_;  ///< [panels + 1], pieces of each panel
  LargeVector<std::int32_t> panel_;  ///< [pieces]
  LargeVector<double> place_;        ///< [pieces + panels]: where pieces begin, and the last ends
};

/// Cuts long panels at the planes of those boxes that cost least, by the distances of some panels
/// to some others. Null where cutting saves too little, as on any mesh without long panels.
std::shared_ptr<const PanelPieces> cut_long_panels(std::span<const Triangle> panels,
                                                   const PieceCosts& costs);

}  // namespace fmbem
