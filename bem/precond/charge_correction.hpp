#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "fmbem/bem/layer/mixed_rows.hpp"
#include "fmbem/bem/precond/cluster_tree.hpp"
#include "fmbem/bem/precond/mixed_places.hpp"
#include "fmbem/fmm/base/buffer.hpp"

namespace fmbem {

/// Changes densities by as little as makes their charge equations hold, from the inside out: by t
/// on an equation's part, and by t × factor (conjugate) on those of its others that have no
/// equation, which is the change of least norm. It is needed because the small systems of different
/// leaves do not agree on charges, because rows in single precision leave them off by 1e-6 of the
/// densities, and because equations multiply the charges of others by the contrast. T is double or
/// complex; complex vectors are real parts, [n], and behind them imaginary ones.
template <class T>
class BasicChargeCorrection {
 public:
  BasicChargeCorrection(const MixedPlaces& places, const BasicMixedRows<T>& rows);

  struct Part {
    std::int32_t begin, end;  ///< places
    double weight2_area;      ///< Σ w² A
  };
  struct Other {
    std::int32_t part;
    T factor;
    bool is_free;  ///< has no equation of its own
  };
  struct Equation {
    std::int32_t part;
    std::vector<Other> others;
  };

  /// y is [n] approximately A⁻¹ x. O(n); the same bits for any number of threads.
  void apply(const ClusterTree& tree, const double* x, double* y) const;
  // For copies on a GPU.
  const std::vector<Part>& parts() const { return parts_; }
  const std::vector<Equation>& equations() const { return equations_; }
  const LargeVector<double>& area_at() const { return area_at_; }
  /// area_at() itself where no charge has a weight.
  const LargeVector<double>& charge_area_at() const {
    return charge_area_at_.empty() ? area_at_ : charge_area_at_;
  }

  std::int64_t memory_bytes() const {
    return static_cast<std::int64_t>((area_at_.size() + charge_area_at_.size()) * sizeof(double));
  }

 private:
  static constexpr bool is_complex = !std::is_same_v<T, double>;
  /// Σ values x over a part, the values at places.
  T sum_over(const Part& part, const ClusterTree& tree, const LargeVector<double>& values,
             const double* x) const;

  std::vector<Part> parts_;
  std::vector<Equation> equations_;  ///< those of what is inside of others first
  /// [n] of the panel at each place: A and w A; empty without equations, and without weights.
  LargeVector<double> area_at_, charge_area_at_;
};

using ChargeCorrection = BasicChargeCorrection<double>;

}  // namespace fmbem
