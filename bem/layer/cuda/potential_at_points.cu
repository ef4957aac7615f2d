#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "fmbem/bem/geometry/cuda/memory_advice.cuh"
#include "fmbem/bem/layer/cuda/potential_at_points.hpp"
#include "fmbem/bem/layer/cuda/tree_at_points.cuh"
#include "fmbem/bem/layer/far_choice.hpp"
#include "fmbem/bem/near/cuda/near_potentials.cuh"
#include "fmbem/bem/space/cuda/panel_stages.cuh"
#include "fmbem/cuda/device.hpp"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/spread_field.cuh"
#include "fmbem/cuda/staging.cuh"
#include "fmbem/fmm/base/touched.hpp"
#include "fmbem/fmm/check.hpp"

namespace fmbem::cuda::bem {
namespace {

/// What a near pair costs an H200.
constexpr double potential_pair_seconds = 5e-11, screened_pair_seconds = 1.5e-10;

__global__ void multiply_by(double factor, std::int64_t n, double* x) {
  const std::int64_t i = thread_index();
  if (i < n) x[i] *= factor;
}

double far_tolerance(const PotentialAtPoints& how) { return loss_of_potentials * how.tolerance; }
/// Charges and dipoles share what is allowed.
double tolerance_of_each(const PotentialAtPoints& how) { return 0.5 * far_tolerance(how); }

/// Charges and dipoles on panels, and their potentials with expansions in T.
template <class T>
class PotentialEvaluation {
 public:
  PotentialEvaluation(const Panels& panels, const SurfaceDensities& densities,
                      const PotentialAtPoints& how)
      : how_(how),
        origin_(panels.origin),
        extent_(panels.extent + norm(panels.origin)),
        panels_(store_of(panels, stream_)),
        densities_(2 * panels.size(), stream_),
        moments_(tolerance_of_each(how), {Trace::normal, how.kappa}, stream_),
        rules_(how.tolerance, {Trace::normal, how.kappa}, stream_) {
    const std::size_t n = panels.size();
    copy_to_device(densities.sigma.data(), n, densities_.data(), stream_);
    copy_to_device(densities.mu.data(), n, densities_.data() + n, stream_);
  }

  /// Writes the potentials of points, of which `before` are done.
  void evaluate(std::span<const Vec3d> points, std::size_t before, double* potential) {
    const int order = far_order_for(far_tolerance(how_), Trace::normal);
    tree_ = {};
    tree_ = grow_tree_at_points(
        *panels_, {points, origin_, before},
        {.order = order,
         .precision = far_precision_for(far_tolerance(how_), Trace::normal),
         .overhang = dipole_overhang,
         .near_pair_seconds = how_.kappa > 0 ? screened_pair_seconds : potential_pair_seconds},
        stream_);
    // Dipoles go along times the tree's scale, a power of two.
    const std::int64_t n = panels_->size();
    launch(multiply_by, blocks_for(n), threads_per_block, 0, stream_, tree_.scale / scale_, n,
           densities_.data() + n);
    scale_ = tree_.scale;
    const double kappa = how_.kappa / scale_,
                 reach = kappa > 0 ? far_reach_for(tolerance_of_each(how_)) / kappa : 0;
    SpreadField<T> field(tree_, fmm::ParityOrder(order), Strength::both, stream_, Gathering::wide,
                         {kappa, reach});
    const auto count = static_cast<std::int64_t>(points.size());
    DeviceBuffer<double> near(count, stream_), result(count, stream_);
    field.enqueue(
        {densities_.data(), nullptr, result.data(), nullptr}, 1,
        [&](const T* charges, const ExpansionsView<T>& expansions) {
          panel_p2m(*panels_, tree_, PanelKind::charges_and_dipoles, moments_, nullptr, nullptr,
                    field.table(), charges, expansions, field.kernel(), stream_);
        },
        [&](const unsigned long long* largest) {
          return enqueue_near(largest, kappa, near.data());
        },
        [](const char*) {});
    copy_to_host(result.data(), result.size(), potential, stream_);
    stream_.wait();
  }

 private:
  /// Beside the far field.
  NearPart enqueue_near(const unsigned long long* largest, double kappa, double* out) {
    FMBEM_CUDA(cudaEventRecord(fork_, stream_));
    FMBEM_CUDA(cudaStreamWaitEvent(near_stream_, fork_));
    near_potentials({near_tiles_of(*panels_, tree_, extent_), densities_.data(), panels_->size(),
                     largest, kappa, negligible_beyond(how_.tolerance, kappa), rules_.view(),
                     rules_at_points(rules_.view()), CloseRules(how_.tolerance), out},
                    near_stream_);
    FMBEM_CUDA(cudaEventRecord(join_, near_stream_));
    return {NearView{out}, join_};
  }

  PotentialAtPoints how_;
  Vec3d origin_;
  double extent_, scale_ = 1;
  Stream stream_{true}, near_stream_;
  std::shared_ptr<const PanelStore> panels_;
  DeviceBuffer<double> densities_;  ///< σ, and μ times scale_
  MomentRules moments_, rules_;
  SpreadTree tree_;
  Event fork_, join_;
};

template <class T>
std::vector<double> potentials(const Panels& panels, const SurfaceDensities& densities,
                               std::span<const Vec3d> points, const PotentialAtPoints& how) {
  std::vector<double> result;
  resize_touched(result, points.size());
  PotentialEvaluation<T> evaluation(panels, densities, how);
  for (std::size_t first = 0; first < points.size(); first += how.points_at_once)
    evaluation.evaluate(points.subspan(first, std::min(how.points_at_once, points.size() - first)),
                        first, result.data() + first);
  return result;
}

}  // namespace

std::vector<double> layer_potential(const Panels& panels, const SurfaceDensities& densities,
                                    std::span<const Vec3d> points, const PotentialAtPoints& how) {
  for (const std::span<const double> of : {densities.sigma, densities.mu})
    fmm::check_evaluation(panels.size(), 0, {.charges = of}, {});
  fmm::check_point_count(points.size(), "point");
  require_cuda_device();
  keep_freed_memory();
  const bool single =
      far_precision_for(far_tolerance(how), Trace::normal) == Precision::single_precision;
  return with_advice(true, [&] {
    return single ? potentials<float>(panels, densities, points, how)
                  : potentials<double>(panels, densities, points, how);
  });
}

}  // namespace fmbem::cuda::bem
