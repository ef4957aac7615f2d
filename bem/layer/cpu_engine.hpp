#pragma once

#include <map>
#include <memory>
#include <optional>

#include "fmbem/bem/layer/engine_operator.hpp"
#include "fmbem/bem/near/near_blocks.hpp"
#include "fmbem/bem/near/near_targets.hpp"
#include "fmbem/bem/space/panel_sources.hpp"
#include "fmbem/fmm/far_field.hpp"

namespace fmbem {

/// The engine of EngineOperator on the CPU: the near field is stored, the far field evaluated by
/// fmm::FarField.
class CpuEngine {
 public:
  static constexpr Processor processor = Processor::cpu;

  CpuEngine(const Panels& panels, const EngineTask& task, fmm::Stopwatch& watch);

  static double integral_tolerance(double tolerance, double) { return 0.5 * tolerance; }
  bool stores_near_field() const { return true; }
  bool cuts_panels() const { return pieces_ != nullptr; }
  NearAccuracy near_accuracy(NearAccuracy for_both, double) const { return for_both; }
  double largest_rounding() const { return near_->largest_rounding(); }
  NormEstimate norm_estimate() const;
  void set_far(const FarAccuracy& accuracy);
  void set_near(const NearAccuracy& accuracy, const Progress& progress);

  void multiply(const double* x, double* y, const Product& product);
  /// A product with a far field made for it and, if a tolerance is given, near integrals made for
  /// it too.
  void multiply(const double* x, double* y, const Product& product, const FarAccuracy& accuracy,
                const std::optional<double>& near_tolerance);
  /// With the far field of that order, which is kept for the next one, and all near entries.
  void multiply(const double* x, double* y, const Product& product, const LooseFar& loose);
  void wait() const {}
  void describe(OperatorInfo& info) const;
  std::unique_ptr<ApproximateInverse> approximate_inverse() const;

 private:
  void multiply_with(const fmm::FarField& far, const double* x, double* y, const Product& product);
  PanelSources sources(double tolerance) const;
  std::shared_ptr<const fmm::FarField> far_field(std::shared_ptr<const fmm::PointTree> tree,
                                                 const FarAccuracy& accuracy,
                                                 fmm::Moments moments) const;
  /// A tree whose only leaf is the root: everything is near.
  std::shared_ptr<const fmm::PointTree> one_leaf() const;

  Panels panels_;
  PanelKernel kernel_;
  LargeVector<Triangle> triangles_;  ///< of the columns
  NearTargets targets_;
  std::shared_ptr<const PanelPieces> pieces_;  ///< or null
  /// Moments are stored in the precision of near entries: where panels are cut they are most of the
  /// memory.
  bool single_moments_ = false;
  std::shared_ptr<const fmm::PointTree> tree_;
  std::shared_ptr<const NearPanels> near_panels_;
  std::shared_ptr<const fmm::FarField> far_;
  std::map<int, std::shared_ptr<const fmm::FarField>> looser_;  ///< by order
  std::unique_ptr<NearBlocks> near_;
  fmm::Seconds product_seconds_;
};

}  // namespace fmbem
