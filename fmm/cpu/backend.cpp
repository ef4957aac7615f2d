#include "fmbem/fmm/cpu/backend.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "fmbem/fmm/base/buffer.hpp"
#include "fmbem/fmm/base/stopwatch.hpp"
#include "fmbem/fmm/cpu/near_data.hpp"
#include "fmbem/fmm/cpu/spread.hpp"

namespace fmbem::fmm {
namespace {

/// Right-hand sides that go through the stages together: enough to share the near field's roots and
/// the operators, few enough for their expansions to take little memory.
constexpr int most_vectors = 8;
constexpr std::int64_t bytes_of_a_batch = std::int64_t{1} << 30;

template <class T>
class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(const PlanData& data)
      : data_(data),
        table_(data.order),
        operators_(data.tree.levels() > 2
                       ? cpu_operators<T>(data.order, m2l_orders(data.sources_are_targets))
                       : std::make_shared<CpuOperators<T>>()),
        spread_(data, table_) {
    if (!data.spread) near_.emplace(data);
  }
  CpuBackend(const CpuBackend&) = delete;

  std::int64_t operator_bytes() const override { return operators_->bytes(); }

  void evaluate(const Strengths& strengths, const Fields& fields, Seconds& seconds) override {
    const auto bytes = static_cast<std::int64_t>(2 * expansion_numbers() * sizeof(T));
    const auto batch = static_cast<int>(std::clamp<std::int64_t>(
        bytes_of_a_batch / bytes, 1, std::min(strengths.count, most_vectors)));
    reserve(batch);
    for (int first = 0; first < strengths.count; first += batch)
      evaluate(strengths, fields, first, std::min(batch, strengths.count - first), seconds);
  }

 private:
  /// Coefficients of all boxes, for one right-hand side.
  std::size_t expansion_numbers() const { return data_.tree.boxes.size() * data_.order.count; }

  void reserve(int vectors) {
    if (vectors <= reserved_) return;
    const std::size_t numbers = expansion_numbers() * vectors;
    moments_ = Buffer<T>(numbers);  // the stages write what others read
    locals_ = Buffer<T>(numbers);
    pass_.moments = moments_.data();
    pass_.locals = locals_.data();
    reserved_ = vectors;
  }

  void evaluate(const Strengths& strengths, const Fields& fields, int first, int vectors,
                Seconds& seconds) {
    Stopwatch watch(seconds);
    Pass<T>& pass = pass_;
    pass.vectors = vectors;
    const std::vector<double> units = units_of(strengths, first, vectors);
    sort_strengths(strengths, first, units, pass);
    const std::size_t results = data_.targets().size() * vectors;
    pass.potential.resize(fields.potential.empty() ? 0 : results);
    for (auto& axis : pass.gradient) axis.resize(fields.gradient.empty() ? 0 : results);
    watch.add("sort");
    if (data_.tree.levels() > 2) {  // otherwise all boxes touch, and nothing is far
      if (data_.spread)
        spread_.p2m(pass);
      else
        p2m(pass);
    }
    watch.add("P2M");
    m2m(pass);
    watch.add("M2M");
    m2l(pass);
    watch.add("M2L");
    l2l(pass);
    watch.add("L2L");
    if (near_) {
      p2p(*near_, pass);
      watch.add("P2P");
    } else {
      for (int k = 0; k < 4; ++k) std::fill(pass.result(k).begin(), pass.result(k).end(), 0.0);
    }
    l2p(pass);
    watch.add("L2P");
    unsort_fields(pass, first, units, fields);
    watch.add("sort");
  }

  /// Power of two that brings the largest strength of each right-hand side to [1, 2), so that
  /// strengths of any size stay in the range of single precision.
  std::vector<double> units_of(const Strengths& strengths, int first, int vectors) const {
    const std::int64_t n = static_cast<std::int64_t>(data_.sources.size());
    std::vector<double> units(vectors, 1.0);
    for (int v = 0; v < vectors; ++v) {
      double largest = 0;
      const std::int64_t begin = (first + v) * n;
#pragma omp parallel for schedule(static) reduction(max : largest)
      for (std::int64_t j = begin; j < begin + n; ++j) {
        if (!strengths.charges.empty()) largest = std::max(largest, std::abs(strengths.charges[j]));
        if (!strengths.dipoles.empty())
          for (int axis = 0; axis < 3; ++axis)
            largest = std::max(largest, data_.unit * std::abs(strengths.dipoles[j][axis]));
      }
      if (largest > 0) units[v] = std::ldexp(1.0, -std::clamp(std::ilogb(largest), -1000, 1000));
    }
    return units;
  }

  void sort_strengths(const Strengths& strengths, int first, const std::vector<double>& units,
                      Pass<T>& pass) const {
    const std::int64_t n = static_cast<std::int64_t>(data_.sources.size());
    const std::size_t numbers = static_cast<std::size_t>(n) * pass.vectors;
    const auto& order = data_.sources.order;
    pass.charges.resize(strengths.charges.empty() ? 0 : numbers);
    for (auto& axis : pass.dipoles) axis.resize(strengths.dipoles.empty() ? 0 : numbers);
    for (int v = 0; v < pass.vectors; ++v) {
      const double unit = units[v], dipole_unit = unit * data_.unit;
#pragma omp parallel for schedule(static)
      for (std::int64_t k = 0; k < n; ++k) {
        const std::size_t from = static_cast<std::size_t>(first + v) * n + order[k];
        if (!strengths.charges.empty())
          pass.charges[v * n + k] = static_cast<T>(unit * strengths.charges[from]);
        if (!strengths.dipoles.empty())
          for (int axis = 0; axis < 3; ++axis)
            pass.dipoles[axis][v * n + k] =
                static_cast<T>(dipole_unit * strengths.dipoles[from][axis]);
      }
    }
  }

  void unsort_fields(const Pass<T>& pass, int first, const std::vector<double>& units,
                     const Fields& fields) const {
    const std::int64_t n = static_cast<std::int64_t>(data_.targets().size());
    const auto& order = data_.targets().order;
    for (int v = 0; v < pass.vectors; ++v) {
      // Moments of spread sources are of areas in the plan's unit.
      const double unit = data_.spread ? 1 / data_.unit : data_.unit;
      const double scale = Laplace::scale * unit / units[v], gradient_scale = scale * data_.unit;
#pragma omp parallel for schedule(static)
      for (std::int64_t k = 0; k < n; ++k) {
        const std::size_t to = static_cast<std::size_t>(first + v) * n + order[k];
        const std::size_t from = static_cast<std::size_t>(v) * n + k;
        if (!fields.potential.empty()) fields.potential[to] = scale * pass.potential[from];
        if (!fields.gradient.empty())
          fields.gradient[to] =
              gradient_scale *
              Vec3d{pass.gradient[0][from], pass.gradient[1][from], pass.gradient[2][from]};
      }
    }
  }

  const PlanData& data_;
  HarmonicTable<T> table_;
  std::shared_ptr<const CpuOperators<T>> operators_;
  SpreadMoments<T> spread_;
  std::optional<NearData> near_;  ///< of points
  int reserved_ = 0;              ///< right-hand sides that there is room for
  Buffer<T> moments_, locals_;
  Pass<T> pass_{data_, cpu_kernels<T>(), *operators_, table_};
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(const PlanData& data) {
  if (data.precision == Precision::single_precision)
    return std::make_unique<CpuBackend<float>>(data);
  return std::make_unique<CpuBackend<double>>(data);
}

}  // namespace fmbem::fmm
