#include "fmbem/fmm/cpu/backend.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "fmbem/fmm/base/buffer.hpp"
#include "fmbem/fmm/base/stopwatch.hpp"
#include "fmbem/fmm/cpu/functional_moments.hpp"
#include "fmbem/fmm/cpu/hybrid.hpp"
#include "fmbem/fmm/cpu/near_data.hpp"
#include "fmbem/fmm/cpu/treecode.hpp"

namespace fmbem::fmm {
namespace {

/// Right-hand sides that go through the stages together: enough to share the near field's roots and
/// the operators, few enough to keep their expansions small.
constexpr int most_vectors = 8;
constexpr std::int64_t bytes_of_a_batch = std::int64_t{1} << 30;

template <class T>
class CpuBackend final : public Backend {
 public:
  CpuBackend(const PointTree& tree, const Accuracy& accuracy, const Functionals* functionals,
             Moments moments)
      : tree_(tree),
        order_(accuracy.order),
        accuracy_(accuracy),
        strengths_(functionals ? functionals->strengths() : 1),
        table_(order_),
        operators_(make_operators()) {
    pass_.kappa = kappa();
    pass_.softening = kernel_softening(accuracy.softening, tree.scale);
    pass_.reach = reach();
    pass_.top_level = top_level();
    if (acts_on_points() && accuracy.kappa > 0) pass_.raised = &raised_.emplace(order_);
    if (functionals)
      functionals_.emplace(tree, table_, *functionals, has_far() ? moments : Moments::afresh,
                           FunctionalKernel{kappa(), pass_.top_level});
    else
      near_.emplace(tree, accuracy.near_precision, accuracy.method);
    if (!tree.lists.hybrid.m2l.sources.empty()) displaced_.emplace(tree, order_, kappa());
  }
  CpuBackend(const CpuBackend&) = delete;

  std::int64_t operator_bytes() const override {
    return operators_.bytes() + (displaced_ ? displaced_->bytes() : 0);
  }
  std::int64_t moment_bytes() const override {
    return functionals_ ? functionals_->kept_bytes() : 0;
  }

  void evaluate(const Strengths& strengths, const Fields& fields, Direction direction,
                Seconds& seconds) override {
    const bool transposed = direction == Direction::transposed;
    pass_.from = transposed ? &Box::targets : &Box::sources;
    pass_.to = transposed ? &Box::sources : &Box::targets;
    const auto bytes = static_cast<std::int64_t>(2 * expansion_numbers() * sizeof(T));
    const auto batch = static_cast<int>(std::clamp<std::int64_t>(
        bytes_of_a_batch / bytes, 1, std::min(strengths.count, most_vectors)));
    reserve(batch);
    for (int first = 0; first < strengths.count; first += batch)
      evaluate(strengths, fields, first, std::min(batch, strengths.count - first), seconds);
  }

 private:
  /// In the tree's unit.
  double kappa() const { return kernel_kappa(accuracy_.kappa, tree_.scale); }
  double reach() const { return kernel_reach(accuracy_.kappa, accuracy_.reach, tree_.scale); }
  LevelOperators<T> make_operators() const {
    const M2lOrders orders = m2l_orders(tree_.sources_are_targets);
    if (!has_far()) return {};
    if (accuracy_.kappa > 0) return {kappa(), reach(), tree_, accuracy_.method, order_, orders};
    if (is_treecode() ||
        (is_hybrid() && tree_.lists.hybrid.m2l_places.empty()))  // no blocks of M2L
      return LevelOperators<T>(cpu_operators<T>(Laplace(), order_, orders, M2l::fitted, 0));
    return LevelOperators<T>(cpu_operators<T>(Laplace(), order_, orders));
  }
  bool is_treecode() const { return accuracy_.method == Method::treecode; }
  bool is_hybrid() const { return accuracy_.method == Method::hybrid; }
  /// Expansions act on points, and points on expansions.
  bool acts_on_points() const { return is_treecode() || is_hybrid(); }
  /// Trees of fewer levels have boxes that all touch: nothing is far.
  bool has_far() const { return tree_.octree.levels() > first_far_level(accuracy_.method); }
  int top_level() const {
    const Octree& octree = tree_.octree;
    if (!acts_on_points()) return operators_.top_level(octree);
    int level = first_far_level(accuracy_.method);
    while (level < octree.levels() && !has_expansions(octree, level, reach())) ++level;
    return level;
  }
  /// The expansions of all boxes, for one right-hand side, are so many numbers.
  std::size_t expansion_numbers() const { return tree_.octree.boxes.size() * order_.count; }

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
    const std::size_t results = pass.to_points().size() * vectors * results_of_a_vector(pass);
    pass.potential.resize(fields.potential.empty() ? 0 : results);
    for (auto& axis : pass.gradient) axis.resize(fields.gradient.empty() ? 0 : results);
    for (auto& entry : pass.hessian) entry.resize(fields.hessian.empty() ? 0 : results);
    watch.add("sort");
    if (has_far()) {
      if (pass.is_transposed())
        p2m(pass, tree_.lists.p2p.targets);
      else if (functionals_)
        functionals_->p2m(pass);
      else
        p2m(pass, tree_.lists.source_boxes);
    }
    watch.add("P2M");
    m2m(pass);
    watch.add("M2M");
    if (is_treecode()) {
      treecode(*near_, pass, seconds);
      watch.restart();
    } else {
      far_and_near(pass, watch, seconds);
    }
    unsort_fields(pass, first, units, fields);
    watch.add("sort");
  }

  void far_and_near(Pass<T>& pass, Stopwatch& watch, Seconds& seconds) {
    m2l(pass);
    if (displaced_) displaced_->add(pass);
    watch.add("M2L");
    if (is_hybrid()) {
      p2l(pass);
      watch.add("P2L");
    }
    l2l(pass);
    watch.add("L2L");
    if (near_) {
      if (pass.wants_values()) p2p(*near_, pass);
      if (pass.wants_hessian()) p2p_hessian(*near_, pass);
      watch.add("P2P");
      if (is_hybrid()) {
        m2p(*near_, pass, seconds);
        watch.restart();
      }
    } else {
      for (int k = 0; k < 4; ++k) std::fill(pass.result(k).begin(), pass.result(k).end(), 0.0);
      for (auto& entry : pass.hessian) std::fill(entry.begin(), entry.end(), 0.0);
    }
    if (pass.is_transposed())
      functionals_->l2p(pass);
    else
      l2p(pass);
    watch.add("L2P");
  }

  // Sources that are functionals may have several strengths, which a transposed pass has as
  // results.
  int strengths_of_a_vector(const Pass<T>& pass) const {
    return pass.is_transposed() ? 1 : strengths_;
  }
  int results_of_a_vector(const Pass<T>& pass) const {
    return pass.is_transposed() ? strengths_ : 1;
  }

  /// A power of two that brings the largest strength of a right-hand side to [1, 2), so that
  /// strengths of any size stay in the range of single precision.
  std::vector<double> units_of(const Strengths& strengths, int first, int vectors) const {
    const std::int64_t n =
        strengths_of_a_vector(pass_) * static_cast<std::int64_t>(pass_.from_points().size());
    std::vector<double> units(vectors, 1.0);
    for (int v = 0; v < vectors; ++v) {
      double largest = 0;
      const std::int64_t begin = (first + v) * n;
#pragma omp parallel for schedule(static) reduction(max : largest)
      for (std::int64_t j = begin; j < begin + n; ++j) {
        if (!strengths.charges.empty()) largest = std::max(largest, std::abs(strengths.charges[j]));
        if (!strengths.dipoles.empty())
          for (int axis = 0; axis < 3; ++axis)
            largest = std::max(largest, tree_.scale * std::abs(strengths.dipoles[j][axis]));
      }
      if (largest > 0) units[v] = std::ldexp(1.0, -std::clamp(std::ilogb(largest), -1000, 1000));
    }
    return units;
  }

  void sort_strengths(const Strengths& strengths, int first, const std::vector<double>& units,
                      Pass<T>& pass) const {
    const std::int64_t n = static_cast<std::int64_t>(pass.from_points().size());
    const int of_a_vector = strengths_of_a_vector(pass), rows = pass.vectors * of_a_vector;
    const std::size_t numbers = static_cast<std::size_t>(n) * rows;
    const auto& order = pass.from_points().order;
    pass.charges.resize(strengths.charges.empty() ? 0 : numbers);
    for (auto& axis : pass.dipoles) axis.resize(strengths.dipoles.empty() ? 0 : numbers);
    for (int v = 0; v < rows; ++v) {
      const double unit = units[v / of_a_vector];
#pragma omp parallel for schedule(static)
      for (std::int64_t k = 0; k < n; ++k) {
        const std::size_t from = static_cast<std::size_t>(first * of_a_vector + v) * n + order[k];
        if (!strengths.charges.empty())
          pass.charges[v * n + k] = static_cast<T>(unit * strengths.charges[from]);
        if (!strengths.dipoles.empty())
          for (int axis = 0; axis < 3; ++axis)
            pass.dipoles[axis][v * n + k] =
                static_cast<T>(unit * (tree_.scale * strengths.dipoles[from][axis]));
      }
    }
  }

  void unsort_fields(const Pass<T>& pass, int first, const std::vector<double>& units,
                     const Fields& fields) const {
    const std::int64_t n = static_cast<std::int64_t>(pass.to_points().size());
    const auto& order = pass.to_points().order;
    const int of_a_vector = results_of_a_vector(pass);
    for (int v = 0; v < pass.vectors * of_a_vector; ++v) {
      // Weights of functionals hold areas, which their moments take in the tree's unit of length.
      const double length = functionals_ ? 1 / tree_.scale : tree_.scale;
      const double scale = Laplace::scale * length / units[v / of_a_vector],
                   gradient_scale = scale * tree_.scale;
#pragma omp parallel for schedule(static)
      for (std::int64_t k = 0; k < n; ++k) {
        const std::size_t to = static_cast<std::size_t>(first * of_a_vector + v) * n + order[k];
        const std::size_t from = static_cast<std::size_t>(v) * n + k;
        if (!fields.potential.empty()) fields.potential[to] = scale * pass.potential[from];
        if (!fields.gradient.empty())
          fields.gradient[to] =
              gradient_scale *
              Vec3d{pass.gradient[0][from], pass.gradient[1][from], pass.gradient[2][from]};
        if (!fields.hessian.empty())
          for (int entry = 0; entry < 6; ++entry)
            fields.hessian[to][entry] = gradient_scale * tree_.scale * pass.hessian[entry][from];
      }
    }
  }

  const PointTree& tree_;
  ParityOrder order_;
  Accuracy accuracy_;
  int strengths_;  ///< of a source
  HarmonicTable<T> table_;
  LevelOperators<T> operators_;
  std::optional<FunctionalMoments<T>> functionals_;
  std::optional<NearData> near_;              ///< of points
  std::optional<DisplacedM2l<T>> displaced_;  ///< of a hybrid with a small θ
  std::optional<RaisedMoments<T>> raised_;    ///< where Yukawa's expansions act on points
  int reserved_ = 0;                          ///< right-hand sides that there is room for
  Buffer<T> moments_, locals_;
  Pass<T> pass_{tree_, order_, accuracy_, cpu_kernels<T>(), operators_, table_};
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(const PointTree& tree, const Accuracy& accuracy,
                                          const Functionals* functionals, Moments moments) {
  if (accuracy.precision == Precision::single_precision)
    return std::make_unique<CpuBackend<float>>(tree, accuracy, functionals, moments);
  return std::make_unique<CpuBackend<double>>(tree, accuracy, functionals, moments);
}

}  // namespace fmbem::fmm
