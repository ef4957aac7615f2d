#pragma once

#include "fmbem/cuda/far_stages.cuh"
#include "fmbem/cuda/spread_tree.cuh"
#include "fmbem/cuda/strengths.cuh"
#include "fmbem/fmm/kernel/laplace.hpp"

namespace fmbem::cuda {

/// The near field of a batch, [vectors][targets]. It is ready when the event has passed; null: in
/// the order of the stream.
struct NearPart {
  NearView view{};
  cudaEvent_t done = nullptr;
};

/// What a source's strength is: a charge; or a dipole, whose field has a length more in its unit;
/// or both, the dipole times the tree's scale.
enum class Strength { charge, dipole, both };

/// The far field of spread sources, with expansions in T. What is near is the caller's.
template <class T>
class SpreadField {
 public:
  /// The tree must outlive it.
  SpreadField(const SpreadTree& tree, const fmm::ParityOrder& order, Strength strength,
              cudaStream_t stream, Gathering gathering = Gathering::wide,
              const PlanKernel& kernel = {})
      : tree_(tree),
        strength_(strength),
        stream_(stream),
        stages_(order, tree.tree, stream, gathering, kernel),
        arguments_(1, stream),
        largest_(most_vectors, stream) {}

  bool has_far() const { return stages_.has_far(); }
  TableView<T> table() const { return stages_.table(); }
  const FarKernel& kernel() const { return stages_.kernel(); }
  std::int64_t operator_bytes() const { return stages_.operator_bytes(); }
  std::int64_t bytes() const {
    return stages_.bytes() + charges_.bytes() + places_.bytes() + dipoles_.bytes();
  }
  /// Gives back the memory of charges and expansions, until the next evaluation needs it.
  void release() {
    stages_.release();
    charges_ = {};
    places_ = {};
    dipoles_ = {};
  }
  /// How many of so many right-hand sides go through at a time.
  int batch(int count) const { return stages_.batch(count); }

  /// Enqueues an evaluation of a batch: results = far field + near. Near is called first:
  /// near(largest) enqueues the near field of the strengths, in the tree's unit and times the
  /// strength_scale() of each vector over that of the kernel, and returns a NearPart. p2m(charges,
  /// expansions) enqueues the moments of the boxes with sources of their own, for charges
  /// [vectors][sources] in the tree's order, sources being in the tree's unit. done(stage) is
  /// called when a stage is in the stream; "wait" is what the near field takes longer than the far
  /// one. Strengths of both kinds, [vectors][2][sources], are sorted kind by kind.
  template <class P2m, class Near, class Done>
  void enqueue(const Arguments& arguments, int vectors, P2m&& p2m, Near&& near, Done&& done) {
    const std::int64_t n = tree_.sources();
    const int kinds = strength_ == Strength::both ? 2 : 1;
    reserve(tree_.far.m2l, vectors);
    grow(charges_, vectors * kinds * n, stream_);
    look_at(arguments, kinds * n, vectors);
    sort_charges(arguments_.data(), tree_.source_order.data(), n, vectors, kinds, largest_.data(),
                 charges_.data(), stream_);
    done("sort");
    const ExpansionsView<T> expansions = stages_.expansions(vectors);
    const double unit = tree_.scale;
    const NearPart near_part = near(largest_.data());
    if (stages_.has_far()) {
      p2m(static_cast<const T*>(charges_.data()), expansions);
      done("P2M");
      stages_.enqueue({tree_.tree.view(), tree_.far.m2l}, vectors, done);
    }
    wait_for(near_part, done);
    const LeavesView leaves = leaves_of(tree_.tree, tree_.far.target_leaves);
    const ResultsView results{arguments_.data(),
                              arguments.potential != nullptr,
                              arguments.gradient != nullptr,
                              largest_.data(),
                              scale(),
                              scale() * unit,
                              scale() * unit * unit};
    l2p(tree_.targets(), near_part.view, leaves, stages_.has_far(), stages_.table(), expansions,
        stages_.kernel(), results, stream_);
    if (arguments.hessian)
      l2p_hessian(tree_.targets(), near_part.view, leaves, stages_.has_far(), stages_.table(),
                  expansions, stages_.kernel(), results, stream_);
    done("L2P");
  }

  /// Enqueues the transposed evaluation of a batch: from arguments.charges or arguments.dipoles or
  /// both, [vectors][targets], to sums over targets for each source. What acted on potentials acts
  /// as charges, and what acted on gradients as dipoles. `m2l` are the rows of the transposed view
  /// of the tree, near as above. l2p(expansions) enqueues the local expansions of the boxes with
  /// sources of their own at these, which need not wait for the near field. add(near part, largest)
  /// is called last: it enqueues the sum of both, times scale() over the strength_scale() of each
  /// vector.
  template <class Near, class L2p, class Add, class Done>
  void enqueue_transposed(const M2lRows& m2l, const Arguments& arguments, int vectors, Near&& near,
                          L2p&& l2p, Add&& add, Done&& done) {
    const PointsView<double> targets = tree_.targets();
    reserve(m2l, vectors);
    const bool has_charges = arguments.charges != nullptr;
    grow(places_, vectors * targets.count, stream_);
    if (arguments.dipoles) grow(dipoles_, vectors * targets.count, stream_);
    ChargedPoint<double>* const dipoles = arguments.dipoles ? dipoles_.data() : nullptr;
    look_at(arguments, targets.count, vectors);
    sort_strengths(arguments_.data(), targets, vectors, tree_.scale, largest_.data(),
                   SortedStrengths<double>{has_charges, places_.data(), dipoles}, stream_);
    done("sort");
    const ExpansionsView<T> expansions = stages_.expansions(vectors);
    const NearPart near_part = near(largest_.data());
    if (stages_.has_far()) {
      LeavesView leaves = leaves_of(tree_.tree, tree_.far.target_leaves);
      leaves.tree = leaves.tree.transposed();
      p2m(targets.count, StrengthsView<double>{places_.data(), has_charges, dipoles}, leaves,
          stages_.table(), expansions, stages_.kernel(), stream_);
      done("P2M");
      stages_.enqueue({leaves.tree, m2l}, vectors, done);
      l2p(expansions);
      done("L2P");
    }
    wait_for(near_part, done);
    add(near_part.view, largest_.data());
    done("sum");
  }

  /// What takes sums of scaled strengths in the tree's unit to potentials in the caller's.
  double scale() const {
    return fmm::Laplace::scale / (strength_ == Strength::dipole ? 1 : tree_.scale);
  }

 private:
  void reserve(const M2lRows& m2l, int vectors) {
    stages_.reserve(m2l, vectors,
                    [&](auto& buffer, std::int64_t size) { grow(buffer, size, stream_); });
  }
  /// Finds the largest strengths of a batch.
  void look_at(const Arguments& arguments, std::int64_t n, int vectors) {
    set_arguments(arguments_.data(), arguments, stream_);
    find_largest(arguments_.data(), n, vectors, arguments.charges != nullptr,
                 arguments.dipoles != nullptr, tree_.scale, largest_.data(), stream_);
  }
  void wait_for(const NearPart& near, auto&& done) const {
    if (!near.done) return;
    FMBEM_CUDA(cudaStreamWaitEvent(stream_, near.done));
    done("wait");
  }

  const SpreadTree& tree_;
  Strength strength_;
  cudaStream_t stream_;
  FarStages<T> stages_;
  DeviceBuffer<Arguments> arguments_;
  DeviceBuffer<unsigned long long> largest_;
  DeviceBuffer<T> charges_;
  /// Of transposed evaluations: targets with their charges, and their dipoles.
  DeviceBuffer<ChargedPoint<double>> places_, dipoles_;
};

}  // namespace fmbem::cuda
