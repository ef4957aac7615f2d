#pragma once

#include "fmbem/cuda/batches.cuh"
#include "fmbem/cuda/stage_times.cuh"

namespace fmbem::cuda {

/// Sums in the points' order, [parts][components][vectors][targets]: the potential if asked for,
/// then the gradient, then second derivatives. The results are the sums of the parts.
struct PartsView {
  double* sums;
  int parts;
};

/// Evaluations of direct sums and treecodes: strengths are sorted, sums are made of them, and
/// results are written. All coordinates and strengths are there in double precision.
class PlainEvaluation : public Evaluation {
 public:
  /// `scale` as of PlanTree. The stream must outlive it.
  PlainEvaluation(double scale, bool same, PlanPoints points, const Stream& stream);

  void evaluate(const DeviceStrengths& strengths, const DeviceFields& fields) override;
  fmm::Seconds evaluate_stages(const DeviceStrengths& strengths,
                               const DeviceFields& fields) override;
  std::int64_t bytes() const override;

 protected:
  /// How many right-hand sides go through at a time, at most; and the parts of the sums.
  virtual int most_together() const = 0;
  virtual int parts() const { return 1; }
  /// Enqueues the sums, of strengths() and largest(), and records the stages if times are there.
  virtual void enqueue_sums(const Asked& asked, const PartsView& out, StageTimes* times) = 0;

  const PointsView<double>& sources() const { return source_view_; }
  const PointsView<double>& targets() const { return same_ ? source_view_ : target_view_; }
  StrengthsView<double> strengths(const Asked& asked) const {
    return {places_.data(), asked.charges, asked.dipoles ? dipoles_.data() : nullptr};
  }
  const Arguments* arguments() const { return arguments_.data(); }
  const unsigned long long* largest() const { return largest_.data(); }
  double scale() const { return scale_; }
  bool same() const { return same_; }
  const Stream& stream() const { return stream_; }

 private:
  void evaluate(const DeviceStrengths& strengths, const DeviceFields& fields, StageTimes* times);
  void enqueue(const Asked& asked, StageTimes* times);
  void place(DevicePoints points, DeviceBuffer<std::int32_t> order, bool are_sources);

  double scale_;
  bool same_;
  const Stream& stream_;
  DeviceBuffer<std::int32_t> source_order_, target_order_;
  DeviceBuffer<double> source_places_, target_places_;  ///< x, then y, then z
  PointsView<double> source_view_{}, target_view_{};
  DeviceBuffer<Arguments> arguments_;
  DeviceBuffer<unsigned long long> largest_;
  DeviceBuffer<ChargedPoint<double>> places_, dipoles_;
  DeviceBuffer<double> sums_;
};

}  // namespace fmbem::cuda
