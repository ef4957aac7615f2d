#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/bem/layer/complex_rows.hpp"
#include "fmbem/bem/precond/mixed_systems.hpp"

namespace fmbem {

/// An approximate inverse of mixed rows α V + β K' + γ with charge equations, the preconditioner of
/// their systems. It is made like ClusterInverse, but unknowns are densities of nodes, and
/// equations are mean rows (MeanRow has the entries, exact ones for panels that touch). Nodes do
/// not mix rows of V alone with rows that have K'. Charge equations are in the small systems, too
/// (ChargeRows), and so are the laws of stretched rows. docs/decisions.md has what was compared.
/// O(n) memory and work.
///
/// T is double or complex; complex rows have complex small systems, and take and give vectors of
/// real parts, [n], with imaginary ones behind them.
template <class T>
class BasicMixedInverse final : public ApproximateInverse {
 public:
  /// The panels need not outlive it. Throws InputError for options out of range, for rows that do
  /// not fit the panels, and for parts in charge equations that have no panels or rows of both
  /// kinds.
  BasicMixedInverse(const Panels& panels, std::span<const Triangle> triangles,
                    const BasicMixedRows<T>& rows, const MixedInverseOptions& options = {});

  std::string name() const override { return "cluster inverse for mixed rows"; }
  std::int64_t memory_bytes() const override;

  std::size_t size() const override { return parts * rows_.tree().size(); }
  std::size_t leaves() const { return rows_.leaves(); }
  /// Of the small systems.
  double mean_unknowns() const { return rows_.mean_unknowns(); }

  const ClusterRows& cluster_rows() const { return rows_; }
  const BasicChargeCorrection<T>& correction() const { return correction_; }

 protected:
  /// The same bits for any number of threads.
  void multiply(const double* x, double* y, const Product& product) const override;

 private:
  class Assembly;
  static constexpr int parts = MixedSystems<T>::parts;
  BasicMixedInverse(std::span<const Triangle> triangles, MixedSystems<T>&& systems);
  static ClusterRows solved(std::span<const Triangle> triangles, MixedSystems<T>& systems);
  ClusterRows rows_;
  BasicChargeCorrection<T> correction_;
};
using MixedInverse = BasicMixedInverse<double>;

}  // namespace fmbem
