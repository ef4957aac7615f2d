#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fmbem/bem/layer/charge_equations.hpp"
#include "fmbem/bem/layer/columns.hpp"
#include "fmbem/cuda/device_array.hpp"

namespace fmbem::cuda::bem {

/// Factors of all rows, or of some.
struct RowFactors {
  std::span<const double> factor;           ///< [panels]
  std::span<const std::int32_t> rows = {};  ///< panels; empty for all
};

/// The operations of MixedOperator on vectors in the GPU's memory, [vectors][panels], in its
/// default stream.
class MixedVectors {
 public:
  /// `factors` are such as those of V, K' and σ. Throws ResourceError where they do not fit.
  MixedVectors(const std::vector<RowFactors>& factors, const ChargeEquations& equations);
  ~MixedVectors();

  /// y = 0.
  void clear(double* y, int vectors) const;
  /// y = f x with factors number f, of all rows.
  void set(std::size_t f, const double* x, double* y, int vectors) const;
  /// y = the columns, not transposed, of the diagonal matrix of factors number f, of all rows.
  void set_columns(std::size_t f, const Columns& columns, double* y) const;
  /// y += f x with factors number f, x having their rows: [vectors][rows].
  void add(std::size_t f, const double* x, double* y, int vectors) const;
  /// Sums fluxes K'σ in the rows of factors number f, [vectors][rows], over parts, for the next
  /// change_rows(), if any is needed.
  void sum_fluxes(std::size_t f, const double* flux, int vectors);
  /// ChargeEquations::change_rows(). The same bits every time.
  void change_rows(const double* x, double* y, int vectors);
  /// ChargeEquations::change_rows_transposed(): y = Cᵀ x, and returns z = (1 + R)ᵀ x, which holds
  /// until the next call. The same bits every time.
  const double* change_rows_transposed(const double* x, double* y, int vectors);
  /// taken = f z with factors number f in their rows, [vectors][rows]; with fluxes, if any is
  /// needed, and what the last change_rows_transposed() of as many vectors has for these.
  void take(std::size_t f, const double* z, bool with_fluxes, double* taken, int vectors) const;
  /// y += x, of all panels.
  void add(const double* x, double* y, int vectors) const;
  /// Room for so many vectors, until the next call.
  double* room(int vectors);
  /// Until all that was enqueued is done.
  void wait() const;

 private:
  struct Parts;

  std::size_t size_ = 0;
  struct Factors {
    std::size_t rows;
    DeviceArray<double> factor;       ///< [rows]
    DeviceArray<std::int32_t> panel;  ///< [rows]; empty for all
  };
  std::vector<Factors> factors_;
  std::unique_ptr<Parts> parts_;  ///< null without equations
  DeviceArray<double> room_;
};

}  // namespace fmbem::cuda::bem
