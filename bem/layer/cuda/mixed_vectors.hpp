#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "fmbem/bem/layer/charge_equations.hpp"
#include "fmbem/cuda/device_array.hpp"

namespace fmbem::cuda::bem {

/// The operations of MixedOperator on vectors in the GPU's memory, [vectors][panels], in its
/// default stream.
class MixedVectors {
 public:
  /// `factors` are arrays [panels], such as those of V, K' and σ. Throws ResourceError where they
  /// do not fit.
  MixedVectors(const std::vector<std::span<const double>>& factors,
               const ChargeEquations& equations);
  ~MixedVectors();

  /// y = f x or y += f x with factors number f.
  void set(std::size_t f, const double* x, double* y, int vectors) const;
  void add(std::size_t f, const double* x, double* y, int vectors) const;
  /// Sums fluxes K'σ, [vectors][panels], over parts, for the next change_rows(), if any is needed.
  void sum_fluxes(const double* flux, int vectors);
  /// ChargeEquations::change_rows(). The same bits every time.
  void change_rows(const double* x, double* y, int vectors);
  /// Room for so many vectors, until the next call.
  double* room(int vectors);

 private:
  struct Parts;

  std::size_t size_ = 0;
  std::vector<DeviceArray<double>> factors_;
  std::unique_ptr<Parts> parts_;  ///< null without equations
  DeviceArray<double> room_;
};

}  // namespace fmbem::cuda::bem
