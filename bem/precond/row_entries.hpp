#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "fmbem/bem/layer/mixed_rows.hpp"
#include "fmbem/bem/precond/close_entries.hpp"
#include "fmbem/bem/precond/mean_rows.hpp"
#include "fmbem/bem/precond/small_system.hpp"

namespace fmbem {

/// Real rows α V + β K' + γ of panels, and what entries of small systems are made of. The tree and
/// the panels must outlive it.
struct RowsOfNodes {
  /// Close entries are those of nodes within `reach`.
  RowsOfNodes(const ClusterTree& tree, std::span<const Triangle> panels, MixedRows of_panels,
              double reach)
      : rows(std::move(of_panels)),
        means(mean_rows(tree, panels, rows)),
        close(tree, panels, rows, means, reach) {}

  MixedRows rows;  ///< α, β and γ alone
  std::vector<MeanRow> means;
  CloseEntries close;
};

/// Fills matrices of small systems. Unknowns are densities of nodes, and equations their mean rows,
/// which no law has changed yet. Holds a thread's buffers.
class RowEntries {
 public:
  RowEntries(std::span<const Triangle> panels, const ClusterTree& tree, const RowsOfNodes& of)
      : panels_(panels), tree_(tree), means_(of.means), close_(of.close) {}

  /// `placed`: the cut.
  void fill(std::span<const std::int32_t> cut, const PlacedCut& placed, SmallMatrix& matrix);

 private:
  void place_rows(std::span<const std::int32_t> cut, const PlacedCut& placed);
  void set_all(std::span<const std::int32_t> cut, const PlacedCut& placed, SmallMatrix& matrix);
  /// For nodes close to each other, unless both are panels.
  void set_close_entries(std::span<const std::int32_t> cut, const PlacedCut& placed,
                         SmallMatrix& matrix);
  void set_exact_entries(const PlacedCut& placed, SmallMatrix& matrix) const;

  std::span<const Triangle> panels_;
  const ClusterTree& tree_;
  std::span<const MeanRow> means_;
  const CloseEntries& close_;
  std::vector<float> smear2_, alpha_, flux_x_, flux_y_, flux_z_, no_alpha_, reach_;
  std::vector<char> has_flux_, is_close_;
};

}  // namespace fmbem
