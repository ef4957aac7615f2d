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

/// A node of a small system of mixed rows, in a leaf's coordinates, in units of its radius, and
/// what its row and its column are made of: an entry off the diagonal is
///
///     strength_l mixed_entry(row of k, d, smear2_k + smear2_l),
///
/// where some nodes are long with the potential of segments instead of α's part. Its size is an odd
/// number of words, so that neighbours are in different banks of a GPU's shared memory.
struct SystemNode {
  float x, y, z, smear2;  ///< of the point that stands for it
  PlacedRow row;
  float strength;  ///< of its column
  float own;       ///< the entry on the diagonal
  float across2;   ///< smear of a segment
  PlacedSegment segment;
  float share;       ///< in the mean of the rows that a law replaces
  std::int32_t law;  ///< which of the leaf's, or −1
};
static_assert(sizeof(SystemNode) % 8 == 4);

/// An entry that is not that of the smooth kernel.
struct SetEntry {
  std::uint16_t row, column;
  float value;
};

/// Fills matrices of small systems. Unknowns are densities of nodes, and equations their mean rows,
/// which no law has changed yet. Holds a thread's buffers.
class RowEntries {
 public:
  RowEntries(std::span<const Triangle> panels, const ClusterTree& tree, const RowsOfNodes& of)
      : panels_(panels), rows_(of.rows), tree_(tree), means_(of.means), close_(of.close) {}

  /// `placed`: the cut.
  void fill(std::span<const std::int32_t> cut, const PlacedCut& placed, SmallMatrix& matrix);
  /// The same for whoever fills the matrix: its nodes, without shares, and appends what is not that
  /// of the smooth kernel.
  void describe(std::span<const std::int32_t> cut, const PlacedCut& placed, SystemNode* nodes,
                std::vector<SetEntry>& entries);

 private:
  void place_rows(std::span<const std::int32_t> cut, const PlacedCut& placed);
  void set_all(std::span<const std::int32_t> cut, const PlacedCut& placed, SmallMatrix& matrix);
  float strength_of(std::int32_t node, double unit) const;
  float own_entry_of(std::int32_t node) const;
  /// Calls set(k, l, entry).
  template <class Set>
  void set_close_entries(std::span<const std::int32_t> cut, const PlacedCut& placed, Set&& set);
  template <class Set>
  void set_exact_entries(const PlacedCut& placed, Set&& set) const;

  std::span<const Triangle> panels_;
  const MixedRows& rows_;
  const ClusterTree& tree_;
  std::span<const MeanRow> means_;
  const CloseEntries& close_;
  std::vector<float> smear2_, alpha_, flux_x_, flux_y_, flux_z_, no_alpha_, reach_;
  std::vector<char> has_flux_, is_close_;
};

}  // namespace fmbem
