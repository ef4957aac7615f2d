#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "fmbem/cuda/choose.cuh"
#include "fmbem/cuda/device.hpp"
#include "fmbem/cuda/far_stages.cuh"
#include "fmbem/cuda/fmm_plan.hpp"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/lists.cuh"
#include "fmbem/cuda/stage_times.cuh"
#include "fmbem/cuda/strengths.cuh"
#include "fmbem/fmm/base/stopwatch.hpp"
#include "fmbem/fmm/check.hpp"
#include "fmbem/fmm/choice/choose.hpp"
#include "fmbem/fmm/kernel/laplace.hpp"
#include "fmbem/fmm/plan_data.hpp"
#include "fmbem/fmm/plan_impl.hpp"
#include "fmbem/fmm/tree/morton.hpp"

namespace fmbem::cuda {
namespace {

/// What an evaluation is made of; a graph is captured for each kind.
struct Kind {
  int vectors;
  bool charges, dipoles, potential, gradient;
  friend bool operator<(const Kind& a, const Kind& b) {
    return std::tie(a.vectors, a.charges, a.dipoles, a.potential, a.gradient) <
           std::tie(b.vectors, b.charges, b.dipoles, b.potential, b.gradient);
  }
};

/// An executable CUDA graph.
class Graph {
 public:
  Graph(cudaStream_t stream, auto&& put) {
    FMBEM_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    cudaGraph_t graph = nullptr;
    try {
      put();
    } catch (...) {
      cudaStreamEndCapture(stream, &graph);
      if (graph) cudaGraphDestroy(graph);
      cudaGetLastError();
      throw;
    }
    FMBEM_CUDA(cudaStreamEndCapture(stream, &graph));
    // Kernels of urgent streams go first here, too.
    const cudaError_t error =
        cudaGraphInstantiate(&executable_, graph, cudaGraphInstantiateFlagUseNodePriority);
    cudaGraphDestroy(graph);
    FMBEM_CUDA(error);
  }
  ~Graph() {
    if (executable_) cudaGraphExecDestroy(executable_);
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  void run(cudaStream_t stream) const { FMBEM_CUDA(cudaGraphLaunch(executable_, stream)); }

 private:
  cudaGraphExec_t executable_ = nullptr;
};

/// Points of one kind on the device.
template <class N>
struct PlacedPoints {
  DeviceBuffer<std::int32_t> order;
  DeviceBuffer<N> x, y, z;
  DeviceBuffer<float> low_x, low_y, low_z;
  DeviceBuffer<double> exact_x, exact_y, exact_z;

  PointsView<N> view() const {
    return {static_cast<std::int64_t>(order.size()),
            order.data(),
            x.data(),
            y.data(),
            z.data(),
            low_x.data(),
            low_y.data(),
            low_z.data(),
            exact_x.data(),
            exact_y.data(),
            exact_z.data()};
  }
  std::int64_t bytes() const {
    return order.bytes() + 3 * (x.bytes() + low_x.bytes() + exact_x.bytes());
  }
};

/// What a plan is for, beside its precisions.
struct Frame {
  double unit;
  bool same;  ///< whether the sources are the targets
  int root_terms;
  bool rough_products;
};

/// Evaluations in the precisions of a plan.
class Evaluation {
 public:
  virtual ~Evaluation() = default;
  virtual void evaluate(const DeviceStrengths& strengths, const DeviceFields& fields) = 0;
  virtual fmm::Seconds evaluate_stages(const DeviceStrengths& strengths,
                                       const DeviceFields& fields) = 0;
  virtual std::int64_t bytes() const = 0;
  virtual std::int64_t operator_bytes() const = 0;
};

/// Expansions in T, near field in N.
template <class T, class N>
class EvaluationIn final : public Evaluation {
 public:
  EvaluationIn(const Frame& frame, const fmm::ParityOrder& order, const DeviceTree& tree,
               const FarLists& far, const NearDeviceLists& near, DevicePoints sources,
               SortedKeys source_keys, DevicePoints targets, SortedKeys target_keys,
               const Stream& stream)
      : frame_(frame),
        tree_(tree),
        far_(far),
        near_(near),
        stream_(stream),
        stages_(order, tree, far, frame.rough_products, stream),
        arguments_(1, stream),
        largest_(most_vectors, stream) {
    sources_.order = std::move(source_keys.order);
    targets_.order = std::move(target_keys.order);
    place(sources, sources_, sources, true);
    if (!frame.same) place(targets, targets_, sources, false);
  }

  std::int64_t operator_bytes() const override { return stages_.operator_bytes(); }
  std::int64_t bytes() const override {
    std::int64_t sum = sources_.bytes() + targets_.bytes() + stages_.bytes() + places_.bytes() +
                       dipoles_.bytes() + near_potential_.bytes();
    for (const auto& axis : near_gradient_) sum += axis.bytes();
    return sum;
  }

  void evaluate(const DeviceStrengths& strengths, const DeviceFields& fields) override {
    for_batches(strengths, fields, [&](const Kind& kind) {
      std::unique_ptr<Graph>& graph = graphs_[kind];
      if (graph) return graph->run(stream_);
      // The first time as it is, so that what is loaded on first use is not loaded in a capture.
      put(kind, nullptr);
      graph = std::make_unique<Graph>(stream_, [&] { put(kind, nullptr); });
    });
  }

  fmm::Seconds evaluate_stages(const DeviceStrengths& strengths,
                               const DeviceFields& fields) override {
    fmm::Seconds all;
    for_batches(strengths, fields, [&](const Kind& kind) {
      StageTimes times(stream_);
      times.start();
      put(kind, &times);
      for (const auto& [stage, seconds] : times.seconds()) all[stage] += seconds;
    });
    return all;
  }

 private:
  const PlacedPoints<N>& targets() const { return frame_.same ? sources_ : targets_; }

  void place(DevicePoints points, PlacedPoints<N>& placed, DevicePoints sources, bool are_sources) {
    const std::size_t n = points.size;
    for (auto* axis : {&placed.x, &placed.y, &placed.z}) *axis = DeviceBuffer<N>(n, stream_);
    if constexpr (sizeof(N) == 4) {
      for (auto* axis : {&placed.low_x, &placed.low_y, &placed.low_z})
        *axis = DeviceBuffer<float>(n, stream_);
      for (auto* axis : {&placed.exact_x, &placed.exact_y, &placed.exact_z})
        *axis = DeviceBuffer<double>(n, stream_);
    }
    const DeviceBuffer<std::int32_t>& leaves = are_sources ? far_.source_boxes : far_.target_leaves;
    place_points(
        points.data, placed.order.data(), sources.data, sources_.order.data(), frame_.unit,
        tree_.root, tree_.view(), are_sources, leaves.data(),
        static_cast<std::int64_t>(leaves.size()),
        PointArrays<N>{placed.x.data(), placed.y.data(), placed.z.data(), placed.low_x.data(),
                       placed.low_y.data(), placed.low_z.data(), placed.exact_x.data(),
                       placed.exact_y.data(), placed.exact_z.data()},
        stream_);
  }

  /// Calls evaluate(kind) with the arguments set, for as many right-hand sides as fit at a time.
  void for_batches(const DeviceStrengths& strengths, const DeviceFields& fields, auto&& evaluate) {
    const int batch = stages_.batch(strengths.count);
    for (int first = 0; first < strengths.count; first += batch) {
      const std::int64_t s = first * sources_.view().count, t = first * targets().view().count;
      const Kind kind{std::min(batch, strengths.count - first), strengths.charges != nullptr,
                      strengths.dipoles != nullptr, fields.potential != nullptr,
                      fields.gradient != nullptr};
      reserve(kind);
      set_arguments(arguments_.data(),
                    {kind.charges ? strengths.charges + s : nullptr,
                     kind.dipoles ? strengths.dipoles + s : nullptr,
                     kind.potential ? fields.potential + t : nullptr,
                     kind.gradient ? fields.gradient + t : nullptr},
                    stream_);
      evaluate(kind);
    }
  }

  /// Makes room; graphs that know the old one are given up.
  void reserve(const Kind& kind) {
    const auto make_room = [&](auto& buffer, std::int64_t size) {
      if (grow(buffer, size, stream_)) graphs_.clear();
    };
    const std::int64_t s = kind.vectors * sources_.view().count,
                       t = kind.vectors * targets().view().count;
    make_room(places_, s);
    if (kind.dipoles) make_room(dipoles_, s);
    if (kind.gradient)
      for (auto& axis : near_gradient_) make_room(axis, t);
    if (kind.potential) make_room(near_potential_, t);
    stages_.reserve(kind.vectors, make_room);
  }

  /// Puts all stages into the stream: with times one after the other, without them the near field
  /// beside the far one.
  void put(const Kind& kind, StageTimes* times) {
    const auto done = [&](const char* stage) {
      if (times) times->record(stage);
    };
    const std::int64_t n = sources_.view().count;
    ChargedPoint<N>* const dipoles = kind.dipoles ? dipoles_.data() : nullptr;
    const StrengthsView<N> strengths{places_.data(), kind.charges, dipoles};
    find_largest(arguments_.data(), n, kind.vectors, kind.charges, kind.dipoles, frame_.unit,
                 largest_.data(), stream_);
    sort_strengths(arguments_.data(), sources_.view(), kind.vectors, frame_.unit, largest_.data(),
                   kind.charges, places_.data(), dipoles, stream_);
    done("sort");

    const NearView near{kind.potential ? near_potential_.data() : nullptr,
                        {kind.gradient ? near_gradient_[0].data() : nullptr,
                         kind.gradient ? near_gradient_[1].data() : nullptr,
                         kind.gradient ? near_gradient_[2].data() : nullptr}};
    const TreeView tree = tree_.view();
    const auto put_near = [&](const auto& stream_of_class) {
      std::array<cudaStream_t, most_targets_of_a_lane> streams;
      for (int k = 0; k < most_targets_of_a_lane; ++k) streams[k] = stream_of_class(k);
      p2p(sources_.view(), targets().view(), strengths, kind.vectors, tree, tree_.root.side,
          far_.target_leaves.data(), near_.view(), near_.items.data(), near_.classes, frame_.same,
          frame_.root_terms, near, streams.data());
    };
    if (times) {
      put_near([&](int) -> cudaStream_t { return stream_; });
      done("P2P");
    } else {
      FMBEM_CUDA(cudaEventRecord(fork_, stream_));
      for (const Stream& stream : near_streams_) FMBEM_CUDA(cudaStreamWaitEvent(stream, fork_, 0));
      put_near([&](int k) -> cudaStream_t { return near_streams_[k]; });
    }
    const ExpansionsView<T> expansions = stages_.expansions(kind.vectors);
    if (stages_.has_far()) {
      p2m(n, strengths, tree, tree_.root, far_.source_boxes.data(),
          static_cast<std::int64_t>(far_.source_boxes.size()), stages_.table(), expansions,
          stream_);
      done("P2M");
      stages_.put(kind.vectors, done);
    }
    if (!times) {
      for (std::size_t k = 0; k < near_streams_.size(); ++k) {
        FMBEM_CUDA(cudaEventRecord(joins_[k], near_streams_[k]));
        FMBEM_CUDA(cudaStreamWaitEvent(stream_, joins_[k], 0));
      }
    }
    l2p(targets().view(), near, tree, tree_.root, far_.target_leaves.data(),
        static_cast<std::int64_t>(far_.target_leaves.size()), stages_.has_far(), stages_.table(),
        expansions,
        ResultsView{arguments_.data(), kind.potential, kind.gradient, largest_.data(),
                    fmm::Laplace::scale * frame_.unit,
                    fmm::Laplace::scale * frame_.unit * frame_.unit},
        stream_);
    done("L2P");
  }

  Frame frame_;
  const DeviceTree& tree_;
  const FarLists& far_;
  const NearDeviceLists& near_;
  const Stream& stream_;
  /// The far field's kernels depend on each other; the near field fills the gaps.
  std::array<Stream, most_targets_of_a_lane> near_streams_;
  Event fork_;
  std::array<Event, most_targets_of_a_lane> joins_;
  FarStages<T> stages_;
  PlacedPoints<N> sources_, targets_;
  DeviceBuffer<Arguments> arguments_;
  DeviceBuffer<unsigned long long> largest_;
  DeviceBuffer<ChargedPoint<N>> places_, dipoles_;
  DeviceBuffer<double> near_potential_, near_gradient_[3];
  std::map<Kind, std::unique_ptr<Graph>> graphs_;
};

void check_points(const Bounds& bounds, DevicePoints points, const char* what) {
  FMBEM_REQUIRE(bounds.first_bad == static_cast<std::int64_t>(points.size),
                what << " " << bounds.first_bad << " is not at a finite position (counted from 0)");
}

}  // namespace

struct FmmPlan::Impl {
  fmm::PlanOptions options;
  DevicePoints sources, targets;  ///< their data are not looked at after construction
  fmm::ParityOrder order;
  Precision precision = Precision::double_precision;
  DeviceChoice choice{};
  fmm::Seconds plan_seconds;
  Stream stream{true};
  DeviceTree tree;
  FarLists far;
  NearDeviceLists near;
  std::unique_ptr<Evaluation> evaluation;

  Impl(DevicePoints from, DevicePoints to, const fmm::PlanOptions& asked)
      : options(asked), sources(from), targets(to), order(0) {
    keep_freed_memory();
    fmm::check_options(options);
    fmm::check_point_count(sources.size, "source");
    fmm::check_point_count(targets.size, "target");
    const bool same = sources.data == targets.data && sources.size == targets.size;
    fmm::Stopwatch watch(plan_seconds);
    const auto stage_done = [&](const char* stage) {
      stream.wait();
      watch.add(stage);
    };
    Bounds bounds = bounds_of(sources.data, count(sources), stream);
    check_points(bounds, sources, "source");
    if (!same) {
      const Bounds others = bounds_of(targets.data, count(targets), stream);
      check_points(others, targets, "target");
      for (int axis = 0; axis < 3; ++axis) {
        bounds.low[axis] = std::min(bounds.low[axis], others.low[axis]);
        bounds.high[axis] = std::max(bounds.high[axis], others.high[axis]);
      }
    }
    const Cube hull = bounding_cube(bounds.low, bounds.high);
    const double unit = fmm::unit_for(hull);
    const Cube scaled{unit * hull.corner, unit * hull.side};
    const DeviceRates rates = device_rates();
    order = fmm::ParityOrder(fmm::order_for(options, same));
    precision = precision_for(options, rates);

    // Sorted for the root that is tried first, which most often is the one chosen.
    const bool by_targets = targets.size > sources.size;
    const DevicePoints most = by_targets ? targets : sources;
    double inflation = options.inflation.value_or(fmm::inflations[0]);
    SortedKeys keys = sort_points(most.data, count(most), unit, fmm::inflated(scaled, inflation),
                                  nullptr, stream);
    choice = choose_tree(options, order.p, rates,
                         {most.data, keys.order.data(), count(most), unit, scaled}, count(sources),
                         count(targets), {}, stream);
    stage_done("choose");
    const Cube root = fmm::inflated(scaled, choice.inflation);
    if (choice.inflation != inflation)
      keys = sort_points(most.data, count(most), unit, root, nullptr, stream);
    SortedKeys source_keys, target_keys;
    (by_targets ? target_keys : source_keys) = std::move(keys);
    if (by_targets)
      source_keys = sort_points(sources.data, count(sources), unit, root, nullptr, stream);
    else if (!same)
      target_keys = sort_points(targets.data, count(targets), unit, root, nullptr, stream);
    stage_done("sort");

    const SortedKeys* const other = same ? nullptr : &target_keys;
    tree = build_tree(root, source_keys, other, choice.max_leaf, stream);
    stage_done("tree");
    far = make_far_lists(tree, stream);
    const DeviceBuffer<std::uint8_t> one_place = find_one_places(
        tree, sources.data, source_keys, targets.data, same ? source_keys : target_keys, stream);
    const bool near_single = near_precision_for(options, rates) == Precision::single_precision;
    const int of_a_warp = targets_of_a_warp(near_single, options.gradient, count(targets));
    near = make_near_lists(tree, far.target_leaves, one_place, of_a_warp, stream);
    stage_done("lists");
    source_keys.keys = {};
    target_keys.keys = {};

    const Frame frame{.unit = unit,
                      .same = same,
                      .root_terms = options.tolerance >= 1e-10 ? 1 : 2,
                      .rough_products = options.tolerance >= 1e-3};
    const auto make = [&]<class T, class N>(T, N) {
      evaluation = std::make_unique<EvaluationIn<T, N>>(frame, order, tree, far, near, sources,
                                                        std::move(source_keys), targets,
                                                        std::move(target_keys), stream);
    };
    if (precision == Precision::single_precision)
      near_single ? make(float{}, float{}) : make(float{}, double{});
    else
      near_single ? make(double{}, float{}) : make(double{}, double{});
    stage_done("operators");
  }

  /// Operators that other plans share are not freed in the order of this one's stream.
  ~Impl() { cudaStreamSynchronize(stream); }

  static std::int64_t count(DevicePoints points) { return static_cast<std::int64_t>(points.size); }

  void check(const DeviceStrengths& strengths, const DeviceFields& fields) const {
    FMBEM_REQUIRE(strengths.count >= 1,
                  "there must be at least one right-hand side, not " << strengths.count);
    FMBEM_REQUIRE(!strengths.dipoles || options.dipoles,
                  "the plan was not made for dipoles: set PlanOptions::dipoles");
    FMBEM_REQUIRE(!fields.gradient || options.gradient,
                  "the plan was not made for gradients: set PlanOptions::gradient");
    FMBEM_REQUIRE(strengths.charges || strengths.dipoles, "there are no strengths to evaluate");
    FMBEM_REQUIRE(fields.potential || fields.gradient, "there are no results to write");
  }

  std::int64_t bytes() const {
    return tree.bytes() + far.bytes() + near.bytes() + evaluation->bytes();
  }
};

FmmPlan::FmmPlan(DevicePoints sources, DevicePoints targets, const fmm::PlanOptions& options) {
  require_cuda_device();
  impl_ = std::make_unique<Impl>(sources, targets, options);
}
FmmPlan::~FmmPlan() = default;
FmmPlan::FmmPlan(FmmPlan&&) noexcept = default;
FmmPlan& FmmPlan::operator=(FmmPlan&&) noexcept = default;

std::size_t FmmPlan::sources() const { return impl_->sources.size; }
std::size_t FmmPlan::targets() const { return impl_->targets.size; }
CUstream_st* FmmPlan::stream() const { return impl_->stream; }
void FmmPlan::wait() const { impl_->stream.wait(); }

void FmmPlan::evaluate(const DeviceStrengths& strengths, const DeviceFields& fields) {
  impl_->check(strengths, fields);
  impl_->evaluation->evaluate(strengths, fields);
}

fmm::Seconds FmmPlan::evaluate_stages(const DeviceStrengths& strengths,
                                      const DeviceFields& fields) {
  impl_->check(strengths, fields);
  return impl_->evaluation->evaluate_stages(strengths, fields);
}

fmm::PlanInfo FmmPlan::info() const {
  const Impl& plan = *impl_;
  return {plan.order.p,
          plan.precision,
          plan.tree.levels(),
          plan.choice.max_leaf,
          plan.choice.inflation,
          plan.tree.boxes,
          plan.tree.boxes - plan.tree.splits,
          plan.near.pairs,
          static_cast<std::int64_t>(plan.far.parents.size()) * (fmm::orbits - 1),
          plan.bytes(),
          plan.evaluation->operator_bytes()};
}

fmm::Seconds FmmPlan::plan_seconds() const { return impl_->plan_seconds; }

std::int64_t FmmPlan::device_bytes() const {
  return impl_->bytes() + impl_->evaluation->operator_bytes();
}

// ---- With points, strengths and results in the host's memory

namespace {

class HostPlan final : public fmm::PlanImpl {
 public:
  HostPlan(std::span<const Vec3d> sources, std::span<const Vec3d> targets, bool same,
           const fmm::PlanOptions& asked) {
    options = asked;
    require_cuda_device();
    keep_freed_memory();
    fmm::Stopwatch watch(plan_seconds);
    DeviceBuffer<Vec3d> y = to_device(sources, nullptr), x;
    if (!same) x = to_device(targets, nullptr);
    FMBEM_CUDA(cudaStreamSynchronize(nullptr));
    watch.add("copy");
    const DevicePoints from{y.data(), y.size()};
    plan_.emplace(from, same ? from : DevicePoints{x.data(), x.size()}, options);
    plan_->wait();
    for (const auto& [stage, seconds] : plan_->plan_seconds()) plan_seconds[stage] += seconds;
  }

  std::size_t sources() const override { return plan_->sources(); }
  std::size_t targets() const override { return plan_->targets(); }
  fmm::PlanInfo info() const override { return plan_->info(); }

  void evaluate(const fmm::Strengths& strengths, const fmm::Fields& fields) override {
    fmm::Stopwatch watch(evaluate_seconds);
    const cudaStream_t stream = plan_->stream();
    const auto charges = to_device(strengths.charges, stream);
    const auto dipoles = to_device(strengths.dipoles, stream);
    DeviceBuffer<double> potential(fields.potential.size(), stream);
    DeviceBuffer<Vec3d> gradient(fields.gradient.size(), stream);
    plan_->wait();
    watch.add("copy");
    plan_->evaluate({charges.data(), dipoles.data(), strengths.count},
                    {potential.data(), gradient.data()});
    plan_->wait();
    watch.add("evaluate");
    potential.download(fields.potential.data());
    gradient.download(fields.gradient.data());
    plan_->wait();
    watch.add("copy");
  }

 private:
  std::optional<FmmPlan> plan_;
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
