#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>

#include "fmbem/fmm/plan.hpp"

struct CUstream_st;

namespace fmbem::cuda {

/// Points in device memory, in double or in single precision.
template <class T>
struct DevicePointsOf {
  const Vec3<T>* data = nullptr;
  std::size_t size = 0;
};
using DevicePoints = DevicePointsOf<double>;
using DevicePointsInFloat = DevicePointsOf<float>;

/// As fmm::Strengths and fmm::Fields, in device memory; null is what is empty there.
template <class T>
struct DeviceStrengthsOf {
  const T* charges = nullptr;        ///< [count][sources]
  const Vec3<T>* dipoles = nullptr;  ///< [count][sources]
  int count = 1;
};
template <class T>
struct DeviceFieldsOf {
  T* potential = nullptr;            ///< [count][targets]
  Vec3<T>* gradient = nullptr;       ///< [count][targets]
  Symmetric3<T>* hessian = nullptr;  ///< [count][targets], second derivatives
};
using DeviceStrengths = DeviceStrengthsOf<double>;
using DeviceFields = DeviceFieldsOf<double>;
using DeviceStrengthsInFloat = DeviceStrengthsOf<float>;
using DeviceFieldsInFloat = DeviceFieldsOf<float>;

/// fmm::Plan on the current GPU, with everything in its memory: tree, lists, operators, expansions,
/// strengths and results. Two evaluations of the same strengths give the same bits.
/// Single-precision numbers are converted to double precision, and results are rounded at the end:
/// PlanOptions says how precisely it works in between.
class FmmPlan {
 public:
  /// The points are read by work that is in the plan's stream before this returns; they need not
  /// outlive that. The same array as sources and targets is one set of points. All work is ordered
  /// as if it were put into `stream`, which has to outlive the plan; null is the default stream,
  /// and none is a stream of the plan's own. Throws what fmm::Plan does, InputError without a
  /// usable GPU, and ResourceError with the bytes needed and free where the GPU's memory does not
  /// suffice.
  FmmPlan(DevicePoints sources, DevicePoints targets, const fmm::PlanOptions& options = {},
          std::optional<CUstream_st*> stream = {});
  FmmPlan(DevicePointsInFloat sources, DevicePointsInFloat targets,
          const fmm::PlanOptions& options = {}, std::optional<CUstream_st*> stream = {});
  ~FmmPlan();
  FmmPlan(FmmPlan&&) noexcept;
  FmmPlan& operator=(FmmPlan&&) noexcept;

  std::size_t sources() const;
  std::size_t targets() const;

  /// Enqueues an evaluation in the plan's stream. Strengths must be ready, and results are ready,
  /// when the stream reaches this point. Right-hand sides with strengths that are not finite give
  /// NaN everywhere; sizes are not checked. Throws InputError for what the plan was not made for.
  void evaluate(const DeviceStrengths& strengths, const DeviceFields& fields);
  void evaluate(const DeviceStrengthsInFloat& strengths, const DeviceFieldsInFloat& fields);
  /// The caller's, if there is one.
  CUstream_st* stream() const;
  /// Waits for the plan's work.
  void wait() const;

  /// As fmm::Plan::move(). Sources that are the targets are again one array. What it needs of the
  /// device's memory it has twice meanwhile. After an error the plan is where it was; but if
  /// memory runs out after the new tree is built, the plan is unusable and says so.
  void move(DevicePoints sources, DevicePoints targets);
  void move(DevicePointsInFloat sources, DevicePointsInFloat targets);

  /// As evaluate(), stage after stage without overlap, and the seconds of each.
  fmm::Seconds evaluate_stages(const DeviceStrengths& strengths, const DeviceFields& fields);

  fmm::PlanInfo info() const;
  /// Of making the plan, or of its last move.
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
/// make_fmm_plan(points, {}) is make_fmm_plan(points).
inline fmm::Plan make_fmm_plan(std::span<const Vec3d> points,
                               std::initializer_list<fmm::NoOptions>) {
  return make_fmm_plan(points);
}

}  // namespace fmbem::cuda
