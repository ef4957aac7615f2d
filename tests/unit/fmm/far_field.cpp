#include "fmbem/fmm/far_field.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include <omp.h>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/choice/grow_tree.hpp"
#include "fmbem/fmm/cpu/operators.hpp"
#include "fmbem/fmm/kernel/laplace.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test::far_field_tests {

using fmm::Box;
using fmm::FarField;
using fmm::PointTree;
using fmm::Range;

namespace {

using Points = std::vector<Vec3d>;

/// Of the sums over sources of all sizes.
constexpr int high_order = 22;

enum class With { charges, dipoles };

/// Sources of four points each, spread over cubes of very different sizes: with charges, or with
/// dipoles besides.
class Clouds final : public fmm::Functionals {
 public:
  Clouds(const Points& centres, double smallest, double largest, double scale, std::uint64_t seed,
         With with = With::charges) {
    Uniform uniform(seed);
    for (const Vec3d& centre : centres) {
      const double size = scale * smallest * std::pow(largest / smallest, uniform());
      centres_.push_back(scale * centre);
      points_.emplace_back();
      for (Vec3d& p : points_.back())
        p = scale * centre +
            size * Vec3d{uniform(-0.5, 0.5), uniform(-0.5, 0.5), uniform(-0.5, 0.5)};
      weights_.push_back(size * size * uniform(0.5, 1.5));
      dipoles_.emplace_back();
      if (with == With::dipoles)
        dipoles_.back() =
            scale * weights_.back() * Vec3d{uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)};
    }
    has_dipoles_ = with == With::dipoles;
  }

  std::size_t size() const override { return centres_.size(); }
  Vec3d centre(std::size_t j) const override { return centres_[j]; }
  void bounds(std::size_t j, Vec3d& low, Vec3d& high) const override {
    low = high = centres_[j];
    for (const Vec3d& p : points_[j]) {
      for (int axis = 0; axis < 3; ++axis) {
        low[axis] = std::min(low[axis], p[axis]);
        high[axis] = std::max(high[axis], p[axis]);
      }
    }
  }
  void quadrature(std::size_t j, double, fmm::WeightedPoints& points) const override {
    points = {};
    for (const Vec3d& p : points_[j]) {
      points.x.push_back(p.x);
      points.y.push_back(p.y);
      points.z.push_back(p.z);
      points.weight.push_back(weights_[j] / 4);
      for (int axis = 0; axis < 3 && has_dipoles_; ++axis)
        points.dipole[axis].push_back(dipoles_[j][axis] / 4);
    }
  }

  /// Potential of source j of strength 1, and its gradient.
  double potential(std::size_t j, Vec3d x) const {
    double sum = 0;
    for (const Vec3d& p : points_[j])
      sum += (weights_[j] + dot(dipoles_[j], x - p) / norm2(x - p)) / norm(x - p);
    return sum / (16 * std::numbers::pi);
  }
  Vec3d gradient(std::size_t j, Vec3d x) const {
    Vec3d sum{};
    for (const Vec3d& p : points_[j]) {
      const Vec3d r = x - p;
      const double r3 = norm(r) * norm2(r);
      sum += (dipoles_[j] - weights_[j] * r) / r3 - 3 * dot(dipoles_[j], r) / norm2(r) / r3 * r;
    }
    return sum / (16 * std::numbers::pi);
  }

 private:
  Points centres_;
  std::vector<std::array<Vec3d, 4>> points_;
  std::vector<double> weights_;
  Points dipoles_;
  bool has_dipoles_ = false;
};

std::shared_ptr<const PointTree> tree_of(const fmm::Functionals& sources, const Points& targets,
                                         const fmm::TreeOptions& options) {
  fmm::Seconds seconds;
  return fmm::grow_tree(sources, targets, options, seconds);
}

/// At targets, for sources of some strengths; and, transposed, of some charges and of some dipoles
/// at the targets for each source.
struct Sums {
  std::vector<double> potential;
  Points gradient;
  std::vector<double> transposed, of_dipoles;

  Sums(const Clouds& clouds, const Points& targets)
      : potential(targets.size()),
        gradient(targets.size()),
        transposed(clouds.size()),
        of_dipoles(clouds.size()) {}
};

struct Strengths {
  std::vector<double> source, target;
  Points dipoles;  ///< at targets
};

void add_pair(const Clouds& clouds, const Points& targets, const Strengths& strengths,
              std::size_t j, std::size_t i, Sums& sums) {
  const double potential = clouds.potential(j, targets[i]);
  const Vec3d gradient = clouds.gradient(j, targets[i]);
  sums.potential[i] += strengths.source[j] * potential;
  sums.gradient[i] += strengths.source[j] * gradient;
  sums.transposed[j] += strengths.target[i] * potential;
  if (!strengths.dipoles.empty()) sums.of_dipoles[j] += dot(strengths.dipoles[i], gradient);
}

Sums direct(const Clouds& clouds, const Points& targets, const Strengths& strengths) {
  Sums sums(clouds, targets);
  for (std::size_t i = 0; i < targets.size(); ++i)
    for (std::size_t j = 0; j < clouds.size(); ++j)
      add_pair(clouds, targets, strengths, j, i, sums);
  return sums;
}

/// Calls body(source, target) for the pairs that the far field leaves to the near field.
template <class Body>
void for_near_pairs(const PointTree& tree, Body&& body) {
  const fmm::NearLists& near = tree.lists.p2p;
  for (std::size_t row = 0; row < near.targets.size(); ++row) {
    const Range range = tree.octree.boxes[near.targets[row]].targets;
    for (std::int64_t k = near.begin[row]; k < near.begin[row + 1]; ++k) {
      const Range sources = tree.octree.boxes[near.sources[k]].own_sources();
      for (std::int32_t s = sources.begin; s < sources.end; ++s)
        for (std::int32_t t = range.begin; t < range.end; ++t)
          body(tree.sources.order[s], tree.targets().order[t]);
    }
  }
}

double difference(const std::vector<double>& a, const std::vector<double>& b) {
  double d = 0, n = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    d += (a[i] - b[i]) * (a[i] - b[i]);
    n += b[i] * b[i];
  }
  return std::sqrt(d / n);
}
double difference(const Points& a, const Points& b) {
  double d = 0, n = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    d += norm2(a[i] - b[i]);
    n += norm2(b[i]);
  }
  return std::sqrt(d / n);
}

}  // namespace

TEST_CASE("far and near field of functionals of all sizes add up to the direct sum",
          "[long][accuracy]") {
  // Kept from case to case, as making them takes longest.
  static const fmm::ParityOrder order(high_order);
  static const auto operators =
      std::make_pair(fmm::cpu_operators<double>(fmm::Laplace(), order, fmm::M2lOrders::full),
                     fmm::cpu_operators<float>(fmm::Laplace(), order, fmm::M2lOrders::full));
  const double largest = GENERATE(0.01, 0.3, 1.5);
  const double scale = GENERATE(1.0, 1e-25);
  const auto with = GENERATE(With::charges, With::dipoles);
  const Points places = sphere_points(1500, 3);
  const auto clouds = std::make_shared<Clouds>(places, 0.003, largest, scale, 4, with);
  Points targets = places;
  for (Vec3d& x : targets) x = scale * (x + Vec3d{1e-4, 2e-4, -1e-4});
  const auto tree =
      tree_of(*clouds, targets, {.overhang = 0.3, .max_leaf = 12, .order = high_order});
  CHECK(tree->octree.levels() >= 4);
  std::int32_t held = 0;
  for (const Box& box : tree->octree.boxes) held += box.is_leaf ? 0 : box.held;
  if (largest > 0.1) CHECK(held > 0);
  const Strengths strengths{signed_charges(clouds->size(), 5), signed_charges(targets.size(), 6),
                            cube_points(targets.size(), 7)};
  const Sums exact = direct(*clouds, targets, strengths);
  for (const Precision precision : {Precision::double_precision, Precision::single_precision}) {
    for (const bool keep : {true, false}) {
      CAPTURE(largest, scale, static_cast<int>(precision), keep, with == With::dipoles);
      const FarField far(tree, clouds,
                         {.order = high_order,
                          .precision = precision,
                          .gradient = true,
                          .moments = keep ? fmm::Moments::kept : fmm::Moments::afresh});
      Sums sums(*clouds, targets);
      far.evaluate({.charges = strengths.source}, {sums.potential, sums.gradient});
      far.evaluate_transposed({.charges = strengths.target}, sums.transposed);
      far.evaluate_transposed({.dipoles = strengths.dipoles}, sums.of_dipoles);
      for_near_pairs(*tree, [&](std::int32_t j, std::int32_t i) {
        add_pair(*clouds, targets, strengths, j, i, sums);
      });
      // Sources stick out of their boxes by up to 0.3 of a side, so the nearest that M2L takes
      // converge by 0.64 for each degree. Potentials of dipoles are derivatives, and lose a digit,
      // as gradients do.
      constexpr double truncation = 1e-7;
      const double bound =
          (precision == Precision::single_precision ? std::max(truncation, 1e-5) : truncation) *
          (with == With::dipoles ? 30 : 1);
      CHECK(difference(sums.potential, exact.potential) < bound);
      CHECK(difference(sums.gradient, exact.gradient) < 10 * bound);
      // Most of it is the sums of the largest sources, which stick out farthest.
      CHECK(difference(sums.transposed, exact.transposed) < 5 * bound);
      CHECK(difference(sums.of_dipoles, exact.of_dipoles) < 10 * bound);
    }
  }
}

TEST_CASE("far fields of several orders share one tree, and the higher is the closer") {
  const Points places = sphere_points(2000, 3);
  const auto clouds = std::make_shared<Clouds>(places, 0.003, 0.02, 1, 4);
  const auto tree = tree_of(*clouds, places, {.max_leaf = 15});
  const Strengths strengths{
      signed_charges(clouds->size(), 5), signed_charges(places.size(), 6), {}};
  const Sums exact = direct(*clouds, places, strengths);
  double last = 1;
  for (const int order : {3, 6, 9, 12}) {
    const FarField far(tree, clouds, {.order = order});
    Sums sums(*clouds, places);
    far.evaluate({.charges = strengths.source}, {.potential = sums.potential});
    for_near_pairs(*tree, [&](std::int32_t j, std::int32_t i) {
      add_pair(*clouds, places, strengths, j, i, sums);
    });
    const double error = difference(sums.potential, exact.potential);
    CHECK(error < last / 5);
    last = error;
  }
}

TEST_CASE("a far field is the same for any number of threads and of vectors", "[threads]") {
  const auto clouds = std::make_shared<Clouds>(ellipsoid_points(3000, 6), 0.003, 0.1, 1, 7);
  const Points targets = cube_points(2000, 8);
  const FarField far(tree_of(*clouds, targets, {.max_leaf = 20, .order = 8}), clouds, {.order = 8});
  const std::vector<double> strengths = signed_charges(3 * clouds->size(), 9);
  std::vector<std::vector<double>> results, transposed;
  for (const int threads : {1, 2, 3}) {
    omp_set_num_threads(threads);
    results.emplace_back(3 * targets.size());
    far.evaluate({.charges = strengths, .count = 3}, {.potential = results.back()});
    transposed.emplace_back(3 * clouds->size());
    far.evaluate_transposed({.charges = results.front(), .count = 3}, transposed.back());
  }
  omp_set_num_threads(omp_get_num_procs());
  CHECK(results[0] == results[1]);
  CHECK(results[0] == results[2]);
  CHECK(transposed[0] == transposed[1]);
  CHECK(transposed[0] == transposed[2]);
  std::vector<double> last(targets.size());
  far.evaluate({.charges = std::span(strengths).last(clouds->size())}, {.potential = last});
  CHECK(difference(std::vector<double>(results[0].end() - 2000, results[0].end()), last) < 1e-14);
  far.evaluate({}, {.potential = last});  // without charges, or nothing to be found
  CHECK(last == std::vector<double>(targets.size()));
  far.evaluate({.charges = std::span(strengths).first(clouds->size())}, {});
  far.evaluate_transposed({.charges = last}, {});
}

TEST_CASE("few, single and huge sources have no far field, and what is wrong is refused") {
  const Points places = cube_points(40, 10);
  const auto huge = std::make_shared<Clouds>(places, 3, 4, 1, 11);
  const auto tree = tree_of(*huge, places, {.order = 4});
  const FarField far(tree, huge, {.order = 4});
  std::vector<double> potential(40, 1);
  far.evaluate({.charges = std::vector<double>(40, 1.0)}, {.potential = potential});
  CHECK(*std::max_element(potential.begin(), potential.end()) == 0);

  CHECK_THROWS_AS(tree_of(*huge, {}, {.order = 4}), InputError);
  CHECK_THROWS_AS(tree_of(*huge, places, {.order = 0}), InputError);
  CHECK_THROWS_AS(FarField(tree, huge, {.order = 0}), InputError);
  CHECK_THROWS_AS(tree_of(*huge, places, {.overhang = 0}), InputError);
  CHECK_THROWS_AS(tree_of(*huge, places, {.max_leaf = 0}), InputError);
  CHECK_THROWS_AS(tree_of(*huge, places, {.inflation = 2.0}), InputError);
  const Points nowhere{{std::numeric_limits<double>::quiet_NaN(), 0, 0}};
  CHECK_THROWS_AS(tree_of(*huge, nowhere, {.order = 4}), InputError);
  const auto others = std::make_shared<Clouds>(cube_points(39, 10), 3, 4, 1, 11);
  CHECK_THROWS_AS(FarField(tree, others, {.order = 4}), InputError);
  CHECK_THROWS_AS(far.evaluate({.charges = std::vector<double>(39, 1.0)}, {potential}), InputError);
  Points gradient(40);
  CHECK_THROWS_AS(far.evaluate({.charges = potential}, {.gradient = gradient}), InputError);
}

}  // namespace fmbem::test::far_field_tests
