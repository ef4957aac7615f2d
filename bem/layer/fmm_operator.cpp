#include "fmbem/bem/layer/fmm_operator.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "fmbem/bem/layer/dense_operator.hpp"
#include "fmbem/bem/layer/far_choice.hpp"
#include "fmbem/bem/near/block_product.hpp"
#include "fmbem/bem/near/near_fraction.hpp"
#include "fmbem/bem/near/near_integrals.hpp"
#include "fmbem/bem/near/panel_integrals.hpp"
#include "fmbem/bem/precond/cluster_inverse.hpp"
#include "fmbem/bem/space/panel_sources.hpp"
#include "fmbem/fmm/base/buffer.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/machine.hpp"
#include "fmbem/fmm/base/stopwatch.hpp"
#include "fmbem/fmm/far_field.hpp"

namespace fmbem {
namespace {

using fmm::FarField;
using fmm::PlanData;
using fmm::Range;

/// The columns of V between the targets of a row of the near lists and its sources, one by one.
class NearColumns {
 public:
  NearColumns(std::span<const Triangle> panels, const PlanData& data, double tolerance)
      : panels_(panels),
        data_(data),
        tolerance_(tolerance),
        integrals_(tolerance, FarKernel::potential) {}

  /// Calls body(panel, column [targets]) for each near source of the row, in the order of the
  /// lists.
  template <class Body>
  void for_row(std::size_t row, Body body) {
    const Range range = data_.tree.boxes[data_.near.targets[row]].targets;
    targets_.clear();
    for (std::int32_t i = range.begin; i < range.end; ++i)
      targets_.add(panels_[data_.targets().order[i]].centroid);
    targets_.pad();
    for (std::int64_t k = data_.near.begin[row]; k < data_.near.begin[row + 1]; ++k) {
      const Range sources = data_.tree.boxes[data_.near.sources[k]].own_sources();
      for (std::int32_t j = sources.begin; j < sources.end; ++j) {
        const std::int32_t panel = data_.sources.order[j];
        const Triangle& t = panels_[panel];
        integrals_.integrate(t, targets_);
        column_.assign(integrals_.potential().begin(),
                       integrals_.potential().begin() + range.size());
        for (const int i : integrals_.close())
          column_[i] = close_panel_potential(t, targets_[i], tolerance_);
        body(panel, column_.data());
      }
    }
  }

 private:
  std::span<const Triangle> panels_;
  const PlanData& data_;
  double tolerance_;
  NearIntegrals integrals_;
  IntegralTargets targets_;
  std::vector<double> column_;
};

double near_fraction(std::span<const Triangle> panels, const PlanData& data) {
  struct Spot {
    Vec3d centroid;
    double area;
  };
  std::vector<Spot> spots;
  spots.reserve(panels.size());
  for (const Triangle& t : panels) spots.push_back({t.centroid, t.area});
  const std::size_t rows = data.near.targets.size(),
                    stride = std::max<std::size_t>(1, rows / near_fraction_rows);
  std::vector<double> near_sums((rows + stride - 1) / stride), sums(near_sums.size());
#pragma omp parallel for schedule(dynamic, 1)
  for (std::size_t k_row = 0; k_row < sums.size(); ++k_row) {
    const std::size_t row = k_row * stride;
    const std::int32_t target = data.tree.boxes[data.near.targets[row]].targets.begin;
    const Vec3d x = spots[data.targets().order[target]].centroid;
    const auto part = [&](const Spot& s) {
      return panel_size_over_distance(s.area, s.centroid, x);
    };
    for (std::int64_t k = data.near.begin[row]; k < data.near.begin[row + 1]; ++k) {
      const Range sources = data.tree.boxes[data.near.sources[k]].own_sources();
      for (std::int32_t j = sources.begin; j < sources.end; ++j)
        near_sums[k_row] += part(spots[data.sources.order[j]]);
    }
    for (const Spot& s : spots) sums[k_row] += part(s);
  }
  return near_fraction_of(near_sums, sums);
}

template <class Entry>
class FmmSingleLayer final : public BoundaryOperator {
 public:
  FmmSingleLayer(const Panels& panels, const OperatorOptions& options)
      : panels_(panels),
        options_(options),
        triangles_(triangles_of(panels)),
        sources_(triangles_, 0.5 * options.tolerance) {
    fmm::Stopwatch watch(seconds_);
    centroids_.reserve(panels.size());
    for (const Triangle& t : triangles_) centroids_.push_back(t.centroid);
    fmm::FarFieldOptions far;
    far.order = options.order.value_or(far_order_for(options.tolerance));
    far.precision = far_precision_for(options.tolerance);
    far.max_leaf = options.max_leaf;
    far.overhang = options.overhang.value_or(panel_overhang);
    far.near_pair_seconds = near_pair_seconds;
    far_ = std::make_unique<FarField>(sources_, centroids_, far);
    watch.add("far field");
    near_fraction_ = near_fraction(triangles_, far_->data());
    near_tolerance_ = near_tolerance_for_both(options.tolerance, near_fraction_, precision, true);
    integrate_near_field();
    watch.add("near field");
  }

  std::size_t size() const override { return panels_.size(); }

  OperatorInfo info() const override {
    const fmm::PlanInfo far = far_->info();
    OperatorInfo info{.name = "V", .kind = OperatorKind::fmm};
    info.memory_bytes = static_cast<std::int64_t>(entries_.size() * sizeof(Entry)) +
                        far.memory_bytes + far.operator_bytes;
    info.precision = precision;
    info.order = far.order;
    info.far_precision = far.precision;
    info.levels = far.levels;
    info.max_leaf = far.max_leaf;
    info.inflation = far.inflation;
    info.near_entries = far.near_pairs;
    info.setup_seconds = seconds_;
    info.product_seconds = product_seconds_;
    return info;
  }

  void apply(const double* x, double* y, int n_vectors) const override {
    const std::size_t numbers = size() * n_vectors;
    far_->evaluate({.charges = {x, numbers}, .count = n_vectors}, {.potential = {y, numbers}});
    product_seconds_ = far_->evaluate_seconds();
    fmm::Stopwatch watch(product_seconds_);
    add_near_field(x, y, n_vectors);
    watch.add("near field");
  }

  void apply_accurately(const double* x, double* y, int n_vectors) const override {
    const double tolerance = accurate_tolerance_for(options_.tolerance);
    const fmm::PlanInfo info = far_->info();
    const int order = far_order_for(tolerance);
    const bool stored = near_entries_serve(tolerance, precision, near_tolerance_, near_fraction_);
    // For few panels making the operators of a high order would take longer than all integrals.
    const double n = static_cast<double>(size());
    const bool direct =
        !stored && n * n * integral_seconds < making_operators_seconds * std::pow(order, 5);
    const PanelSources sources(triangles_, 0.5 * tolerance);
    const FarField far(sources, centroids_,
                       {.order = order,
                        .precision = far_precision_for(tolerance),
                        .overhang = options_.overhang.value_or(panel_overhang),
                        .max_leaf = direct ? static_cast<int>(size()) : info.max_leaf,
                        .inflation = info.inflation,
                        .keep_moments = false});
    const std::size_t numbers = size() * n_vectors;
    far.evaluate({.charges = {x, numbers}, .count = n_vectors}, {.potential = {y, numbers}});
    if (stored)
      add_near_field(x, y, n_vectors);
    else
      add_near_field_afresh(far.data(), tolerance, x, y, n_vectors);
  }

  std::unique_ptr<ApproximateInverse> approximate_inverse() const override {
    return std::make_unique<ClusterInverse>(panels_, triangles_);
  }

  void diagonal_block(std::int64_t begin, std::int64_t end, double* block) const override {
    exact_block(panels_, begin, end, block);
  }

 private:
  /// By integrals that are not stored.
  void add_near_field_afresh(const PlanData& data, double tolerance, const double* x, double* y,
                             int n_vectors) const {
#pragma omp parallel
    {
      NearColumns columns(triangles_, data, 0.5 * tolerance);
      std::vector<double> sum;
#pragma omp for schedule(dynamic, 8)
      for (std::size_t row = 0; row < data.near.targets.size(); ++row) {
        const Range range = data.tree.boxes[data.near.targets[row]].targets;
        sum.assign(static_cast<std::size_t>(n_vectors) * range.size(), 0.0);
        columns.for_row(row, [&](std::int32_t panel, const double* column) {
          for (int v = 0; v < n_vectors; ++v)
            for (std::int32_t i = 0; i < range.size(); ++i)
              sum[v * range.size() + i] += x[v * size() + panel] * column[i];
        });
        for (int v = 0; v < n_vectors; ++v)
          for (std::int32_t i = 0; i < range.size(); ++i)
            y[v * size() + data.targets().order[range.begin + i]] += sum[v * range.size() + i];
      }
    }
  }

  /// What an entry of the near field costs one thread in a product, its integral spread over some
  /// 12 of them.
  static constexpr double near_pair_seconds = 4e-9;
  static constexpr Precision precision =
      std::is_same_v<Entry, float> ? Precision::single_precision : Precision::double_precision;
  /// Of one thread: an integral, and the operators of an order p over p⁵.
  static constexpr double integral_seconds = 2.5e-8, making_operators_seconds = 3.5e-7;

  void integrate_near_field() {
    const PlanData& data = far_->data();
    const std::size_t rows = data.near.targets.size();
    entries_begin_.assign(1, 0);
    for (std::size_t row = 0; row < rows; ++row)
      entries_begin_.push_back(entries_begin_.back() +
                               near_sources(data.tree, data.near, row) *
                                   data.tree.boxes[data.near.targets[row]].targets.size());
    const std::int64_t bytes = entries_begin_.back() * static_cast<std::int64_t>(sizeof(Entry));
    if (bytes > available_memory())
      throw ResourceError("the near field of " + std::to_string(size()) + " panels needs " +
                          std::to_string(bytes >> 20) + " MiB, but " +
                          std::to_string(available_memory() >> 20) +
                          " MiB are free: use a looser tolerance or a coarser mesh");
    entries_ = Buffer<Entry>(entries_begin_.back() + block_rows);
    std::fill_n(entries_.data() + entries_begin_.back(), block_rows, Entry(0));
    // Slices, so that progress (and what it throws) stays on the calling thread.
    const std::size_t slice = options_.progress ? rows / 100 + 1 : rows;
    for (std::size_t first = 0; first < rows; first += slice) {
      integrate_rows(first, std::min(first + slice, rows));
      if (options_.progress)
        options_.progress(static_cast<double>(std::min(first + slice, rows)) /
                          static_cast<double>(rows));
    }
  }

  void integrate_rows(std::size_t first, std::size_t last) {
    const PlanData& data = far_->data();
#pragma omp parallel
    {
      NearColumns columns(triangles_, data, near_tolerance_);
#pragma omp for schedule(dynamic, 8)
      for (std::size_t row = first; row < last; ++row) {
        const int targets = data.tree.boxes[data.near.targets[row]].targets.size();
        Entry* out = entries_.data() + entries_begin_[row];
        columns.for_row(row, [&](std::int32_t, const double* column) {
          for (int i = 0; i < targets; ++i) out[i] = static_cast<Entry>(column[i]);
          out += targets;
        });
      }
    }
  }

  void add_near_field(const double* x, double* y, int n_vectors) const {
    const PlanData& data = far_->data();
    const std::size_t n = size();
    for_vector_groups(n_vectors, [&](int first, int width, int present) {
#pragma omp parallel
      {
        std::vector<double> near_x, sum;
#pragma omp for schedule(dynamic, 8)
        for (std::size_t row = 0; row < data.near.targets.size(); ++row) {
          const Range range = data.tree.boxes[data.near.targets[row]].targets;
          const std::int64_t sources =
              (entries_begin_[row + 1] - entries_begin_[row]) / range.size();
          near_x.assign(sources * width, 0.0);
          sum.resize(static_cast<std::size_t>(range.size()) * width);
          double* next = near_x.data();
          for (std::int64_t k = data.near.begin[row]; k < data.near.begin[row + 1]; ++k) {
            const Range own = data.tree.boxes[data.near.sources[k]].own_sources();
            for (std::int32_t j = own.begin; j < own.end; ++j, next += width)
              for (int v = 0; v < present; ++v)
                next[v] = x[(first + v) * n + data.sources.order[j]];
          }
          multiply_block(width, sources, range.size(), entries_.data() + entries_begin_[row],
                         near_x.data(), sum.data());
          for (int v = 0; v < present; ++v)
            for (std::int32_t i = 0; i < range.size(); ++i)
              y[(first + v) * n + data.targets().order[range.begin + i]] +=
                  sum[v * range.size() + i];
        }
      }
    });
  }

  const Panels& panels_;
  OperatorOptions options_;
  LargeVector<Triangle> triangles_;  ///< asked for again and again
  PanelSources sources_;
  std::vector<Vec3d> centroids_;
  std::unique_ptr<FarField> far_;
  double near_fraction_ = 1;                 ///< of the near field in ‖V‖
  double near_tolerance_ = 0;                ///< relative error of its integrals
  std::vector<std::int64_t> entries_begin_;  ///< [rows + 1]
  Buffer<Entry> entries_;                    ///< row after row, [near sources][targets]
  fmm::Seconds seconds_;
  mutable fmm::Seconds product_seconds_;  ///< of the last product
};

}  // namespace

Precision check_fmm_options(const OperatorOptions& options) {
  FMBEM_REQUIRE(options.tolerance >= fmm_tolerance_at_least && options.tolerance <= 0.5,
                "the tolerance of the FMM operator must be between "
                    << fmm_tolerance_at_least << " and 0.5, not " << options.tolerance
                    << ": loosen it, or use the dense operator, up to " << dense_panels_at_most
                    << " panels");
  FMBEM_REQUIRE(options.precision != Precision::single_precision || options.tolerance >= 1e-7,
                "single precision carries operator tolerances of the FMM from 1e-7 on, not "
                    << options.tolerance << ": use --precision double, or loosen the tolerance");
  return options.precision.value_or(near_precision_for(options.tolerance));
}

void exact_block(const Panels& panels, std::int64_t begin, std::int64_t end, double* block) {
  std::vector<Triangle> own;
  for (std::int64_t i = begin; i < end; ++i) own.push_back(panels.triangle(i));
  for (const Triangle& target : own)
    for (const Triangle& source : own) *block++ = panel_potential(source, target.centroid);
}

std::unique_ptr<BoundaryOperator> make_fmm_single_layer(const Panels& panels,
                                                        const OperatorOptions& options) {
  if (check_fmm_options(options) == Precision::single_precision)
    return std::make_unique<FmmSingleLayer<float>>(panels, options);
  return std::make_unique<FmmSingleLayer<double>>(panels, options);
}

}  // namespace fmbem
