#include "bench/fmm_run.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "fmbem/cuda/device_array.hpp"
#include "fmbem/cuda/fmm_plan.hpp"
#include "fmbem/fmm/base/timer.hpp"

namespace fmbem::bench {
namespace {

/// Times evaluations; each returns its stages.
template <class Evaluate>
Evaluation median_of(int repeat, Evaluate&& evaluate) {
  std::vector<Evaluation> runs(repeat);
  for (Evaluation& run : runs) {
    const Timer timer;
    run.stages = evaluate();
    run.seconds = timer.seconds();
  }
  const auto median = runs.begin() + (repeat - 1) / 2;
  std::nth_element(runs.begin(), median, runs.end(),
                   [](const Evaluation& a, const Evaluation& b) { return a.seconds < b.seconds; });
  return *median;
}

class CpuRun final : public FmmRun {
 public:
  CpuRun(std::span<const Vec3d> sources, std::span<const Vec3d> targets,
         const fmm::PlanOptions& options)
      : plan_(sources, targets, options), plan_seconds_(timer_.seconds()) {}

  fmm::PlanInfo info() const override { return plan_.info(); }
  double plan_seconds() const override { return plan_seconds_; }
  fmm::Seconds plan_stages() const override { return plan_.plan_seconds(); }
  void evaluate(const fmm::Strengths& strengths, const fmm::Fields& fields) override {
    plan_.evaluate(strengths, fields);
  }
  Evaluation median(const fmm::Strengths& strengths, const fmm::Fields& fields,
                    int repeat) override {
    return median_of(repeat, [&] {
      plan_.evaluate(strengths, fields);
      return plan_.evaluate_seconds();
    });
  }

 private:
  Timer timer_;
  fmm::Plan plan_;
  double plan_seconds_;
};

class CudaRun final : public FmmRun {
 public:
  CudaRun(std::span<const Vec3d> sources, std::span<const Vec3d> targets,
          const fmm::PlanOptions& options)
      : points_(sources) {
    const cuda::DevicePoints on_device{points_.data(), points_.size()},
        first_of_them{points_.data(), targets.size()};
    const cuda::FmmPlan first(on_device, first_of_them, options);
    first.wait();
    const Timer timer;
    plan_.emplace(on_device, first_of_them, options);
    plan_->wait();
    plan_seconds_ = timer.seconds();
  }

  fmm::PlanInfo info() const override { return plan_->info(); }
  double plan_seconds() const override { return plan_seconds_; }
  fmm::Seconds plan_stages() const override { return plan_->plan_seconds(); }

  void evaluate(const fmm::Strengths& strengths, const fmm::Fields& fields) override {
    const Arrays arrays(strengths, fields);
    plan_->evaluate(arrays.strengths(), arrays.fields());
    plan_->wait();
    arrays.potential.download(fields.potential);
    arrays.gradient.download(fields.gradient);
    arrays.hessian.download(fields.hessian);
  }

  Evaluation median(const fmm::Strengths& strengths, const fmm::Fields& fields,
                    int repeat) override {
    const Arrays arrays(strengths, fields);
    const auto once = [&] {
      plan_->evaluate(arrays.strengths(), arrays.fields());
      plan_->wait();
      return fmm::Seconds();
    };
    for (int k = 0; k < 2; ++k) once();  // the second captures the graph
    Evaluation median = median_of(repeat, once);
    plan_->evaluate_stages(arrays.strengths(), arrays.fields());
    median.stages = plan_->evaluate_stages(arrays.strengths(), arrays.fields());
    return median;
  }

 private:
  /// One evaluation's data in device memory.
  struct Arrays {
    Arrays(const fmm::Strengths& from, const fmm::Fields& to)
        : charges(from.charges),
          dipoles(from.dipoles),
          potential(to.potential.size()),
          gradient(to.gradient.size()),
          hessian(to.hessian.size()),
          count(from.count) {}
    cuda::DeviceStrengths strengths() const { return {charges.data(), dipoles.data(), count}; }
    cuda::DeviceFields fields() const {
      return {potential.data(), gradient.data(), hessian.data()};
    }

    cuda::DeviceArray<double> charges;
    cuda::DeviceArray<Vec3d> dipoles;
    cuda::DeviceArray<double> potential;
    cuda::DeviceArray<Vec3d> gradient;
    cuda::DeviceArray<Symmetric3d> hessian;
    int count;
  };

  cuda::DeviceArray<Vec3d> points_;
  std::optional<cuda::FmmPlan> plan_;
  double plan_seconds_ = 0;
};

}  // namespace

std::unique_ptr<FmmRun> make_run(const std::string& backend, std::span<const Vec3d> sources,
                                 std::span<const Vec3d> targets, const fmm::PlanOptions& options) {
  if (backend == "cuda") return std::make_unique<CudaRun>(sources, targets, options);
  return std::make_unique<CpuRun>(sources, targets, options);
}

}  // namespace fmbem::bench
