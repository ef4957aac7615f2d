#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "fmbem/bem/near/near_rows.hpp"
#include "fmbem/bem/space/panel_pieces.hpp"

namespace fmbem {

/// The panels near to each row of the near lists, and which part of each: the columns of the near
/// field. Where no panel is cut, they are the sources in the order of the lists; else each panel
/// with near pieces once, ascending.
class NearPanels {
 public:
  NearPanels(std::shared_ptr<const fmm::PointTree> tree, std::shared_ptr<const PanelPieces> pieces);

  const fmm::PointTree& tree() const { return *tree_; }
  std::size_t rows() const { return tree_->lists.p2p.targets.size(); }
  std::size_t panels() const { return pieces_ ? pieces_->panels() : tree_->sources.size(); }
  bool has_pieces() const { return pieces_ != nullptr; }
  /// The number of panels in a row.
  std::int64_t count(std::size_t row) const;
  std::int64_t entries() const;

  /// Calls body(panel) for the panels of a row.
  template <class Body>
  void for_row(std::size_t row, Body&& body) const {
    if (!pieces_) return for_near_sources(*tree_, near_row(*tree_, row), body);
    for (std::int64_t k = begin_[row]; k < begin_[row + 1]; ++k) body(panels_[k]);
  }

  /// The part of a panel that is near, in whole pieces: [first, end).
  struct Stretch {
    std::int32_t panel, first, end;
  };
  /// The stretches of a row, ascending. Only where panels are cut.
  void stretches(std::size_t row, std::vector<Stretch>& found) const;
  const PanelPieces& pieces() const { return *pieces_; }

 private:
  std::shared_ptr<const fmm::PointTree> tree_;
  std::shared_ptr<const PanelPieces> pieces_;  ///< or null
  std::vector<std::int64_t> begin_;            ///< [rows + 1] with pieces
  std::vector<std::int32_t> panels_;
};

}  // namespace fmbem
