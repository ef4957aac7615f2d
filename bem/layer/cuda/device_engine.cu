#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "fmbem/bem/geometry/cuda/block_panels.cuh"
#include "fmbem/bem/geometry/cuda/memory_advice.cuh"
#include "fmbem/bem/layer/cuda/fmm_operator.hpp"
#include "fmbem/bem/layer/engine_operator.hpp"
#include "fmbem/bem/near/cuda/exact_columns.cuh"
#include "fmbem/bem/near/cuda/piece_near_field.cuh"
#include "fmbem/bem/precond/cuda/cluster_inverse.hpp"
#include "fmbem/bem/space/cuda/panel_far_field.cuh"
#include "fmbem/cuda/default_stream.cuh"
#include "fmbem/cuda/device.hpp"
#include "fmbem/cuda/host_vectors.cuh"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/stopwatch.hpp"
#include "fmbem/fmm/check.hpp"

namespace fmbem::cuda::bem {
namespace {

/// What an entry of the near field costs an H200. Stored: 1.6 ps in a product, and a part of its
/// integral, which a solve of some ten products shares. Lean: its integral in every product. In
/// double precision both count twice: as the far field costs more there, leaves would become
/// larger, which saves a tenth of a product and costs half as much memory again
/// (docs/decisions.md).
double near_pair_seconds(bool lean, Precision far) {
  return (lean ? 5e-12 : 3e-12) * (far == Precision::double_precision ? 2 : 1);
}

/// What a coefficient of a piece's moments costs, which are integrated in every product.
constexpr double coefficient_seconds = 6e-12;

/// The engine of EngineOperator on the current GPU.
class DeviceEngine {
 public:
  static constexpr Processor processor = Processor::gpu;

  DeviceEngine(const Panels& panels, const EngineTask& task, fmm::Stopwatch& watch)
      : kernel_{task.layer.source, task.options.kappa} {
    const OperatorOptions& options = task.options;
    fmm::check_tree_options(options.max_leaf, {});
    fmm::check_point_count(panels.size(), "panel");
    block_.emplace(panels, task.block, stream_);
    panels_ = block_->sources;
    watch.add("panels");
    if (kernel_.source == Trace::value && kernel_.kappa == 0 && panels_->has_long) {
      cut_panels(task);
      watch.add("pieces");
    }
    const double overhang =
        options.overhang.value_or(overhang_for(kernel_.source, pieces_ != nullptr, task.crowded));
    fmm::check_overhang(overhang);
    const auto grow_tree = [&](bool lean) {
      tree_ = {};  // first, as both may not fit
      columns_ = nullptr;
      tree_ =
          grow_panel_tree(*panels_, block_->targets(),
                          {.order = task.order,
                           .precision = task.far,
                           .overhang = overhang,
                           .near_pair_seconds = near_pair_seconds(lean, task.far),
                           .max_leaf = options.max_leaf,
                           .inflation = pieces_ ? std::optional(pieces_->inflation) : std::nullopt},
                          stream_, pieces_.get());
      if (block_->own_source.size() > 0) tree_.own_source = copy_of(block_->own_source, stream_);
      if (pieces_) columns_ = std::make_unique<PieceColumns>(*panels_, tree_, *pieces_, stream_);
    };
    const bool lean = options.near_field == OperatorOptions::NearField::lean;
    grow_tree(lean);
    stored_ = !lean && (options.near_field == OperatorOptions::NearField::stored ||
                        fits_beside_a_solve(near_bytes(task.near), block_->all->size()));
    if (!lean && !stored_ && !options.max_leaf) grow_tree(true);
    stream_.wait();
    watch.add("tree");
    if (options.time_stages)
      times_ = std::make_unique<ProductTimes>(
          ProductTimes{StageTimes(stream_), StageTimes(near_stream_)});
  }

  /// The error of a panel's moments falls at least with the square of the distance, so that from a
  /// box's side on all of them add up to no more than the near field's error.
  static double integral_tolerance(double tolerance, double near_fraction) {
    return near_tolerance_for(tolerance, near_fraction);
  }
  bool stores_near_field() const { return stored_; }
  bool cuts_panels() const { return pieces_ != nullptr; }
  NormEstimate norm_estimate() const {
    if (kernel_.source == Trace::normal)
      return estimate_double_layer(*panels_, block_->targets(), tree_, stream_);
    return estimate_norm(*panels_, block_->targets(), tree_, kernel_.kappa, stream_, pieces_.get());
  }

  /// Not known here.
  double largest_rounding() const { return 0; }

  /// Of a lean near field integrals in double precision would make every product far slower.
  NearAccuracy near_accuracy(NearAccuracy for_both, double enough) const {
    if (stored_) return for_both;
    if (pieces_) return {for_both.tolerance, Precision::double_precision};
    if (for_both.precision == Precision::single_precision)
      if (const auto in_single = lean_tolerance_in_single(enough, kernel_))
        return {*in_single, Precision::single_precision};
    const Precision precision = lean_precision_for(enough, kernel_, for_both.precision);
    if (lean_precision_for(for_both.tolerance, kernel_, for_both.precision) != precision)
      return {enough, precision};
    return {for_both.tolerance, precision};
  }

  void set_far(const FarAccuracy& accuracy) {
    far_ = far_field(accuracy, gathering(), stored_);
    stream_.wait();
  }

  void set_near(const NearAccuracy& accuracy, const Progress& progress) {
    if (!stored_) {
      near_ = lean_near_field(accuracy.tolerance, accuracy.precision, ClosePairStorage::entries);
    } else {
      const std::int64_t bytes = near_bytes(accuracy.precision),
                         available = available_device_memory();
      if (bytes > available)
        throw DeviceMemoryError("the near field of " + std::to_string(panels_->size()) +
                                " panels needs " + std::to_string(bytes >> 20) + " MiB and " +
                                std::to_string(available >> 20) + " MiB are free");
      near_ = accuracy.precision == Precision::single_precision
                  ? stored_near_field<float>(accuracy.tolerance)
                  : stored_near_field<double>(accuracy.tolerance);
    }
    stream_.wait();
    if (progress) progress(1);
  }

  /// With the engine's own far field, or a looser one.
  template <class... Loose>
  void multiply(const double* x, double* y, const Product& product, const Loose&... loose) {
    if (times_) times_->restart();
    with_advice(!stored_, [&] {
      PanelFarField& far = kept_far(loose...);
      on_copies(x, in(product), y, out(product), product.vectors, stream_,
                times_ ? &times_->far : nullptr, [&](const double* d_x, double* d_y, int vectors) {
                  enqueue(far, *near_, d_x, d_y, vectors, product.transposed, times_.get());
                });
    });
    refuse_not_finite(x, y, product);
  }

  template <class... Loose>
  void multiply_on_device(const double* x, double* y, const Product& product,
                          const Loose&... loose) {
    in_default_stream(stream_, [&] {
      if (times_) times_->restart();
      with_advice(!stored_, [&] {
        enqueue(kept_far(loose...), *near_, x, y, product.vectors, product.transposed,
                times_.get());
      });
    });
  }

  /// A product with a far field made for it, and, if a tolerance is given, near integrals made for
  /// it too.
  void multiply(const double* x, double* y, const Product& product, const FarAccuracy& accuracy,
                const std::optional<double>& near_tolerance) {
    with_once(accuracy, near_tolerance, product, [&](PanelFarField& far, NearField& near) {
      on_copies(x, in(product), y, out(product), product.vectors, stream_, nullptr,
                [&](const double* d_x, double* d_y, int vectors) {
                  enqueue(far, near, d_x, d_y, vectors, product.transposed, nullptr);
                });
    });
    refuse_not_finite(x, y, product);
  }

  void multiply_on_device(const double* x, double* y, const Product& product,
                          const FarAccuracy& accuracy,
                          const std::optional<double>& near_tolerance) {
    in_default_stream(stream_, [&] {
      with_once(accuracy, near_tolerance, product, [&](PanelFarField& far, NearField& near) {
        enqueue(far, near, x, y, product.vectors, product.transposed, nullptr);
        stream_.wait();  // what the product works with ends here
      });
    });
  }

  void set_columns(const Columns& columns, double* entries) const {
    in_default_stream(stream_, [&] { exact_columns(*block_, kernel_, columns, entries, stream_); });
  }

  void wait() const { stream_.wait(); }

  void describe(OperatorInfo& info) const {
    info.memory_bytes = panels_->bytes() + tree_.bytes() + near_->bytes() + far_->bytes() +
                        (pieces_ ? pieces_->bytes() : 0) + (transposed_ ? transposed_->bytes() : 0);
    for (const auto& [order, looser] : looser_) info.memory_bytes += looser->bytes();
    info.levels = tree_.tree.levels();
    info.max_leaf = tree_.max_leaf;
    info.inflation = tree_.inflation;
    info.near_entries = near_entries();
    if (times_) info.product_seconds = times_->seconds();
  }

  std::unique_ptr<ApproximateInverse> approximate_inverse() const {
    return with_advice(!stored_, [&] { return std::make_unique<ClusterInverse>(panels_->view()); });
  }

 private:
  /// Where that pays.
  void cut_panels(const EngineTask& task) {
    const double coefficients = (task.order + 1) * (task.order + 1);
    pieces_ = cut_long_panels(
        *panels_, {near_pair_seconds(false, task.far), coefficients * coefficient_seconds},
        stream_);
  }

  std::int64_t near_entries() const { return columns_ ? columns_->entries : tree_.near.pairs; }

  template <class Entry>
  std::unique_ptr<NearField> stored_near_field(double tolerance) const {
    if (pieces_)
      return make_stored_piece_near_field<Entry>(*panels_, tree_, *pieces_, *columns_, tolerance,
                                                 stream_);
    return make_stored_near_field<Entry>(*panels_, tree_, kernel_, tolerance, stream_);
  }
  std::unique_ptr<NearField> lean_near_field(double tolerance, Precision precision,
                                             ClosePairStorage close) const {
    if (pieces_)
      return make_lean_piece_near_field(*panels_, tree_, *pieces_, *columns_, tolerance, stream_);
    return make_lean_near_field(*panels_, tree_, kernel_, tolerance, precision, close, stream_);
  }

  /// Numbers of a product's x and y.
  std::size_t in(const Product& product) const {
    return product.transposed ? block_->rows() : block_->columns();
  }
  std::size_t out(const Product& product) const {
    return product.transposed ? block_->columns() : block_->rows();
  }

  Gathering gathering() const { return stored_ ? Gathering::wide : Gathering::sparing; }

  PanelFarField& kept_far() const { return *far_; }
  PanelFarField& kept_far(const LooseFar& loose) {
    std::unique_ptr<PanelFarField>& far = looser_[loose.accuracy.order];
    if (!far) far = far_field(loose.accuracy, gathering(), stored_);
    return *far;
  }

  std::unique_ptr<PanelFarField> far_field(const FarAccuracy& accuracy, Gathering gathering,
                                           bool keeps_moments) const {
    return make_panel_far_field(*panels_, tree_, pieces_.get(),
                                {.kind = kind_of(kernel_.source),
                                 .kappa = kernel_.kappa,
                                 .order = accuracy.order,
                                 .precision = accuracy.precision,
                                 .moments = accuracy.moments,
                                 // moments' errors are up to ten times the tolerance
                                 .reach = far_reach_for(0.1 * accuracy.moments),
                                 .gathering = gathering,
                                 .keeps_moments = keeps_moments},
                                stream_, near_stream_);
  }

  /// y = A x or Aᵀ x of vectors in device memory.
  void enqueue(PanelFarField& far, NearField& near, const double* x, double* y, int vectors,
               bool transposed, ProductTimes* times) {
    if (!transposed) return far.multiply(near, x, y, vectors, times);
    if (!transposed_)
      transposed_ =
          std::make_unique<TransposedLists>(tree_, columns_.get(), panels_->size(), stream_);
    far.multiply_transposed(*transposed_, near, x, y, vectors, times);
  }

  /// Calls multiply(far, near) with what is made for this one product.
  template <class Multiply>
  void with_once(const FarAccuracy& accuracy, const std::optional<double>& near_tolerance,
                 const Product& product, Multiply&& multiply) {
    with_advice(!stored_, [&] {
      far_->release();
      const bool spends = spends_memory_on(product.vectors);
      const auto far = far_field(accuracy, spends ? Gathering::wide : Gathering::sparing, spends);
      if (!near_tolerance) return multiply(*far, *near_);
      const auto near = spends ? stored_near_field<double>(*near_tolerance)
                               : lean_near_field(*near_tolerance, Precision::double_precision,
                                                 ClosePairStorage::none);
      multiply(*far, *near);
    });
  }

  /// Whether a product of so many vectors is to be fast although what is made for it takes memory:
  /// a lean near field would integrate for each few of them.
  bool spends_memory_on(int vectors) const {
    constexpr int few = 4, of_memory = 8;
    return stored_ && vectors > few &&
           near_bytes(Precision::double_precision) < available_device_memory() / of_memory;
  }

  std::int64_t near_bytes(Precision precision) const {
    return near_entries() * (precision == Precision::single_precision ? 4 : 8);
  }

  /// Refuses an x that is not finite, as on the CPU. It is looked at only if the product is NaN,
  /// which it is everywhere then.
  void refuse_not_finite(const double* x, const double* y, const Product& product) const {
    const std::size_t n = in(product), rows = out(product);
    const int vectors = product.vectors;
    for (int v = 0; v < vectors; ++v)
      if (std::isnan(y[v * rows]))
        fmm::check_evaluation(n, rows, {.charges = {x, n * vectors}, .count = vectors}, {});
  }

  PanelKernel kernel_;
  Stream stream_{true}, near_stream_;
  std::optional<BlockPanels> block_;
  std::shared_ptr<const PanelStore> panels_;  ///< its sources
  std::unique_ptr<DevicePieces> pieces_;      ///< null where no panel is cut
  SpreadTree tree_;
  std::unique_ptr<PieceColumns> columns_;        ///< with pieces
  std::unique_ptr<TransposedLists> transposed_;  ///< from the first transposed product on
  bool stored_ = true;
  std::unique_ptr<PanelFarField> far_;
  std::map<int, std::unique_ptr<PanelFarField>> looser_;  ///< by order
  std::unique_ptr<NearField> near_;
  std::unique_ptr<ProductTimes> times_;  ///< null unless asked for
};

}  // namespace

std::shared_ptr<BoundaryOperator> make_fmm_operator(const Panels& panels, const Layer& layer,
                                                    const OperatorOptions& options,
                                                    const PanelBlock& block) {
  FMBEM_REQUIRE(layer.target == Trace::value, layer.name() << " is no operator of the FMM");
  require_cuda_device();
  keep_freed_memory();
  return with_advice(options.near_field == OperatorOptions::NearField::lean, [&] {
    return std::make_shared<EngineOperator<DeviceEngine>>(panels, layer, options, block);
  });
}

}  // namespace fmbem::cuda::bem
