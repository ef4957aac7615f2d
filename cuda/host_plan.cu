// Plans with points, strengths and results in the host's memory.
#include <optional>

#include "fmbem/cuda/device.hpp"
#include "fmbem/cuda/fmm_plan.hpp"
#include "fmbem/cuda/memory.cuh"
#include "fmbem/fmm/base/stopwatch.hpp"
#include "fmbem/fmm/choice/choose.hpp"
#include "fmbem/fmm/plan_impl.hpp"

namespace fmbem::cuda {
namespace {

class HostPlan final : public fmm::PlanImpl {
 public:
  HostPlan(std::span<const Vec3d> sources, std::span<const Vec3d> targets, bool same,
           const fmm::PlanOptions& asked) {
    options = asked;
    require_cuda_device();
    keep_freed_memory();
    on_device(sources, targets, same,
              [&](DevicePoints from, DevicePoints to) { plan_.emplace(from, to, options); });
  }

  void move(std::span<const Vec3d> sources, std::span<const Vec3d> targets, bool same) override {
    fmm::check_move({this->sources(), this->targets(), same_},
                    {sources.size(), targets.size(), same});
    on_device(sources, targets, same,
              [&](DevicePoints from, DevicePoints to) { plan_->move(from, to); });
  }

  std::size_t sources() const override { return plan_->sources(); }
  std::size_t targets() const override { return plan_->targets(); }
  fmm::PlanInfo info() const override { return plan_->info(); }

  void evaluate(const fmm::Strengths& strengths, const fmm::Fields& fields) override {
    with_copies(strengths, fields, [&](const DeviceStrengths& from, const DeviceFields& to) {
      fmm::Stopwatch watch(evaluate_seconds);
      plan_->evaluate(from, to);
      plan_->wait();
      watch.add("evaluate");
    });
  }

  void evaluate_stages(const fmm::Strengths& strengths, const fmm::Fields& fields) override {
    with_copies(strengths, fields, [&](const DeviceStrengths& from, const DeviceFields& to) {
      for (const auto& [stage, of_stage] : plan_->evaluate_stages(from, to))
        evaluate_seconds[stage] += of_stage;
    });
  }

 private:
  /// Calls evaluate(strengths, fields) with copies on the device, and brings results back.
  template <class Evaluate>
  void with_copies(const fmm::Strengths& strengths, const fmm::Fields& fields,
                   Evaluate&& evaluate) {
    fmm::Stopwatch watch(evaluate_seconds);
    const cudaStream_t stream = plan_->stream();
    const auto charges = to_device(strengths.charges, stream);
    const auto dipoles = to_device(strengths.dipoles, stream);
    DeviceBuffer<double> potential(fields.potential.size(), stream);
    DeviceBuffer<Vec3d> gradient(fields.gradient.size(), stream);
    DeviceBuffer<Symmetric3d> hessian(fields.hessian.size(), stream);
    plan_->wait();
    watch.add("copy");
    evaluate(DeviceStrengths{charges.data(), dipoles.data(), strengths.count},
             DeviceFields{potential.data(), gradient.data(), hessian.data()});
    watch.restart();
    potential.download(fields.potential.data());
    gradient.download(fields.gradient.data());
    hessian.download(fields.hessian.data());
    plan_->wait();
    watch.add("copy");
  }

  /// Calls place(sources, targets) with copies of the points on the device.
  template <class Place>
  void on_device(std::span<const Vec3d> sources, std::span<const Vec3d> targets, bool same,
                 Place&& place) {
    fmm::Seconds seconds;
    fmm::Stopwatch watch(seconds);
    DeviceBuffer<Vec3d> y = to_device(sources, nullptr), x;
    if (!same) x = to_device(targets, nullptr);
    FMBEM_CUDA(cudaStreamSynchronize(nullptr));
    watch.add("copy");
    const DevicePoints from{y.data(), y.size()};
    place(from, same ? from : DevicePoints{x.data(), x.size()});
    plan_->wait();
    same_ = same;
    for (const auto& [stage, of_stage] : plan_->plan_seconds()) seconds[stage] += of_stage;
    plan_seconds = std::move(seconds);
  }

  std::optional<FmmPlan> plan_;
  bool same_ = true;  ///< whether the sources are the targets
};

}  // namespace

fmm::Plan make_fmm_plan(std::span<const Vec3d> points, const fmm::PlanOptions& options) {
  return fmm::Plan(std::make_unique<HostPlan>(points, points, true, options));
}

fmm::Plan make_fmm_plan(std::span<const Vec3d> sources, std::span<const Vec3d> targets,
                        const fmm::PlanOptions& options) {
  const bool same = fmm::are_same(sources, targets);
  return fmm::Plan(std::make_unique<HostPlan>(sources, targets, same, options));
}

}  // namespace fmbem::cuda
