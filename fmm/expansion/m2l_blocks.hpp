#pragma once

#include <functional>
#include <span>
#include <vector>

#include "fmbem/fmm/expansion/parity_order.hpp"
#include "fmbem/fmm/kernel/yukawa.hpp"

namespace fmbem::fmm {

/// Truncated series, or the fit of box_fit.hpp, which plans use.
enum class M2l { truncated, fitted };

/// Makes the blocks of M2L (translations.hpp) for these orbits and every class, and hands them to
/// take(orbit, class, block [K][K]), from several threads at once. Of Laplace's kernel, or Yukawa's
/// (yukawa_translations.hpp).
void make_m2l_blocks(const Laplace& kernel, const ParityOrder& order, M2l m2l,
                     std::span<const int> some,
                     const std::function<void(int orbit, int e, const double* block)>& take);
void make_m2l_blocks(const Yukawa& kernel, const ParityOrder& order, M2l m2l,
                     std::span<const int> some,
                     const std::function<void(int orbit, int e, const double* block)>& take);

/// All but that of the siblings.
std::vector<int> all_m2l_orbits();

/// Whether all orbits have the order p of the expansions, or fewer degrees the farther the nearest
/// box is from the child, so that their errors do not count beside those of the nearest boxes
/// (docs/decisions.md).
enum class M2lOrders { full, by_distance };
/// Among sources that are the targets there are always nearer boxes; else farther ones may be all.
constexpr M2lOrders m2l_orders(bool sources_are_targets) {
  return sources_are_targets ? M2lOrders::by_distance : M2lOrders::full;
}
int m2l_order(int p, M2lOrders orders, int orbit);
/// The least distance between the child and boxes of an orbit that do not touch it, in their sides.
double m2l_gap(int orbit);
/// Operations of the products of a row, on an average of the orbits: 16 K² of their orders.
double m2l_row_operations(int p, M2lOrders orders);

}  // namespace fmbem::fmm
