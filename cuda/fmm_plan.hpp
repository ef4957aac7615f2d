#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "fmbem/fmm/plan.hpp"

struct CUstream_st;

namespace fmbem::cuda {

/// Points in device memory.
struct DevicePoints {
  const Vec3d* data = nullptr;
  std::size_t size = 0;
};

/// As fmm::Strengths and fmm::Fields, in device memory; null is what is empty there.
struct DeviceStrengths {
  const double* charges = nullptr;  ///< [count][sources]
  const Vec3d* dipoles = nullptr;   ///< [count][sources]
  int count = 1;
};
struct DeviceFields {
  double* potential = nullptr;  ///< [count][targets]
  Vec3d* gradient = nullptr;    ///< [count][targets]
};

/// fmm::Plan on the current GPU, with everything in its memory: tree, lists, operators, expansions,
/// strengths and results. Two evaluations of the same strengths give the same bits.
class FmmPlan {
 public:
  /// The points are read by work that is in the stream of the plan before this returns; they need
  /// not outlive that. The same array as sources and targets is one set of points. Throws
  /// what fmm::Plan does, InputError without a usable GPU, and ResourceError with the bytes needed
  /// and free where the GPU's memory does not suffice.
  FmmPlan(DevicePoints sources, DevicePoints targets, const fmm::PlanOptions& options = {});
  ~FmmPlan();
  FmmPlan(FmmPlan&&) noexcept;
  FmmPlan& operator=(FmmPlan&&) noexcept;

  std::size_t sources() const;
  std::size_t targets() const;

  /// Enqueues an evaluation in the plan's stream. Strengths must be ready, and results are ready,
  /// when the stream reaches this point. Right-hand sides with strengths that are not finite give
  /// NaN everywhere; sizes are not checked. Throws InputError for what the plan was not made for.
  void evaluate(const DeviceStrengths& strengths, const DeviceFields& fields);
  CUstream_st* stream() const;
  /// Waits for the stream.
  void wait() const;

  /// The same, stage after stage without overlap, and the seconds of each.
  fmm::Seconds evaluate_stages(const DeviceStrengths& strengths, const DeviceFields& fields);

  fmm::PlanInfo info() const;
  fmm::Seconds plan_seconds() const;
  /// Device memory that the plan holds, its operators and room for evaluations included.
  std::int64_t device_bytes() const;

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

/// fmm::Plan whose work is done on the current GPU: strengths and results are copied there and
/// back. Where there is no CUDA or no GPU it throws InputError.
fmm::Plan make_fmm_plan(std::span<const Vec3d> points, const fmm::PlanOptions& options = {});
fmm::Plan make_fmm_plan(std::span<const Vec3d> sources, std::span<const Vec3d> targets,
                        const fmm::PlanOptions& options = {});

}  // namespace fmbem::cuda
