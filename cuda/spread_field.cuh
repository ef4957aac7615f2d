#pragma once

#include "fmbem/cuda/far_stages.cuh"
#include "fmbem/cuda/spread_tree.cuh"
#include "fmbem/cuda/strengths.cuh"
#include "fmbem/fmm/kernel/laplace.hpp"

namespace fmbem::cuda {

/// The near field of a batch, [vectors][targets], which is there when the event has passed; null:
/// in the order of the stream.
struct NearPart {
  NearView view{};
  cudaEvent_t done = nullptr;
};

/// What a source's strength is of: a charge, or a dipole, whose field is a length stronger.
enum class Strength { charge, dipole };

/// The far field of spread sources, with expansions in T. What is near is the caller's.
template <class T>
class SpreadField {
 public:
  /// The tree must outlive it.
  SpreadField(const SpreadTree& tree, const fmm::ParityOrder& order, Strength strength,
              cudaStream_t stream, Gathering gathering = Gathering::wide)
      : tree_(tree),
        strength_(strength),
        stream_(stream),
        stages_(order, tree.tree, tree.far, false, stream, gathering),
        arguments_(1, stream),
        largest_(most_vectors, stream) {}

  bool has_far() const { return stages_.has_far(); }
  TableView<T> table() const { return stages_.table(); }
  std::int64_t operator_bytes() const { return stages_.operator_bytes(); }
  std::int64_t bytes() const { return stages_.bytes() + charges_.bytes(); }
  /// Gives back the memory of charges and expansions, which the next evaluation takes again.
  void release() {
    stages_.release();
    charges_ = {};
  }
  /// As many of so many right-hand sides as go through at a time.
  int batch(int count) const { return stages_.batch(count); }

  /// Enqueues an evaluation of a batch: results = far field + near. Near is called first:
  /// near(largest) enqueues the near field of the strengths, in the tree's unit and times the
  /// strength_scale() of each vector over that of the kernel, and returns a NearPart. p2m(charges,
  /// expansions) enqueues the moments of the boxes with sources of their own, for charges
  /// [vectors][sources] in the tree's order, sources being in the tree's unit. done(stage) is
  /// called when a stage is in the stream; "wait" is what the near field takes longer than the far
  /// one.
  template <class P2m, class Near, class Done>
  void enqueue(const Arguments& arguments, int vectors, P2m&& p2m, Near&& near, Done&& done) {
    const std::int64_t n = tree_.sources();
    stages_.reserve(vectors, [&](auto& buffer, std::int64_t size) { grow(buffer, size, stream_); });
    grow(charges_, vectors * n, stream_);
    set_arguments(arguments_.data(), arguments, stream_);
    find_largest(arguments_.data(), n, vectors, true, false, 1, largest_.data(), stream_);
    sort_charges(arguments_.data(), tree_.source_order.data(), n, vectors, largest_.data(),
                 charges_.data(), stream_);
    done("sort");
    const ExpansionsView<T> expansions = stages_.expansions(vectors);
    const double unit = tree_.scale,
                 scale = fmm::Laplace::scale / (strength_ == Strength::charge ? unit : 1);
    const NearPart near_part = near(largest_.data());
    if (stages_.has_far()) {
      p2m(static_cast<const T*>(charges_.data()), expansions);
      done("P2M");
      stages_.enqueue(vectors, done);
    }
    if (near_part.done) {
      FMBEM_CUDA(cudaStreamWaitEvent(stream_, near_part.done));
      done("wait");
    }
    l2p(tree_.targets(), near_part.view, leaves_of(tree_.tree, tree_.far.target_leaves),
        stages_.has_far(), stages_.table(), expansions,
        ResultsView{arguments_.data(), arguments.potential != nullptr,
                    arguments.gradient != nullptr, largest_.data(), scale, scale * unit},
        stream_);
    done("L2P");
  }

 private:
  const SpreadTree& tree_;
  Strength strength_;
  cudaStream_t stream_;
  FarStages<T> stages_;
  DeviceBuffer<Arguments> arguments_;
  DeviceBuffer<unsigned long long> largest_;
  DeviceBuffer<T> charges_;
};

}  // namespace fmbem::cuda
