#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "fmbem/bem/cuda/cluster_inverse.hpp"
#include "fmbem/bem/cuda/fmm_operator.hpp"
#include "fmbem/bem/cuda/moments.cuh"
#include "fmbem/bem/cuda/near_field.cuh"
#include "fmbem/bem/far_choice.hpp"
#include "fmbem/bem/fmm_operator.hpp"
#include "fmbem/cuda/device.hpp"
#include "fmbem/cuda/host_vectors.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/spread_field.cuh"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/check.hpp"
#include "fmbem/fmm/harmonics.hpp"
#include "fmbem/fmm/stopwatch.hpp"

namespace fmbem::cuda {
namespace {

/// What an entry of the near field costs an H200 in a product: reading it, and a part of its
/// integral in a solve of some ten products; and where it is integrated in every product.
constexpr double near_pair_seconds = 6e-12, lean_pair_seconds = 10e-12;

/// What is left free for each panel beside the moments of an accurate product: for the
/// preconditioner, the solver's vectors, close pairs and expansions; and of the whole memory, for
/// what products gather.
constexpr std::int64_t solve_bytes = 2000, gathered_share = 12;

__global__ void find_factors(const unsigned long long* largest, double scale, double* factor) {
  factor[threadIdx.x] = strength_unit(largest[threadIdx.x]) / scale;
}

/// Does what takes memory; where the GPU's does not suffice, the sentence names what takes less.
template <class Work>
decltype(auto) with_advice(bool lean, Work&& work) {
  try {
    return work();
  } catch (const DeviceMemoryError& error) {
    throw DeviceMemoryError(error.lack(),
                            std::string(lean ? "" : "the lean near field (--near-field lean), ") +
                                "a looser tolerance, a coarser mesh or the backend cpu");
  }
}

/// Stages of the last product, in both streams.
struct ProductTimes {
  StageTimes far, near;

  void restart() {
    far.clear();
    near.clear();
    far.start();
  }
  fmm::Seconds seconds() const {
    fmm::Seconds all = far.seconds();
    all.merge(near.seconds());
    return all;
  }
};

/// A far field of panels with expansions in either precision.
class PanelFarField {
 public:
  virtual ~PanelFarField() = default;
  /// Puts y = V x for n_vectors vectors into the stream, with that near field; records the stages
  /// unless times is null.
  virtual void multiply(const NearField& near, const double* x, double* y, int n_vectors,
                        ProductTimes* times) = 0;
  virtual std::int64_t bytes() const = 0;
};

template <class T>
class PanelFarFieldIn final : public PanelFarField {
 public:
  PanelFarFieldIn(const PanelStore& panels, const SpreadTree& tree, int order,
                  double moment_tolerance, const Stream& stream, const Stream& near_stream)
      : tree_(tree),
        stream_(stream),
        near_stream_(near_stream),
        field_(tree, fmm::ParityOrder(order), stream) {
    if (field_.has_far()) {
      const MomentRules rules(moment_tolerance, stream);
      integrate_moments(panels, tree, rules, field_.table(), field_.moments(), stream);
    }
  }

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
      field_.put(
          {from, nullptr, y + first * m, nullptr}, vectors,
          [&](const unsigned long long* largest, double scale) {
            // The near field is in the tree's unit.
            launch(find_factors, 1, vectors, 0, stream_, largest, scale * tree_.unit,
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

  std::int64_t bytes() const override {
    return field_.bytes() + field_.operator_bytes() + near_.bytes();
  }

 private:
  const SpreadTree& tree_;
  const Stream &stream_, &near_stream_;
  SpreadField<T> field_;
  DeviceBuffer<double> near_, factor_;
  Event fork_, join_;
};

class DeviceSingleLayer final : public BoundaryOperator {
 public:
  DeviceSingleLayer(const Panels& panels, const OperatorOptions& options)
      : host_panels_(panels), options_(options), precision_(check_fmm_options(options)) {
    order_ = options.order.value_or(far_order_for(options.tolerance));
    const double overhang = options.overhang.value_or(panel_overhang);
    fmm::check_order(order_);
    fmm::check_tree_options(options.max_leaf, {});
    fmm::check_overhang(overhang);
    fmm::check_point_count(panels.size(), "panel");
    fmm::Stopwatch watch(seconds_);
    const auto done = [&](const char* stage) {
      stream_.wait();
      watch.add(stage);
    };
    panels_ = std::make_unique<PanelStore>(panels, stream_);
    done("panels");
    far_precision_ = far_precision_for(options.tolerance);
    tree_ =
        grow_panel_tree(*panels_,
                        {.order = order_,
                         .precision = far_precision_,
                         .overhang = overhang,
                         .near_pair_seconds = options.near_field == OperatorOptions::NearField::lean
                                                  ? lean_pair_seconds
                                                  : near_pair_seconds,
                         .max_leaf = options.max_leaf},
                        stream_);
    done("tree");
    far_ = make_far_field(order_, far_precision_, 0.5 * options.tolerance);
    done("moments");
    near_share_ = near_share(*panels_, tree_, stream_);
    near_tolerance_ = near_tolerance_for(options.tolerance, near_share_);
    make_near_field();
    done("near field");
    if (options.time_stages)
      times_ = std::make_unique<ProductTimes>(
          ProductTimes{StageTimes(stream_), StageTimes(near_stream_)});
    if (options.progress) options.progress(1);
  }

  std::size_t size() const override { return host_panels_.size(); }
  Processor processor() const override { return Processor::gpu; }

  OperatorInfo info() const override {
    OperatorInfo info{.name = "V", .kind = OperatorKind::fmm, .processor = Processor::gpu};
    info.memory_bytes = panels_->bytes() + tree_.bytes() + near_->bytes() + far_->bytes();
    info.precision = precision_;
    info.order = order_;
    info.far_precision = far_precision_;
    info.levels = tree_.tree.levels();
    info.max_leaf = tree_.max_leaf;
    info.inflation = tree_.inflation;
    info.near_entries = tree_.near.pairs;
    info.near_field_stored = stored_;
    info.setup_seconds = seconds_;
    if (times_) info.product_seconds = times_->seconds();
    return info;
  }

  void apply(const double* x, double* y, int n_vectors) const override {
    if (times_) times_->restart();
    with_advice(!stored_, [&] {
      on_copies(x, y, size(), n_vectors, stream_, times_ ? &times_->far : nullptr,
                [&](const double* d_x, double* d_y, int vectors) {
                  far_->multiply(*near_, d_x, d_y, vectors, times_.get());
                });
    });
    refuse_not_finite(x, y, n_vectors);
  }

  void apply_on_device(const double* x, double* y, int n_vectors) const override {
    const Event before, after;
    FMBEM_CUDA(cudaEventRecord(before, nullptr));
    FMBEM_CUDA(cudaStreamWaitEvent(stream_, before));
    if (times_) times_->restart();
    with_advice(!stored_, [&] { far_->multiply(*near_, x, y, n_vectors, times_.get()); });
    FMBEM_CUDA(cudaEventRecord(after, stream_));
    FMBEM_CUDA(cudaStreamWaitEvent(nullptr, after));
  }

  void wait() const override { stream_.wait(); }

  void apply_accurately(const double* x, double* y, int n_vectors) const override {
    with_advice(!stored_, [&] { multiply_accurately(x, y, n_vectors); });
    refuse_not_finite(x, y, n_vectors);
  }

  std::unique_ptr<ApproximateInverse> approximate_inverse() const override {
    return with_advice(!stored_, [&] { return std::make_unique<ClusterInverse>(panels_->view()); });
  }

  void diagonal_block(std::int64_t begin, std::int64_t end, double* block) const override {
    exact_block(host_panels_, begin, end, block);
  }

 private:
  void multiply_accurately(const double* x, double* y, int n_vectors) const {
    const double tolerance = accurate_tolerance_for(options_.tolerance);
    const auto far =
        make_far_field(far_order_for(tolerance), far_precision_for(tolerance), 0.5 * tolerance);
    const bool stored =
        stored_ && near_entries_serve(tolerance, precision_, near_tolerance_, near_share_);
    const auto near = stored ? nullptr
                             : make_lean_near_field(*panels_, tree_, 0.5 * tolerance,
                                                    Precision::double_precision, stream_);
    on_copies(x, y, size(), n_vectors, stream_, nullptr,
              [&](const double* d_x, double* d_y, int vectors) {
                far->multiply(near ? *near : *near_, d_x, d_y, vectors, nullptr);
              });
  }

  std::unique_ptr<PanelFarField> make_far_field(int order, Precision precision,
                                                double moment_tolerance) const {
    if (precision == Precision::single_precision)
      return std::make_unique<PanelFarFieldIn<float>>(*panels_, tree_, order, moment_tolerance,
                                                      stream_, near_stream_);
    return std::make_unique<PanelFarFieldIn<double>>(*panels_, tree_, order, moment_tolerance,
                                                     stream_, near_stream_);
  }

  void make_near_field() {
    using Choice = OperatorOptions::NearField;
    const bool single = precision_ == Precision::single_precision;
    const std::int64_t moments =
        fmm::harmonic_count(far_order_for(accurate_tolerance_for(options_.tolerance)));
    const std::int64_t bytes = tree_.near.pairs * (single ? 4 : 8),
                       available = available_device_memory(),
                       left_over = (solve_bytes + 8 * moments) * panels_->size() +
                                   available / gathered_share;
    stored_ = options_.near_field == Choice::stored ||
              (options_.near_field == Choice::automatic && bytes + left_over < available);
    if (!stored_) {
      precision_ = lean_precision_for(near_tolerance_, precision_);
      near_ = make_lean_near_field(*panels_, tree_, near_tolerance_, precision_, stream_);
      return;
    }
    if (bytes > available)
      throw DeviceMemoryError("the near field of " + std::to_string(size()) + " panels needs " +
                              std::to_string(bytes >> 20) + " MiB and " +
                              std::to_string(available >> 20) + " MiB are free");
    near_ = single ? make_stored_near_field<float>(*panels_, tree_, near_tolerance_, stream_)
                   : make_stored_near_field<double>(*panels_, tree_, near_tolerance_, stream_);
  }

  /// As on the CPU, but x is looked at only if the product is NaN, as it is everywhere then.
  void refuse_not_finite(const double* x, const double* y, int n_vectors) const {
    const std::size_t n = size();
    for (int v = 0; v < n_vectors; ++v)
      if (std::isnan(y[v * n]))
        fmm::check_evaluation(n, n, {.charges = {x, n * n_vectors}, .count = n_vectors}, {});
  }

  const Panels& host_panels_;
  OperatorOptions options_;
  Precision precision_;  ///< of the near field's entries
  Stream stream_{true}, near_stream_;
  std::unique_ptr<PanelStore> panels_;
  SpreadTree tree_;
  int order_ = 0;
  Precision far_precision_ = Precision::double_precision;
  double near_share_ = 1, near_tolerance_ = 0;
  bool stored_ = true;
  std::unique_ptr<PanelFarField> far_;
  std::unique_ptr<NearField> near_;
  fmm::Seconds seconds_;
  std::unique_ptr<ProductTimes> times_;  ///< null unless asked for
};

}  // namespace

std::unique_ptr<BoundaryOperator> make_fmm_single_layer(const Panels& panels,
                                                        const OperatorOptions& options) {
  require_cuda_device();
  keep_freed_memory();
  return with_advice(options.near_field == OperatorOptions::NearField::lean,
                     [&] { return std::make_unique<DeviceSingleLayer>(panels, options); });
}

}  // namespace fmbem::cuda
