#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <optional>

#include "fmbem/bem/geometry/panel_block.hpp"
#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/bem/layer/far_choice.hpp"
#include "fmbem/bem/layer/fmm_operator.hpp"
#include "fmbem/bem/near/norm_estimate.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/stopwatch.hpp"
#include "fmbem/fmm/check.hpp"

namespace fmbem {

/// What an operator's near field is made for.
struct NearAccuracy {
  double tolerance;     ///< relative error of the integrals
  Precision precision;  ///< of stored entries, or of integrals in products
};

/// What a far field is made for.
struct FarAccuracy {
  int order;
  Precision precision;
  double moments;  ///< relative error of the sources' moments
};

/// A far field of lower order, which an engine keeps for the next product that is as loose.
struct LooseFar {
  FarAccuracy accuracy;
};

/// What an engine is made for.
struct EngineTask {
  const OperatorOptions& options;
  const PanelBlock& block;
  Layer layer;
  bool crowded;  ///< as is_crowded()
  int order;
  Precision far, near;  ///< of expansions, and of stored near entries
};

/// An operator by the FMM. An engine has its tree, far field and near field and multiplies with
/// them: on the CPU (cpu_engine.hpp) or on a GPU (cuda/device_engine.cu). What both have in common
/// is here: which order, precision and near integrals a tolerance takes.
///
/// An engine has a tree when it is made. Then it is asked for norm_estimate(), set_far() and
/// set_near(); it multiplies with both, with others made for a single product, or with a LooseFar
/// and all near entries. largest_rounding() is the most that a stored entry lost, or 0 where that
/// is not known. integral_tolerance(tolerance, near_fraction) is the relative error that
/// products to a tolerance allow moments, and near integrals made for one product.
template <class Engine>
class EngineOperator final : public BoundaryOperator {
 public:
  EngineOperator(const Panels& panels, const Layer& layer, const OperatorOptions& options,
                 const PanelBlock& block)
      : panels_(panels),
        layer_(layer),
        options_(options),
        crowded_(is_crowded(crowding(panels, options.kappa))),
        rows_(count_of(block.rows, panels.size())),
        columns_(count_of(block.columns, panels.size())) {
    const Precision precision = check_fmm_options(layer, options);
    const double tolerance = options.tolerance;
    const int order =
        options.order.value_or(far_order_for(tolerance, layer.source, crowded_, options.kappa > 0));
    fmm::check_order(order);
    fmm::Stopwatch watch(seconds_);
    const Precision far = far_precision_for(tolerance, layer_.source);
    engine_ = std::make_unique<Engine>(
        panels, EngineTask{options, block, layer, crowded_, order, far, precision}, watch);
    order_ = options.order.value_or(far_order(tolerance));
    estimate_ = engine_->norm_estimate();
    engine_->set_far({order_, far, Engine::integral_tolerance(tolerance, estimate_.near_fraction)});
    watch.add("far field");
    const double enough = near_tolerance_for(tolerance, estimate_.near_fraction);
    const NearAccuracy for_both{
        near_tolerance_for_both(tolerance, layer.source, estimate_.near_fraction,
                                rounding_of(precision), engine_->stores_near_field()),
        precision};
    near_ = engine_->near_accuracy(for_both, enough);
    engine_->set_near(near_, options.progress);
    watch.add("near field");
  }

  std::size_t size() const override { return panels_.size(); }
  std::size_t rows() const override { return rows_; }
  std::size_t columns() const override { return columns_; }
  Processor processor() const override { return Engine::processor; }
  double accurate_tolerance() const override {
    return accurate_tolerance_for(options_.tolerance, layer_.source);
  }
  double cheap_tolerance() const override {
    const bool is_double =
        far_precision_for(options_.tolerance, layer_.source) == Precision::double_precision;
    return options_.relaxes && is_double ? cheap_far_tolerance : 0;
  }
  double tightest_tolerance() const override { return least_tolerance(layer_.source).of_product; }
  double norm() const override { return estimate_.norm; }
  const LinearMap* rows_of_v() const override { return layer_ == single_layer ? this : nullptr; }
  double rest_norm() const override { return layer_ == single_layer ? 0 : estimate_.norm; }
  void wait() const override { engine_->wait(); }

  OperatorInfo info() const override {
    const std::lock_guard<std::mutex> one_at_a_time(multiplying_);
    OperatorInfo info{.name = layer_.name(), .kind = OperatorKind::fmm};
    info.processor = Engine::processor;
    info.precision = near_.precision;
    info.order = order_;
    info.far_precision = far_precision_for(options_.tolerance, layer_.source);
    info.near_field_stored = engine_->stores_near_field();
    info.setup_seconds = seconds_;
    engine_->describe(info);
    return info;
  }

  void diagonal_block(std::int64_t begin, std::int64_t end, double* block) const override {
    exact_block(panels_, layer_, begin, end, block, options_.kappa);
  }
  bool columns_on_device(const Columns& columns, double* entries) const override {
    if constexpr (Engine::processor == Processor::gpu) engine_->set_columns(columns, entries);
    return Engine::processor == Processor::gpu;
  }
  std::unique_ptr<ApproximateInverse> approximate_inverse() const override {
    const bool has_all = rows_ == size() && columns_ == size();
    const bool is_laplace = options_.kappa == 0;
    return layer_ == single_layer && has_all && is_laplace ? engine_->approximate_inverse()
                                                           : nullptr;
  }

 protected:
  void multiply(const double* x, double* y, const Product& product) const override {
    for_accuracy(product,
                 [&](const auto&... accuracy) { engine_->multiply(x, y, product, accuracy...); });
  }
  void multiply_on_device(const double* x, double* y, const Product& product) const override {
    if constexpr (Engine::processor == Processor::gpu)
      for_accuracy(product, [&](const auto&... accuracy) {
        engine_->multiply_on_device(x, y, product, accuracy...);
      });
    else
      LinearMap::multiply_on_device(x, y, product);
  }

 private:
  /// The decade below the tolerance of a product, so that few far fields are made.
  static double decade_below(double product_tolerance) {
    constexpr double loosest = 0.1;
    constexpr double slack = 1e-9;  // of this arithmetic
    return std::pow(10.0, std::floor(std::log10(std::min(product_tolerance, loosest)) + slack));
  }

  LooseFar loose_far(double tolerance) const {
    return {{std::min(order_, far_order(tolerance)), far_precision_for(tolerance, layer_.source),
             Engine::integral_tolerance(tolerance, estimate_.near_fraction)}};
  }

  double rounding_of(Precision precision) const {
    return norm_of_rounding(precision, engine_->cuts_panels());
  }

  /// Of panels that are cut, more charge is where boxes meet than of others.
  int far_order(double tolerance) const {
    constexpr double of_pieces = 0.7;
    return far_order_for(engine_->cuts_panels() ? of_pieces * tolerance : tolerance, layer_.source,
                         crowded_, options_.kappa > 0);
  }

  /// Calls multiply() for a product that the engine's far and near field serve, and multiply(loose
  /// far) for one that is relaxed. For one that is tighter it calls multiply(far, near), with a far
  /// field made for it, and the engine's near field if that is accurate enough, or else integrals
  /// to that tolerance.
  template <class Multiply>
  void for_accuracy(const Product& product, Multiply&& multiply) const {
    const std::lock_guard<std::mutex> one_at_a_time(multiplying_);
    const double tolerance = product.tolerance;
    if (options_.relaxes && tolerance > options_.tolerance)
      if (const double decade = decade_below(tolerance); decade > options_.tolerance)
        return multiply(loose_far(decade));
    if (tolerance == 0 || tolerance >= options_.tolerance) return multiply();
    FMBEM_REQUIRE(tolerance >= tightest_tolerance(), "products by the FMM are as accurate as "
                                                         << tightest_tolerance() << ", not "
                                                         << tolerance);
    const double integrals = Engine::integral_tolerance(tolerance, estimate_.near_fraction);
    const bool serves = near_entries_serve(tolerance, rounding_of(near_.precision), near_.tolerance,
                                           estimate_.near_fraction) &&
                        one_rounding_serves(tolerance, engine_->largest_rounding(), norm());
    multiply(
        FarAccuracy{far_order(tolerance), far_precision_for(tolerance, layer_.source), integrals},
        serves ? std::nullopt : std::optional<double>(integrals));
  }

  Panels panels_;
  Layer layer_;
  OperatorOptions options_;
  bool crowded_;
  std::size_t rows_, columns_;
  int order_ = 0;
  std::unique_ptr<Engine> engine_;
  NormEstimate estimate_;
  NearAccuracy near_{};
  mutable std::mutex multiplying_;  ///< products go one after the other: they share expansions
  fmm::Seconds seconds_;
};

}  // namespace fmbem
