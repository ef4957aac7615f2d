#include <algorithm>
#include <string_view>

#include "fmbem/bem/space/cuda/panel_far_field.cuh"
#include "fmbem/bem/space/cuda/panel_p2m.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/spread_field.cuh"

namespace fmbem::cuda::bem {
namespace {

__global__ void find_factors(const unsigned long long* largest, double scale, double* factor) {
  factor[threadIdx.x] = strength_scale(largest[threadIdx.x]) / scale;
}

template <class T>
class PanelFarFieldIn final : public PanelFarField {
 public:
  PanelFarFieldIn(const PanelStore& panels, const SpreadTree& tree, int order,
                  double moment_tolerance, Gathering gathering, const Stream& stream,
                  const Stream& near_stream)
      : panels_(panels),
        tree_(tree),
        stream_(stream),
        near_stream_(near_stream),
        rules_(moment_tolerance, stream),
        field_(tree, fmm::ParityOrder(order), stream, gathering) {}

  void multiply(const NearField& near, const double* x, double* y, int n_vectors,
                ProductTimes* times) override {
    const auto done = [&](std::string_view stage) {
      if (times && stage != "gather") times->far.record(stage.data());  // it is a part of M2L
    };
    const std::int64_t n = tree_.sources(), m = tree_.targets().count;
    const int batch = field_.batch(n_vectors);
    for (int first = 0; first < n_vectors; first += batch) {
      const int vectors = std::min(batch, n_vectors - first);
      const double* const from = x + first * n;
      grow(near_, vectors * m, stream_);
      grow(factor_, vectors, stream_);
      field_.enqueue(
          {from, nullptr, y + first * m, nullptr}, vectors,
          [&](const T* charges, const ExpansionsView<T>& expansions) {
            panel_p2m(panels_, tree_, rules_, field_.table(), charges, expansions, stream_);
          },
          [&](const unsigned long long* largest, double scale) {
            // The near field is in the tree's unit.
            launch(find_factors, 1, vectors, 0, stream_, largest, scale * tree_.scale,
                   factor_.data());
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
  }

  std::int64_t bytes() const override {
    return field_.bytes() + field_.operator_bytes() + near_.bytes();
  }

 private:
  const PanelStore& panels_;
  const SpreadTree& tree_;
  const Stream &stream_, &near_stream_;
  MomentRules rules_;
  SpreadField<T> field_;
  DeviceBuffer<double> near_, factor_;
  Event fork_, join_;
};

}  // namespace

std::unique_ptr<PanelFarField> make_panel_far_field(const PanelStore& panels,
                                                    const SpreadTree& tree, int order,
                                                    Precision precision, double moment_tolerance,
                                                    Gathering gathering, const Stream& stream,
                                                    const Stream& near_stream) {
  if (precision == Precision::single_precision)
    return std::make_unique<PanelFarFieldIn<float>>(panels, tree, order, moment_tolerance,
                                                    gathering, stream, near_stream);
  return std::make_unique<PanelFarFieldIn<double>>(panels, tree, order, moment_tolerance, gathering,
                                                   stream, near_stream);
}

}  // namespace fmbem::cuda::bem
