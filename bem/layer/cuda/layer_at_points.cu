#include <algorithm>
#include <memory>
#include <optional>

#include "fmbem/bem/geometry/cuda/memory_advice.cuh"
#include "fmbem/bem/layer/cuda/layer_at_points.hpp"
#include "fmbem/bem/layer/cuda/tree_at_points.cuh"
#include "fmbem/bem/layer/far_choice.hpp"
#include "fmbem/bem/near/cuda/near_at_points.cuh"
#include "fmbem/bem/space/cuda/panel_far_field.cuh"
#include "fmbem/bem/space/cuda/panel_stages.cuh"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/device.hpp"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/spread_field.cuh"
#include "fmbem/cuda/staging.cuh"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/stopwatch.hpp"
#include "fmbem/fmm/base/touched.hpp"
#include "fmbem/fmm/check.hpp"
#include "fmbem/fmm/choice/policy.hpp"

namespace fmbem::cuda::bem {
namespace {

/// What a near pair costs an H200.
double near_pair_seconds(const LayerAtPoints& how) {
  if (how.kappa > 0) return 3e-10;
  if (how.source == Trace::normal) return 1.5e-10;
  return how.gradient_of_e ? 4e-10 : 2e-10;
}
Precision precision_for(const LayerAtPoints& how) {
  return far_precision_at_points(how.tolerance, how.source, how.gradient_of_e);
}
/// Of pieces of slivers that are integrated by rules.
constexpr double sliver_tolerance = 1e-11;
/// Pairs of points and edges that there is room for at first.
constexpr std::size_t first_edges = 1 << 16;

template <class T>
__global__ void negate(std::int64_t n, T* values) {
  const std::int64_t i = thread_index();
  if (i < n) values[i] = -1.0 * values[i];
}

/// Densities on panels, and their fields with expansions in T.
template <class T>
class LayerEvaluation {
 public:
  LayerEvaluation(const Panels& panels, std::span<const double> density, const LayerAtPoints& how,
                  fmm::Stopwatch& watch)
      : how_(how),
        watch_(watch),
        origin_(panels.origin),
        reach_(panels.extent + norm(panels.origin)),
        panels_(store_of(panels, stream_)),
        density_(density.size(), stream_),
        moments_(how.tolerance, {how.source, how.kappa}, stream_),
        near_rules_(near_tolerance(),
                    how.gradient_of_e || how.source == Trace::normal ? fmbem::FarKernel::hessian
                                                                     : fmbem::FarKernel::gradient,
                    how.kappa, stream_),
        edges_(first_edges, stream_),
        edge_count_(1, stream_) {
    copy_to_device(density.data(), density.size(), density_.data(), stream_);
    watch_.add("panels");
  }

  /// Enqueues the fields of points, of which `before` are done, and returns when all is in the
  /// stream.
  void enqueue(std::span<const Vec3d> points, std::size_t before) {
    const auto n = static_cast<std::int64_t>(points.size());
    release();
    const bool charges = how_.source == Trace::value;
    tree_ = grow_tree_at_points(*panels_, {points, origin_, before},
                                {.order = order(),
                                 .precision = precision_for(how_),
                                 .overhang = charges ? panel_overhang : dipole_overhang,
                                 .near_pair_seconds = near_pair_seconds(how_)},
                                stream_);
    stream_.wait();
    watch_.add("tree");
    field_.emplace(
        tree_, fmm::ParityOrder(order()), charges ? Strength::charge : Strength::dipole, stream_,
        Gathering::wide,
        PlanKernel{fmm::kernel_kappa(how_.kappa, tree_.scale),
                   fmm::kernel_reach(how_.kappa, far_reach_for(how_.tolerance), tree_.scale)});
    stream_.wait();
    watch_.add("operators");
    near_potential_ = DeviceBuffer<double>(n, stream_);
    for (auto& axis : near_gradient_) axis = DeviceBuffer<double>(n, stream_);
    potential_ = DeviceBuffer<double>(n, stream_);
    e_ = DeviceBuffer<Vec3d>(n, stream_);
    if (how_.gradient_of_e) {
      for (auto& entry : near_hessian_) entry = DeviceBuffer<double>(n, stream_);
      hessian_ = DeviceBuffer<Symmetric3d>(n, stream_);
    }
    enqueue_field();
  }

  /// Waits for what was enqueued and copies it to the field, from point number `first` on.
  void fetch(Field& field, std::size_t first, std::vector<PointOnPanel>& edges) {
    auto found = download_one(edge_count_.data(), stream_);
    if (found > edges_.size()) {
      edges_ = DeviceBuffer<PointOnPanel>(found, stream_);
      enqueue_field();
      found = download_one(edge_count_.data(), stream_);
    }
    watch_.add("field");
    edges.resize(found);
    copy_to_host(edges_.data(), edges.size(), edges.data(), stream_);
    copy_to_host(potential_.data(), potential_.size(), field.potential.data() + first, stream_);
    copy_to_host(e_.data(), e_.size(), field.e.data() + first, stream_);
    if (how_.gradient_of_e)
      copy_to_host(hessian_.data(), hessian_.size(), field.gradient_of_e.data() + first, stream_);
    watch_.add("copy");
  }

  /// Of the field that was enqueued last, which is evaluated again.
  LayerAtPointsInfo info() {
    times_ =
        std::make_unique<ProductTimes>(ProductTimes{StageTimes(stream_), StageTimes(near_stream_)});
    times_->restart();
    enqueue_field();
    stream_.wait();
    LayerAtPointsInfo info{order(), tree_.tree.levels(), tree_.max_leaf, tree_.near.pairs,
                           times_->seconds()};
    times_.reset();
    return info;
  }

 private:
  /// The relative error of rules.
  double near_tolerance() const { return how_.kappa > 0 ? how_.entries : sliver_tolerance; }
  int order() const { return far_order_for(how_.tolerance, how_.source); }

  void release() {
    field_.reset();
    tree_ = {};
    near_potential_ = {};
    for (auto& axis : near_gradient_) axis = {};
    for (auto& entry : near_hessian_) entry = {};
    potential_ = {};
    e_ = {};
    hessian_ = {};
  }

  void enqueue_field() {
    edge_count_.fill_bytes(0);
    field_->enqueue(
        {density_.data(), nullptr, potential_.data(), e_.data(), hessian_.data()}, 1,
        [&](const T* charges, const ExpansionsView<T>& expansions) {
          panel_p2m(*panels_, tree_,
                    how_.source == Trace::value ? PanelKind::whole : PanelKind::dipoles, moments_,
                    nullptr, nullptr, field_->table(), charges, expansions, field_->kernel(),
                    stream_);
        },
        [&](const unsigned long long* largest) { return enqueue_near(largest); },
        [&](const char* stage) {
          if (times_) times_->far.record(stage);
        });
    const auto n = static_cast<std::int64_t>(e_.size());
    launch(negate<Vec3d>, blocks_for(n), threads_per_block, 0, stream_, n, e_.data());
    if (how_.gradient_of_e)
      launch(negate<Symmetric3d>, blocks_for(n), threads_per_block, 0, stream_, n, hessian_.data());
  }

  /// Beside the far field.
  NearPart enqueue_near(const unsigned long long* largest) {
    FMBEM_CUDA(cudaEventRecord(fork_, stream_));
    FMBEM_CUDA(cudaStreamWaitEvent(near_stream_, fork_));
    if (times_) times_->near.start();
    NearView out{near_potential_.data()};
    for (int axis = 0; axis < 3; ++axis) out.gradient[axis] = near_gradient_[axis].data();
    for (int entry = 0; entry < 6; ++entry) out.hessian[entry] = near_hessian_[entry].data();
    const double kappa = how_.kappa / tree_.scale;
    near_at_points({near_tiles_of(*panels_, tree_, reach_),
                    density_.data(),
                    largest,
                    how_.side,
                    out,
                    {edges_.data(), edges_.size(), edge_count_.data()},
                    near_rules_.view(),
                    kappa,
                    negligible_beyond(near_tolerance(), kappa),
                    rules_at_points(near_rules_.view()),
                    CloseRules(near_tolerance())},
                   how_.source, near_stream_);
    if (times_) times_->near.record("near field");
    FMBEM_CUDA(cudaEventRecord(join_, near_stream_));
    return {out, join_};
  }

  LayerAtPoints how_;
  fmm::Stopwatch& watch_;
  Vec3d origin_;
  double reach_;
  Stream stream_{true}, near_stream_;
  std::shared_ptr<const PanelStore> panels_;
  DeviceBuffer<double> density_;
  MomentRules moments_, near_rules_;
  DeviceBuffer<PointOnPanel> edges_;
  DeviceBuffer<unsigned long long> edge_count_;
  SpreadTree tree_;
  std::optional<SpreadField<T>> field_;
  DeviceBuffer<double> near_potential_, near_gradient_[3], near_hessian_[6], potential_;
  DeviceBuffer<Vec3d> e_;
  DeviceBuffer<Symmetric3d> hessian_;
  std::unique_ptr<ProductTimes> times_;
  Event fork_, join_;
};

template <class T>
std::vector<PointOnPanel> set_field(const Panels& panels, std::span<const double> density,
                                    std::span<const Vec3d> points, const LayerAtPoints& how,
                                    Field& field, LayerAtPointsInfo* info) {
  fmm::Seconds seconds;
  fmm::Stopwatch watch(seconds);
  LayerEvaluation<T> evaluation(panels, density, how, watch);
  std::vector<PointOnPanel> all, some;
  for (std::size_t first = 0; first < points.size(); first += how.points_at_once) {
    const std::size_t count = std::min(how.points_at_once, points.size() - first);
    evaluation.enqueue(points.subspan(first, count), first);
    if (first == 0) {  // while the GPU works
      resize_touched(field.potential, points.size());
      resize_touched(field.e, points.size());
      if (how.gradient_of_e) resize_touched(field.gradient_of_e, points.size());
    }
    evaluation.fetch(field, first, some);
    for (const PointOnPanel& pair : some)
      all.push_back({pair.point + static_cast<std::int32_t>(first), pair.panel});
  }
  std::sort(all.begin(), all.end(), [](const PointOnPanel& a, const PointOnPanel& b) {
    return a.point != b.point ? a.point < b.point : a.panel < b.panel;
  });
  if (info) {
    *info = evaluation.info();
    info->seconds.merge(seconds);
  }
  return all;
}

}  // namespace

std::vector<PointOnPanel> set_layer_field(const Panels& panels, std::span<const double> density,
                                          std::span<const Vec3d> points, const LayerAtPoints& how,
                                          Field& field, LayerAtPointsInfo* info) {
  fmm::check_evaluation(panels.size(), 0, {.charges = density}, {});
  fmm::check_point_count(points.size(), "point");
  require_cuda_device();
  keep_freed_memory();
  const bool single = precision_for(how) == Precision::single_precision;
  return with_advice(true, [&] {
    return single ? set_field<float>(panels, density, points, how, field, info)
                  : set_field<double>(panels, density, points, how, field, info);
  });
}

}  // namespace fmbem::cuda::bem
