#include <algorithm>
#include <cmath>
#include <string>

#include "fmbem/bem/layer/cuda/fmm_operator.hpp"
#include "fmbem/bem/layer/cuda/memory_advice.cuh"
#include "fmbem/bem/layer/far_choice.hpp"
#include "fmbem/bem/layer/fmm_operator.hpp"
#include "fmbem/bem/precond/cuda/cluster_inverse.hpp"
#include "fmbem/bem/space/cuda/panel_far_field.cuh"
#include "fmbem/cuda/device.hpp"
#include "fmbem/cuda/host_vectors.cuh"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/stopwatch.hpp"
#include "fmbem/fmm/check.hpp"

namespace fmbem::cuda::bem {
namespace {

/// What an entry of the near field costs an H200: 1.6 ps in a product, and a part of its integral
/// in a solve of some ten; and where it is integrated in every product. In double precision twice
/// as much: the larger leaves that a dearer far field would have save a tenth of a product for half
/// as much memory again (docs/decisions.md).
double near_pair_seconds(bool lean, Precision far) {
  return (lean ? 5e-12 : 3e-12) * (far == Precision::double_precision ? 2 : 1);
}

/// What is left free for each panel: for the preconditioner, the solver's vectors, close pairs and
/// expansions; and of the whole memory, for what products gather.
constexpr std::int64_t solve_bytes = 1500, gathered_share = 12;

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
    const auto grow_tree = [&](bool lean) {
      tree_ = {};  // first, as both may not fit
      tree_ = grow_panel_tree(*panels_,
                              {.order = order_,
                               .precision = far_precision_,
                               .overhang = overhang,
                               .near_pair_seconds = near_pair_seconds(lean, far_precision_),
                               .max_leaf = options.max_leaf},
                              stream_);
    };
    const bool lean = options.near_field == OperatorOptions::NearField::lean;
    grow_tree(lean);
    stored_ = !lean && stores_near_field();
    if (!lean && !stored_ && !options.max_leaf) grow_tree(true);
    done("tree");
    near_fraction_ = near_fraction(*panels_, tree_, stream_);
    choose_near_tolerance();
    // An error of moments that is that large a side off falls with the distance squared at least,
    // so it adds up to no more than that of the near field.
    far_ = make_far_field(order_, far_precision_,
                          near_tolerance_for(options.tolerance, near_fraction_),
                          stored_ ? Gathering::wide : Gathering::sparing);
    done("far field");
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
    const double tolerance = accurate_tolerance_for(options_.tolerance),
                 integrals = near_tolerance_for(tolerance, near_fraction_);
    far_->release();
    const auto far = make_far_field(far_order_for(tolerance), far_precision_for(tolerance),
                                    integrals, Gathering::sparing);
    const bool serves = near_entries_serve(tolerance, precision_, near_tolerance_, near_fraction_);
    const auto near =
        serves ? nullptr
               : make_lean_near_field(*panels_, tree_, integrals, Precision::double_precision,
                                      ClosePairStorage::none, stream_);
    on_copies(x, y, size(), n_vectors, stream_, nullptr,
              [&](const double* d_x, double* d_y, int vectors) {
                far->multiply(near ? *near : *near_, d_x, d_y, vectors, nullptr);
              });
  }

  std::unique_ptr<PanelFarField> make_far_field(int order, Precision precision,
                                                double moment_tolerance,
                                                Gathering gathering) const {
    return make_panel_far_field(*panels_, tree_, order, precision, moment_tolerance, gathering,
                                stream_, near_stream_);
  }

  void choose_near_tolerance() {
    const double enough = near_tolerance_for(options_.tolerance, near_fraction_);
    near_tolerance_ =
        near_tolerance_for_both(options_.tolerance, near_fraction_, precision_, stored_);
    // Integrals in double precision would cost every product far more.
    if (!stored_ &&
        lean_precision_for(near_tolerance_, precision_) != lean_precision_for(enough, precision_))
      near_tolerance_ = enough;
  }

  std::int64_t near_bytes() const {
    return tree_.near.pairs * (precision_ == Precision::single_precision ? 4 : 8);
  }

  bool stores_near_field() const {
    if (options_.near_field == OperatorOptions::NearField::stored) return true;
    const std::int64_t available = available_device_memory(),
                       left_over = solve_bytes * panels_->size() + available / gathered_share;
    return near_bytes() + left_over < available;
  }

  void make_near_field() {
    if (!stored_) {
      precision_ = lean_precision_for(near_tolerance_, precision_);
      near_ = make_lean_near_field(*panels_, tree_, near_tolerance_, precision_,
                                   ClosePairStorage::entries, stream_);
      return;
    }
    const std::int64_t bytes = near_bytes(), available = available_device_memory();
    if (bytes > available)
      throw DeviceMemoryError("the near field of " + std::to_string(size()) + " panels needs " +
                              std::to_string(bytes >> 20) + " MiB and " +
                              std::to_string(available >> 20) + " MiB are free");
    near_ = precision_ == Precision::single_precision
                ? make_stored_near_field<float>(*panels_, tree_, near_tolerance_, stream_)
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
  double near_fraction_ = 1, near_tolerance_ = 0;
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

}  // namespace fmbem::cuda::bem
