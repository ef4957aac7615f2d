#pragma once

#include <functional>
#include <span>
#include <vector>

#include "fmbem/fmm/expansion/parity_order.hpp"
#include "fmbem/fmm/kernel/yukawa.hpp"

namespace fmbem::fmm {

/// Truncated series, or the fit of box_fit.hpp, which plans use.
enum class M2l { truncated, fitted };

/// Rows first … end − 1 of the block of an orbit and a class, [rows][K].
struct M2lRows {
  int orbit, e, first, end;
  const double* rows;
};
/// So many of them come together, but for a block's last: whole panels of the CPU's kernels.
inline constexpr int m2l_rows_at_once = 48;

/// Makes M2L's blocks (translations.hpp) of these orbits and every class, and hands their rows to
/// `take`, from several threads at once. Of Laplace's kernel, or Yukawa's
/// (yukawa_translations.hpp).
void make_m2l_blocks(const Laplace& kernel, const ParityOrder& order, M2l m2l,
                     std::span<const int> some, const std::function<void(const M2lRows&)>& take);
void make_m2l_blocks(const Yukawa& kernel, const ParityOrder& order, M2l m2l,
                     std::span<const int> some, const std::function<void(const M2lRows&)>& take);

/// All orbits but that of the siblings, which are near.
std::vector<int> all_m2l_orbits();

/// The orders of orbits: all that of the expansions, p, or fewer degrees the farther the nearest
/// box is from the child, so that each orbit's error is small beside that of the nearest boxes
/// (docs/decisions.md).
enum class M2lOrders { full, by_distance };
/// By distance where the sources are the targets: there are always nearer boxes then. Else the
/// farther boxes may be all there is.
constexpr M2lOrders m2l_orders(bool sources_are_targets) {
  return sources_are_targets ? M2lOrders::by_distance : M2lOrders::full;
}
int m2l_order(int p, M2lOrders orders, int orbit);
/// The least distance between the child and boxes of an orbit that do not touch it, in their sides.
double m2l_gap(int orbit);
/// Operations of a row's products, on an average of the orbits: 16 K² with K of each orbit's order.
double m2l_row_operations(int p, M2lOrders orders);

}  // namespace fmbem::fmm
