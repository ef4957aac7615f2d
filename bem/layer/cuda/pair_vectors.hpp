#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "fmbem/bem/precond/panel_surfaces.hpp"
#include "fmbem/cuda/device_array.hpp"

namespace fmbem::cuda::bem {

/// 2×2 blocks of panels, each with two unknowns and rows: φ_0, q_0, φ_1, … In the GPU's memory, in
/// the order of its default stream.
class PairBlocks {
 public:
  /// `blocks`: [panels][2][2], in the GPU's memory.
  explicit PairBlocks(DeviceArray<double> blocks)
      : panels_(blocks.size() / 4), blocks_(std::move(blocks)) {}
  /// `blocks`: [surfaces][2][2]. Throws ResourceError where they do not fit.
  PairBlocks(const PanelSurfaces& surfaces, std::span<const double> blocks)
      : panels_(surfaces.panel.size()),
        is_of_surfaces_(true),
        blocks_(blocks),
        surface_of_(std::span<const std::int32_t>(surfaces.of)) {}
  /// y = B x, [vectors][panels][2].
  void multiply(const double* x, double* y, int vectors = 1) const;
  /// Waits for the default stream.
  void wait() const;
  std::int64_t bytes() const {
    return static_cast<std::int64_t>(blocks_.size() * sizeof(double) +
                                     surface_of_.size() * sizeof(std::int32_t));
  }

  std::size_t panels() const { return panels_; }
  /// Null where there is one surface.
  const std::int32_t* surface_of() const { return surface_of_.data(); }

 private:
  std::size_t panels_;
  bool is_of_surfaces_ = false;
  DeviceArray<double> blocks_;
  DeviceArray<std::int32_t> surface_of_;
};

/// How the panels of a surface take charges and dipoles from such a vector, σ = `sigma` q and μ =
/// `mu` φ, and add results times `weight` to their rows.
struct PairFactors {
  double sigma = 0, mu = 0;
  double weight[2] = {1, 1};
  int row = 0;  ///< of results of one kind: 0 is φ's, 1 is q's
};

/// A part of a product: from some panels to some, all where a list is empty, [1 or 2][panels].
struct PairPlaces {
  std::span<const std::int32_t> from, to;
  std::vector<PairFactors> factors;  ///< [surfaces]
  int outputs = 1;
};

class PairPart {
 public:
  /// The blocks must outlive it.
  PairPart(const PairBlocks& blocks, const PairPlaces& places);
  ~PairPart();
  PairPart(PairPart&&) noexcept;
  PairPart& operator=(PairPart&&) noexcept;
  /// [2][from], valid until the next call.
  const double* sources(const double* x) const;
  /// Room for the results, and for the product of another operator, [to].
  double* results() const;
  double* flux() const;
  /// results = 0
  void clear() const;
  /// Adds factor · flux() to the second results.
  void add_flux(double factor) const;
  /// Adds the results to y.
  void add(double* y) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fmbem::cuda::bem
