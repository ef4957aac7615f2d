#include "fmbem/fmm/far_field.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include <omp.h>

#include "fmbem/fmm/base/error.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/points.hpp"

using namespace fmbem;
using namespace fmbem::test;
using fmm::Box;
using fmm::FarField;
using fmm::FarFieldOptions;
using fmm::Range;

namespace {

using Points = std::vector<Vec3d>;

/// Sources of four points each, spread over cubes of very different sizes.
class Clouds final : public fmm::SpreadSources {
 public:
  Clouds(const Points& centres, double smallest, double largest, double scale, std::uint64_t seed) {
    Uniform uniform(seed);
    for (const Vec3d& centre : centres) {
      const double size = scale * smallest * std::pow(largest / smallest, uniform());
      centres_.push_back(scale * centre);
      points_.emplace_back();
      for (Vec3d& p : points_.back())
        p = scale * centre +
            size * Vec3d{uniform(-0.5, 0.5), uniform(-0.5, 0.5), uniform(-0.5, 0.5)};
      weights_.push_back(size * size * uniform(0.5, 1.5));
    }
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
    }
  }

  /// Potential of source j of strength 1, and its gradient.
  double potential(std::size_t j, Vec3d x) const {
    double sum = 0;
    for (const Vec3d& p : points_[j]) sum += 1 / norm(x - p);
    return weights_[j] / 4 * sum / (4 * std::numbers::pi);
  }
  Vec3d gradient(std::size_t j, Vec3d x) const {
    Vec3d sum{};
    for (const Vec3d& p : points_[j]) sum -= (x - p) / std::pow(norm(x - p), 3);
    return weights_[j] / 4 / (4 * std::numbers::pi) * sum;
  }

 private:
  Points centres_;
  std::vector<std::array<Vec3d, 4>> points_;
  std::vector<double> weights_;
};

struct Sums {
  std::vector<double> potential;
  Points gradient;
};

/// What the far field leaves to the near field, added to it.
void add_near(const FarField& far, const Clouds& clouds, const Points& targets,
              const std::vector<double>& strength, Sums& sums) {
  const fmm::PlanData& data = far.data();
  for (std::size_t row = 0; row < data.near.targets.size(); ++row) {
    const Range range = data.tree.boxes[data.near.targets[row]].targets;
    for (std::int64_t k = data.near.begin[row]; k < data.near.begin[row + 1]; ++k) {
      const Range sources = data.tree.boxes[data.near.sources[k]].own_sources();
      for (std::int32_t s = sources.begin; s < sources.end; ++s) {
        const std::int32_t j = data.sources.order[s];
        for (std::int32_t t = range.begin; t < range.end; ++t) {
          const std::int32_t i = data.targets().order[t];
          sums.potential[i] += strength[j] * clouds.potential(j, targets[i]);
          sums.gradient[i] += strength[j] * clouds.gradient(j, targets[i]);
        }
      }
    }
  }
}

Sums direct(const Clouds& clouds, const Points& targets, const std::vector<double>& strength) {
  Sums sums{std::vector<double>(targets.size()), Points(targets.size())};
  for (std::size_t i = 0; i < targets.size(); ++i) {
    for (std::size_t j = 0; j < clouds.size(); ++j) {
      sums.potential[i] += strength[j] * clouds.potential(j, targets[i]);
      sums.gradient[i] += strength[j] * clouds.gradient(j, targets[i]);
    }
  }
  return sums;
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

TEST_CASE("far and near field of spread sources of all sizes add up to the direct sum") {
  const double largest = GENERATE(0.01, 0.3, 1.5);
  const double scale = GENERATE(1.0, 1e-25);
  const auto precision = GENERATE(Precision::double_precision, Precision::single_precision);
  const bool keep = GENERATE(true, false);
  CAPTURE(largest, scale, keep);
  const Points places = sphere_points(1500, 3);
  const Clouds clouds(places, 0.003, largest, scale, 4);
  Points targets = places;
  for (Vec3d& x : targets) x = scale * (x + Vec3d{1e-4, 2e-4, -1e-4});
  const std::vector<double> strength = signed_charges(clouds.size(), 5);
  const FarField far(clouds, targets,
                     {.order = 22,
                      .precision = precision,
                      .gradient = true,
                      .overhang = 0.3,
                      .max_leaf = 12,
                      .keep_moments = keep});
  Sums sums{std::vector<double>(targets.size()), Points(targets.size())};
  far.evaluate({.charges = strength}, {sums.potential, sums.gradient});
  CHECK(far.info().levels >= 4);
  std::int32_t held = 0;
  for (const Box& box : far.data().tree.boxes) held += box.is_leaf ? 0 : box.held;
  if (largest > 0.1) CHECK(held > 0);
  add_near(far, clouds, targets, strength, sums);
  const Sums exact = direct(clouds, targets, strength);
  const double bound = precision == Precision::single_precision ? 1e-5 : 1e-7;
  CHECK(difference(sums.potential, exact.potential) < bound);
  CHECK(difference(sums.gradient, exact.gradient) < 10 * bound);
}

TEST_CASE("a far field is the same for any number of threads and of vectors") {
  const Clouds clouds(ellipsoid_points(3000, 6), 0.003, 0.1, 1, 7);
  const Points targets = cube_points(2000, 8);
  const FarField far(clouds, targets, {.order = 8, .max_leaf = 20});
  const std::vector<double> strengths = signed_charges(3 * clouds.size(), 9);
  std::vector<std::vector<double>> results;
  for (const int threads : {1, 2, 3}) {
    omp_set_num_threads(threads);
    results.emplace_back(3 * targets.size());
    far.evaluate({.charges = strengths, .count = 3}, {.potential = results.back()});
  }
  omp_set_num_threads(omp_get_num_procs());
  CHECK(results[0] == results[1]);
  CHECK(results[0] == results[2]);
  std::vector<double> last(targets.size());
  far.evaluate({.charges = std::span(strengths).last(clouds.size())}, {.potential = last});
  CHECK(difference(std::vector<double>(results[0].end() - 2000, results[0].end()), last) < 1e-14);
}

TEST_CASE("few, single and huge sources have no far field, and what is wrong is refused") {
  const Points places = cube_points(40, 10);
  const Clouds huge(places, 3, 4, 1, 11);
  const FarField far(huge, places, {.order = 4});
  std::vector<double> potential(40, 1);
  far.evaluate({.charges = std::vector<double>(40, 1.0)}, {.potential = potential});
  CHECK(*std::max_element(potential.begin(), potential.end()) == 0);

  CHECK_THROWS_AS(FarField(huge, {}, {.order = 4}), InputError);
  CHECK_THROWS_AS(FarField(huge, places, {.order = 0}), InputError);
  CHECK_THROWS_AS(FarField(huge, places, {.order = 4, .overhang = 0}), InputError);
  CHECK_THROWS_AS(FarField(huge, places, {.order = 4, .max_leaf = 0}), InputError);
  CHECK_THROWS_AS(FarField(huge, places, {.order = 4, .inflation = 2.0}), InputError);
  const Points nowhere{{std::numeric_limits<double>::quiet_NaN(), 0, 0}};
  CHECK_THROWS_AS(FarField(huge, nowhere, {.order = 4}), InputError);
  CHECK_THROWS_AS(far.evaluate({.charges = std::vector<double>(39, 1.0)}, {potential}), InputError);
  Points gradient(40);
  CHECK_THROWS_AS(far.evaluate({.charges = potential}, {.gradient = gradient}), InputError);
}
