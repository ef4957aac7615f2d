#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fmbem/cuda/device_array.hpp"

namespace fmbem::cuda::bem {

/// 2×2 blocks of panels, each with two unknowns and rows: φ_0, q_0, φ_1, … In the GPU's memory, in
/// the order of its default stream.
class PairBlocks {
 public:
  /// `blocks`: [n panels][2][2]. Throws ResourceError where they do not fit.
  explicit PairBlocks(std::span<const double> blocks) : blocks_(blocks) {}
  /// y = B x, [vectors][n panels][2].
  void multiply(const double* x, double* y, int vectors = 1) const;
  /// Waits for the default stream.
  void wait() const;
  std::size_t size() const { return blocks_.size() / 2; }
  std::int64_t bytes() const { return static_cast<std::int64_t>(blocks_.size() * sizeof(double)); }

 private:
  DeviceArray<double> blocks_;
};

/// How some panels take charges and dipoles from such a vector, σ = `sigma` q and μ = `mu` φ, and
/// add the result, [1 or 2][panels], times `weight` to rows of it.
struct PairPlaces {
  std::vector<std::int32_t> panel;
  std::vector<double> sigma, mu;  ///< [panels]
  std::vector<std::int32_t> row;  ///< [results]
  std::vector<double> weight;     ///< [results]
};

class PairPart {
 public:
  explicit PairPart(const PairPlaces& places);
  /// [2][panels], valid until the next call.
  const double* sources(const double* x);
  /// Room for the results, and for the product of another operator, [panels].
  double* results() const { return results_.data(); }
  double* flux() const { return flux_.data(); }
  /// results = 0
  void clear() const;
  /// Adds factor · flux() to the second results.
  void add_flux(double factor) const;
  /// Adds the results to y.
  void add(double* y) const;

 private:
  DeviceArray<std::int32_t> panel_, row_;
  DeviceArray<double> sigma_, mu_, weight_, sources_, results_, flux_;
};

}  // namespace fmbem::cuda::bem
