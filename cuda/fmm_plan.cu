#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/device.hpp"
#include "fmbem/cuda/fmm_plan.hpp"
#include "fmbem/cuda/fmm_plan_impl.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/fmm/check.hpp"

namespace fmbem::cuda {
namespace {

template <class From, class To>
__global__ void convert(const From* from, std::int64_t n, To* to) {
  const std::int64_t i = thread_index();
  if (i < n) to[i] = static_cast<To>(from[i]);
}

void enqueue_copy(const float* from, std::int64_t n, double* to, cudaStream_t stream) {
  launch(convert<float, double>, blocks_for(n), threads_per_block, 0, stream, from, n, to);
}
void enqueue_copy(const double* from, std::int64_t n, float* to, cudaStream_t stream) {
  launch(convert<double, float>, blocks_for(n), threads_per_block, 0, stream, from, n, to);
}
/// Vectors are three numbers without gaps.
template <class From, class To>
void enqueue_copy(const Vec3<From>* from, std::int64_t n, Vec3<To>* to, cudaStream_t stream) {
  static_assert(sizeof(Vec3<From>) == 3 * sizeof(From) && sizeof(Vec3<To>) == 3 * sizeof(To));
  enqueue_copy(reinterpret_cast<const From*>(from), 3 * n, reinterpret_cast<To*>(to), stream);
}
/// Matrices are six.
void enqueue_copy(const Symmetric3d* from, std::int64_t n, Symmetric3<float>* to,
                  cudaStream_t stream) {
  static_assert(sizeof *from == 6 * sizeof from->xx && sizeof *to == 6 * sizeof to->xx);
  enqueue_copy(&from->xx, 6 * n, &to->xx, stream);
}

/// Makes room for numbers in double precision and puts `n` of the others there; null of null.
template <class Float, class Double>
const Double* in_double(const Float* from, std::int64_t n, DeviceBuffer<Double>& room,
                        cudaStream_t stream) {
  if (!from) return nullptr;
  grow(room, n, stream);
  enqueue_copy(from, n, room.data(), stream);
  return room.data();
}

/// Calls work(sources, targets) with points in double precision; one array stays one.
template <class Work>
void with_points_in_double(const DevicePointsInFloat& sources, const DevicePointsInFloat& targets,
                           cudaStream_t stream, Work&& work) {
  DeviceBuffer<Vec3d> y, x;
  const auto points = [&](const DevicePointsInFloat& from, DeviceBuffer<Vec3d>& room) {
    return DevicePoints{in_double(from.data, static_cast<std::int64_t>(from.size), room, stream),
                        from.size};
  };
  const DevicePoints from = points(sources, y);
  const bool same = sources.data == targets.data && sources.size == targets.size;
  work(from, same ? from : points(targets, x));
}

void check_counts(std::size_t sources, std::size_t targets) {
  fmm::check_point_count(sources, "source");
  fmm::check_point_count(targets, "target");
}

/// Of strengths and fields in either precision.
void check(const auto& plan, const auto& strengths, const auto& fields) {
  FMBEM_REQUIRE(strengths.count >= 1,
                "there must be at least one right-hand side, not " << strengths.count);
  FMBEM_REQUIRE(!strengths.dipoles || plan.options.dipoles,
                "the plan was not made for dipoles: set PlanOptions::dipoles");
  FMBEM_REQUIRE(!fields.gradient || plan.options.gradient,
                "the plan was not made for gradients: set PlanOptions::gradient");
  FMBEM_REQUIRE(!fields.hessian || plan.options.hessian,
                "the plan was not made for second derivatives: set PlanOptions::hessian");
  FMBEM_REQUIRE(strengths.charges || strengths.dipoles, "there are no strengths to evaluate");
  FMBEM_REQUIRE(fields.potential || fields.gradient || fields.hessian,
                "there are no results to write");
  FMBEM_REQUIRE(plan.evaluation, "the plan ended when memory did not suffice: make a new one");
}

}  // namespace

FmmPlan::FmmPlan(DevicePoints sources, DevicePoints targets, const fmm::PlanOptions& options,
                 std::optional<CUstream_st*> stream) {
  require_cuda_device();
  impl_ = std::make_unique<Impl>(options, stream);
  check_counts(sources.size, targets.size);
  impl_->in_callers_stream([&] { impl_->place(sources, targets); });
}
FmmPlan::FmmPlan(DevicePointsInFloat sources, DevicePointsInFloat targets,
                 const fmm::PlanOptions& options, std::optional<CUstream_st*> stream) {
  require_cuda_device();
  impl_ = std::make_unique<Impl>(options, stream);
  check_counts(sources.size, targets.size);
  impl_->in_callers_stream([&] {
    with_points_in_double(sources, targets, impl_->stream,
                          [&](DevicePoints from, DevicePoints to) { impl_->place(from, to); });
  });
}
FmmPlan::~FmmPlan() = default;
FmmPlan::FmmPlan(FmmPlan&&) noexcept = default;
FmmPlan& FmmPlan::operator=(FmmPlan&&) noexcept = default;

std::size_t FmmPlan::sources() const { return impl_->sources; }
std::size_t FmmPlan::targets() const { return impl_->targets; }
CUstream_st* FmmPlan::stream() const { return impl_->callers.value_or(impl_->stream); }
void FmmPlan::wait() const { impl_->stream.wait(); }

void FmmPlan::move(DevicePoints sources, DevicePoints targets) {
  impl_->in_callers_stream([&] { impl_->move(sources, targets); });
}
void FmmPlan::move(DevicePointsInFloat sources, DevicePointsInFloat targets) {
  impl_->in_callers_stream([&] {
    with_points_in_double(sources, targets, impl_->stream,
                          [&](DevicePoints from, DevicePoints to) { impl_->move(from, to); });
  });
}

void FmmPlan::evaluate(const DeviceStrengths& strengths, const DeviceFields& fields) {
  check(*impl_, strengths, fields);
  impl_->in_callers_stream([&] { impl_->evaluation->evaluate(strengths, fields); });
}

void FmmPlan::evaluate(const DeviceStrengthsInFloat& strengths, const DeviceFieldsInFloat& fields) {
  Impl& plan = *impl_;
  check(plan, strengths, fields);
  const Stream& stream = plan.stream;
  const auto n = static_cast<std::int64_t>(plan.sources) * strengths.count,
             m = static_cast<std::int64_t>(plan.targets) * strengths.count;
  const auto room = [&](const auto* results, auto& buffer) {
    if (results) grow(buffer, m, stream);
    return results ? buffer.data() : nullptr;
  };
  plan.in_callers_stream([&] {
    const DeviceStrengths from{in_double(strengths.charges, n, plan.charges, stream),
                               in_double(strengths.dipoles, n, plan.dipoles, stream),
                               strengths.count};
    const DeviceFields to{room(fields.potential, plan.potential),
                          room(fields.gradient, plan.gradient), room(fields.hessian, plan.hessian)};
    plan.evaluation->evaluate(from, to);
    if (to.potential) enqueue_copy(to.potential, m, fields.potential, stream);
    if (to.gradient) enqueue_copy(to.gradient, m, fields.gradient, stream);
    if (to.hessian) enqueue_copy(to.hessian, m, fields.hessian, stream);
  });
}

fmm::Seconds FmmPlan::evaluate_stages(const DeviceStrengths& strengths,
                                      const DeviceFields& fields) {
  check(*impl_, strengths, fields);
  fmm::Seconds seconds;
  impl_->in_callers_stream(
      [&] { seconds = impl_->evaluation->evaluate_stages(strengths, fields); });
  return seconds;
}

fmm::PlanInfo FmmPlan::info() const { return impl_->info(); }

fmm::Seconds FmmPlan::plan_seconds() const { return impl_->plan_seconds; }

std::int64_t FmmPlan::device_bytes() const {
  return impl_->bytes() + (impl_->evaluation ? impl_->evaluation->operator_bytes() : 0);
}

}  // namespace fmbem::cuda
