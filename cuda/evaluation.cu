#include <algorithm>
#include <array>
#include <map>

#include "fmbem/cuda/batches.cuh"
#include "fmbem/cuda/far_stages.cuh"
#include "fmbem/cuda/graph.cuh"
#include "fmbem/cuda/monomials.cuh"
#include "fmbem/cuda/p2p_mutual.cuh"
#include "fmbem/cuda/placed_points.cuh"
#include "fmbem/cuda/stage_times.cuh"
#include "fmbem/fmm/kernel/laplace.hpp"

namespace fmbem::cuda {
namespace {

/// The streams of the near field, one for each number of targets a lane.
using NearStreams = std::array<cudaStream_t, most_targets_of_a_lane>;

/// Expansions in T, near field in N. Second derivatives come with N double alone.
template <class T, class N>
class EvaluationIn final : public Evaluation {
 public:
  EvaluationIn(const PlanTree& tree, PlanPoints points, const fmm::ParityOrder& order,
               const EvaluationOptions& options, const Stream& stream)
      : tree_(tree),
        root_terms_(options.root_terms),
        third_law_(options.third_law),
        targets_of_a_warp_(options.targets_of_a_warp),
        stream_(stream),
        order_(order),
        stages_(order, tree.tree, stream, Gathering::wide, options.kernel),
        arguments_(1, stream),
        largest_(most_vectors, stream) {
    if (tree.hybrid && options.expansion == fmm::Expansion::cartesian)
      monomials_ = std::make_unique<MonomialRows<T>>(order, stream);
    place(points);
  }

  bool renew(PlanPoints& points, const PlanKernel& kernel) override {
    graphs_.clear();  // which hold addresses of the old tree
    stages_.renew(kernel);
    place(points);
    return true;
  }

  PlanOrder order() const override { return {sources_.order.data(), targets_.order.data()}; }
  std::int64_t operator_bytes() const override {
    return stages_.operator_bytes() + (displaced_ ? displaced_->operator_bytes() : 0);
  }
  std::int64_t bytes() const override {
    std::int64_t sum = sources_.bytes() + targets_.bytes() + stages_.bytes() + places_.bytes() +
                       dipoles_.bytes() + near_potential_.bytes() + mutual_.bytes() +
                       slots_.bytes() + (monomials_ ? monomials_->bytes() : 0) +
                       (displaced_ ? displaced_->bytes() : 0);
    for (const auto& axis : near_gradient_) sum += axis.bytes();
    for (const auto& entry : near_hessian_) sum += entry.bytes();
    return sum;
  }

  void evaluate(const DeviceStrengths& strengths, const DeviceFields& fields) override {
    for_kinds(strengths, fields, [&](const Asked& kind) {
      // The first evaluation of a kind runs without a graph: what CUDA loads on first use must not
      // be loaded during a capture, and of points that move there may be no second.
      const auto [at, is_first] = graphs_.try_emplace(kind);
      std::unique_ptr<Graph>& graph = at->second;
      if (!is_first && !graph) graph = Graph::capture(stream_, [&] { enqueue(kind, nullptr); });
      if (graph)
        graph->run(stream_);
      else
        std::apply(
            [&](const auto&... near) {
              ended_if_it_throws([&] { enqueue(kind, nullptr); }, near...);
            },
            near_streams_);
    });
  }

  fmm::Seconds evaluate_stages(const DeviceStrengths& strengths,
                               const DeviceFields& fields) override {
    fmm::Seconds all;
    for_kinds(strengths, fields, [&](const Asked& kind) {
      StageTimes times(stream_);
      times.start();
      enqueue(kind, &times);
      for (const auto& [stage, seconds] : times.seconds()) all[stage] += seconds;
    });
    return all;
  }

 private:
  const PlacedPoints<N>& targets() const { return tree_.same ? sources_ : targets_; }

  void place(PlanPoints& points) {
    sources_.order = std::move(points.source_order);
    targets_.order = std::move(points.target_order);
    place(points, true);
    if (!tree_.same) place(points, false);
    displaced_.reset();
    if (tree_.hybrid && tree_.hybrid->m2l_pairs > 0)
      displaced_ = std::make_unique<DisplacedM2l<T>>(tree_.hybrid->displaced, order_,
                                                     stages_.kernel().kappa, stream_);
    if (!third_law_) return;
    list_earlier_sums(tree_, sources_.view().count, targets_of_a_warp_, mutual_, stream_);
    if constexpr (sizeof(N) == 4) find_close_targets(tree_, sources_.view(), mutual_, stream_);
  }

  void place(const PlanPoints& points, bool are_sources) {
    PlacedPoints<N>& placed = are_sources ? sources_ : targets_;
    placed.make_room(stream_);
    const LeavesView leaves =
        leaves_of(tree_.tree, are_sources ? tree_.far.source_boxes : tree_.far.target_leaves);
    const PlacesInOrder from =
        points.gathered_sources.or_else({points.sources.data, sources_.order.data()});
    const PlacesInOrder these =
        are_sources ? from
                    : points.gathered_targets.or_else({points.targets.data, placed.order.data()});
    place_points(PointsToPlace{these.places, these.order, from.places, from.order, tree_.scale,
                               leaves.root, leaves.tree, are_sources, leaves.boxes, leaves.count},
                 placed.arrays(), stream_);
  }

  /// Calls evaluate(kind), with room made, for as many right-hand sides as fit at a time.
  void for_kinds(const DeviceStrengths& strengths, const DeviceFields& fields, auto&& evaluate) {
    for_batches({stages_.batch(strengths.count), sources_.view().count, targets().view().count,
                 arguments_.data(), stream_},
                strengths, fields, [&](const Asked& kind) {
                  reserve(kind);
                  evaluate(kind);
                });
  }

  /// Makes room. Graphs that hold addresses of the old room are discarded.
  void reserve(const Asked& kind) {
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
    if (kind.hessian)
      for (auto& entry : near_hessian_) make_room(entry, t);
    if (third_law_)
      make_room(slots_, mutual_results(kind.potential, kind.gradient) * tree_.near.slots);
    stages_.reserve(tree_.far.m2l, kind.vectors, make_room);
  }

  /// Enqueues all stages: with times one after the other, without them the near field beside the
  /// far one.
  void enqueue(const Asked& kind, StageTimes* times) {
    const auto done = [&](const char* stage) {
      if (times) times->record(stage);
    };
    const StrengthsView<N> strengths = enqueue_strengths(kind);
    done("sort");
    const NearView near = near_view(kind);
    NearStreams streams;
    if (times) {
      streams.fill(stream_);
      enqueue_near(strengths, kind, near, streams);
      done("P2P");
    } else {
      FMBEM_CUDA(cudaEventRecord(fork_, stream_));
      for (const Stream& stream : near_streams_) FMBEM_CUDA(cudaStreamWaitEvent(stream, fork_, 0));
      std::copy(near_streams_.begin(), near_streams_.end(), streams.begin());
      enqueue_near(strengths, kind, near, streams);
    }
    const ExpansionsView<T> expansions = stages_.expansions(kind.vectors);
    if (stages_.has_far()) {
      // Whether L2L adds to local expansions.
      const bool adds = tree_.hybrid && (tree_.hybrid->p2l_pairs > 0 || displaced_);
      if (tree_.hybrid) {
        stages_.clear_locals(kind.vectors, adds ? tree_.tree.levels() - 1 : 1);
        p2l(exact_places(sources_.view()), strengths, tree_.hybrid->p2l_view(), tree_.tree.view(),
            tree_.tree.root, stages_.table(), expansions, stages_.kernel(), stream_);
        done("P2L");
      }
      p2m(sources_.view().count, strengths, leaves_of(tree_.tree, tree_.far.source_boxes),
          stages_.table(), expansions, stages_.kernel(), stream_);
      done("P2M");
      stages_.enqueue_m2m(tree_.tree.view(), kind.vectors);
      done("M2M");
      if (displaced_) {
        displaced_->enqueue(stages_.classes(), expansions);
        done("M2L");
      }
      stages_.enqueue_m2l_and_l2l({tree_.tree.view(), tree_.far.m2l, adds}, kind.vectors, done);
    }
    if (!times) {
      for (std::size_t k = 0; k < near_streams_.size(); ++k) {
        FMBEM_CUDA(cudaEventRecord(joins_[k], near_streams_[k]));
        FMBEM_CUDA(cudaStreamWaitEvent(stream_, joins_[k], 0));
      }
    }
    if (tree_.hybrid) {
      const PointsView<double> to = exact_places(targets().view());
      const double kappa = stages_.kernel().kappa;
      const bool needs_raised = kappa > 0 && kind.gradient;
      if (needs_raised && !raised_) raised_ = std::make_unique<RaisedTable<T>>(order_, stream_);
      m2p(M2pArguments<T>{to, tree_.hybrid->m2p.view(), tree_.tree.view(), tree_.tree.root,
                          needs_raised ? raised_->view() : stages_.table(),
                          monomials_ ? monomials_->view() : RowsView<T>(), expansions, kappa, near},
          stream_);
      done("M2P");
      p2p_out_of_reach(FarPairsArguments<N>{exact_places(sources_.view()), to, strengths,
                                            kind.vectors, tree_.hybrid->p2p.view(),
                                            tree_.tree.view(), tree_.tree.root, kappa, near},
                       stream_);
      done("P2P");
    }
    enqueue_l2p(kind, near, expansions);
    done("L2P");
  }

  NearView near_view(const Asked& kind) const {
    NearView near;
    if (kind.potential) near.potential = near_potential_.data();
    for (int axis = 0; axis < 3 * kind.gradient; ++axis)
      near.gradient[axis] = near_gradient_[axis].data();
    for (int entry = 0; entry < 6 * kind.hessian; ++entry)
      near.hessian[entry] = near_hessian_[entry].data();
    return near;
  }

  void enqueue_l2p(const Asked& kind, const NearView& near, const ExpansionsView<T>& expansions) {
    const LeavesView leaves = leaves_of(tree_.tree, tree_.far.target_leaves);
    const double unit = tree_.scale, scale = fmm::Laplace::scale * unit;
    const ResultsView results{arguments_.data(),  kind.potential, kind.gradient,
                              largest_.data(),    scale,          fmm::Laplace::scale * unit * unit,
                              scale * unit * unit};
    if (kind.potential || kind.gradient)
      l2p(targets().view(), near, leaves, stages_.has_far(), stages_.table(), expansions,
          stages_.kernel(), results, stream_);
    if constexpr (sizeof(N) == 8)
      if (kind.hessian)
        l2p_hessian(targets().view(), near, leaves, stages_.has_far(), stages_.table(), expansions,
                    stages_.kernel(), results, stream_);
  }

  StrengthsView<N> enqueue_strengths(const Asked& kind) {
    ChargedPoint<N>* const dipoles = kind.dipoles ? dipoles_.data() : nullptr;
    find_largest(arguments_.data(), sources_.view().count, kind.vectors, kind.charges, kind.dipoles,
                 tree_.scale, largest_.data(), stream_);
    sort_strengths(arguments_.data(), sources_.view(), kind.vectors, tree_.scale, largest_.data(),
                   SortedStrengths<N>{kind.charges, places_.data(), dipoles}, stream_);
    return {places_.data(), kind.charges, dipoles};
  }

  void enqueue_near(const StrengthsView<N>& strengths, const Asked& kind, const NearView& near,
                    const NearStreams& streams) {
    const NearArguments<N> arguments{sources_.view(),
                                     targets().view(),
                                     strengths,
                                     tree_.tree.view(),
                                     tree_.tree.root.side,
                                     tree_.far.target_leaves.data(),
                                     tree_.near.view(),
                                     tree_.near.items.data(),
                                     tree_.same,
                                     near};
    fmm::with_kernel(stages_.kernel().kappa, [&](const auto& kernel) {
      const ItemClasses& classes = tree_.near.classes;
      const int vectors = kind.vectors;
      if constexpr (sizeof(N) == 8)
        if (kind.hessian) p2p_hessian(arguments, kernel, vectors, classes, streams.data());
      if (!kind.potential && !kind.gradient) return;
      if (third_law_)
        p2p_mutual(arguments,
                   MutualView{tree_.near.mutual.data(), tree_.near.slots, mutual_.earlier.data(),
                              mutual_.close.data(), mutual_.n_close},
                   slots_.data(), kernel, vectors, classes, root_terms_, streams.data(),
                   joins_.data());
      else
        p2p(arguments, kernel, vectors, classes, root_terms_, streams.data());
    });
  }

  const PlanTree& tree_;
  int root_terms_;
  bool third_law_;
  int targets_of_a_warp_;
  const Stream& stream_;
  /// The far field's kernels depend on each other; the near field fills the gaps.
  std::array<Stream, most_targets_of_a_lane> near_streams_;
  Event fork_;
  std::array<Event, most_targets_of_a_lane> joins_;
  fmm::ParityOrder order_;
  FarStages<T> stages_;
  std::unique_ptr<DisplacedM2l<T>> displaced_;  ///< of a hybrid with a small θ
  std::unique_ptr<MonomialRows<T>> monomials_;  ///< of one with Cartesian expansions
  std::unique_ptr<RaisedTable<T>> raised_;      ///< of one by Yukawa's kernel
  PlacedPoints<N> sources_, targets_;
  DeviceBuffer<Arguments> arguments_;
  DeviceBuffer<unsigned long long> largest_;
  DeviceBuffer<ChargedPoint<N>> places_, dipoles_;
  DeviceBuffer<double> near_potential_, near_gradient_[3], near_hessian_[6];
  MutualLists mutual_;  ///< for P2P by Newton's third law
  DeviceBuffer<N> slots_;
  std::map<Asked, std::unique_ptr<Graph>> graphs_;  ///< one for each kind
};

}  // namespace

std::unique_ptr<Evaluation> make_evaluation(const PlanTree& tree, PlanPoints points,
                                            const fmm::ParityOrder& order,
                                            const EvaluationOptions& options,
                                            const Stream& stream) {
  const auto make = [&]<class T, class N>(T, N) -> std::unique_ptr<Evaluation> {
    return std::make_unique<EvaluationIn<T, N>>(tree, std::move(points), order, options, stream);
  };
  const bool near_single = options.near_precision == Precision::single_precision;
  if (options.precision == Precision::single_precision)
    return near_single ? make(float{}, float{}) : make(float{}, double{});
  return near_single ? make(double{}, float{}) : make(double{}, double{});
}

}  // namespace fmbem::cuda
