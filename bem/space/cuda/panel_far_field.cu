#include <algorithm>
#include <optional>
#include <string_view>

#include "fmbem/bem/space/cuda/panel_far_field.cuh"
#include "fmbem/bem/space/cuda/panel_p2m.cuh"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/spread_field.cuh"

namespace fmbem::cuda::bem {
namespace {

__global__ void find_factors(const unsigned long long* largest, double* factor) {
  factor[threadIdx.x] = strength_scale(largest[threadIdx.x]) / fmm::Laplace::scale;
}

/// Each piece has its panel's strength.
__global__ void spread_strengths(const double* x, std::int64_t panels, const std::int32_t* panel,
                                 std::int64_t pieces, double* to) {
  const std::int64_t k = thread_index(), v = blockIdx.y;
  if (k < pieces) to[v * pieces + k] = x[v * panels + panel[k]];
}

template <class T>
class PanelFarFieldIn final : public PanelFarField {
 public:
  PanelFarFieldIn(const PanelStore& panels, const SpreadTree& tree, const DevicePieces* pieces,
                  Trace source, int order, double moment_tolerance, Gathering gathering,
                  const Stream& stream, const Stream& near_stream)
      : panels_(panels),
        tree_(tree),
        pieces_(pieces),
        source_(source),
        stream_(stream),
        near_stream_(near_stream),
        rules_(moment_tolerance, source, stream),
        field_(tree, fmm::ParityOrder(order),
               source == Trace::value ? Strength::charge : Strength::dipole, stream, gathering) {
    if (!pieces) return;
    // A piece is as long as its box, so that the error of its moments does not fall as fast with
    // the distance as a small panel's.
    piece_rules_.emplace(0.1 * moment_tolerance, stream);
    piece_moments_.emplace(PieceMoments{pieces->view(), piece_rules_->view()});
  }

  void multiply(const NearField& near, const double* x, double* y, int n_vectors,
                ProductTimes* times) override {
    const auto done = [&](std::string_view stage) {
      if (times && stage != "gather") times->far.record(stage.data());  // it is a part of M2L
    };
    const std::int64_t n = panels_.size(), m = tree_.targets().count;
    const int batch = field_.batch(n_vectors);
    for (int first = 0; first < n_vectors; first += batch) {
      const int vectors = std::min(batch, n_vectors - first);
      const double* const from = x + first * n;
      grow(near_, vectors * m, stream_);
      grow(factor_, vectors, stream_);
      field_.enqueue(
          {strengths_of_sources(from, vectors), nullptr, y + first * m, nullptr}, vectors,
          [&](const T* charges, const ExpansionsView<T>& expansions) {
            panel_p2m(panels_, tree_, source_, rules_, piece_moments_ ? &*piece_moments_ : nullptr,
                      field_.table(), charges, expansions, stream_);
          },
          [&](const unsigned long long* largest) {
            launch(find_factors, 1, vectors, 0, stream_, largest, factor_.data());
            FMBEM_CUDA(cudaEventRecord(fork_, stream_));
            FMBEM_CUDA(cudaStreamWaitEvent(near_stream_, fork_));
            if (times) times->near.start();
            near.multiply(from, vectors, factor_.data(), near_.data(), near_stream_);
            if (times) times->near.record("near field");
            FMBEM_CUDA(cudaEventRecord(join_, near_stream_));
            return NearPart{{near_.data()}, join_};
          },
          done);
    }
  }

  void release() override {
    field_.release();
    near_ = {};
    spread_ = {};
  }

  std::int64_t bytes() const override {
    return field_.bytes() + field_.operator_bytes() + near_.bytes() + spread_.bytes();
  }

 private:
  const double* strengths_of_sources(const double* x, int vectors) {
    if (!pieces_) return x;
    const std::int64_t n = pieces_->size();
    grow(spread_, vectors * n, stream_);
    launch(spread_strengths, dim3(blocks_for(n), vectors), threads_per_block, 0, stream_, x,
           panels_.size(), pieces_->panel.data(), n, spread_.data());
    return spread_.data();
  }

  const PanelStore& panels_;
  const SpreadTree& tree_;
  const DevicePieces* pieces_;
  Trace source_;
  const Stream &stream_, &near_stream_;
  MomentRules rules_;
  SpreadField<T> field_;
  std::optional<StripMomentRules> piece_rules_;
  std::optional<PieceMoments> piece_moments_;
  DeviceBuffer<double> near_, factor_, spread_;
  Event fork_, join_;
};

}  // namespace

std::unique_ptr<PanelFarField> make_panel_far_field(
    const PanelStore& panels, const SpreadTree& tree, const DevicePieces* pieces, Trace source,
    int order, Precision precision, double moment_tolerance, Gathering gathering,
    const Stream& stream, const Stream& near_stream) {
  if (precision == Precision::single_precision)
    return std::make_unique<PanelFarFieldIn<float>>(
        panels, tree, pieces, source, order, moment_tolerance, gathering, stream, near_stream);
  return std::make_unique<PanelFarFieldIn<double>>(
      panels, tree, pieces, source, order, moment_tolerance, gathering, stream, near_stream);
}

}  // namespace fmbem::cuda::bem
