#include "fmbem/bem/layer/dense_operator.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "fmbem/bem/near/panel_integrals.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/machine.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/points.hpp"
#include "tests/unit/surfaces.hpp"

namespace fmbem::test::dense_operator_tests {

namespace {

std::vector<double> random_vector(std::size_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> x(n);
  for (double& v : x) v = normal(random);
  return x;
}

/// V x by closed forms alone, summed in extended precision.
std::vector<double> product_by_closed_forms(const Panels& panels, const double* x) {
  std::vector<double> y(panels.size());
  for (std::size_t i = 0; i < panels.size(); ++i) {
    long double sum = 0;
    for (std::size_t j = 0; j < panels.size(); ++j)
      sum += static_cast<long double>(triangle_potential(panels.triangle(j), panels.centroid(i))) *
             x[j];
    y[i] = static_cast<double>(sum);
  }
  return y;
}

double relative_difference(const double* a, const std::vector<double>& b) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    norm += b[i] * b[i];
  }
  return std::sqrt(difference / norm);
}

}  // namespace

TEST_CASE("the dense product equals the sum of closed forms") {
  const SurfaceMesh mesh = GENERATE(sphere(3), cube(6), plate(9), sphere(2, 1e-3, {50, -20, 3}));
  const Panels panels = make_panels(mesh);
  const auto v = make_dense_operator(panels, single_layer, {});
  const int k = 3;
  const std::vector<double> x = random_vector(k * panels.size(), 7);
  std::vector<double> y(x.size());
  v->apply(x.data(), y.data(), {.vectors = k});
  for (int j = 0; j < k; ++j)
    CHECK(relative_difference(y.data() + j * panels.size(),
                              product_by_closed_forms(panels, x.data() + j * panels.size())) <
          1e-12);
  std::vector<double> single(panels.size());
  v->apply(x.data(), single.data());
  CHECK(relative_difference(y.data(), single) < 1e-14);
}

TEST_CASE("single precision rounds the entries, and its accurate product does not") {
  const Panels panels = make_panels(sphere(3));
  const auto exact = make_dense_operator(panels, single_layer, {});
  OperatorOptions options;
  options.precision = Precision::single_precision;
  options.tolerance = 1e-6;
  const auto rounded = make_dense_operator(panels, single_layer, options);
  const std::vector<double> x = random_vector(panels.size(), 8);
  std::vector<double> y(x.size()), y_rounded(x.size()), y_accurate(x.size());
  exact->apply(x.data(), y.data());
  rounded->apply(x.data(), y_rounded.data());
  rounded->apply(x.data(), y_accurate.data(), {.tolerance = rounded->accurate_tolerance()});
  CHECK(relative_difference(y_rounded.data(), y) < 1e-6);
  CHECK(relative_difference(y_rounded.data(), y) > 1e-10);
  CHECK(relative_difference(y_accurate.data(), y) < 1e-14);
  CHECK(rounded->info().memory_bytes * 2 == exact->info().memory_bytes);
  options.tolerance = 1e-7;
  CHECK_THROWS_AS(make_dense_operator(panels, single_layer, options), InputError);
}

/// A + 2, which hands its product on to A.
class PlusTwo final : public LinearMap {
 public:
  explicit PlusTwo(std::shared_ptr<const BoundaryOperator> a) : a_(std::move(a)) {}
  std::size_t rows() const override { return a_->rows(); }
  std::size_t columns() const override { return a_->columns(); }

 protected:
  void multiply(const double* x, double* y, const Product& product) const override {
    a_->apply(x, y, product);
    for (std::size_t i = 0; i < rows(); ++i) y[i] += 2 * x[i];
  }

 private:
  std::shared_ptr<const BoundaryOperator> a_;
};

TEST_CASE("α and β are of the whole product where maps are made of others") {
  const Panels panels = make_panels(plate(2));
  const PlusTwo map(make_boundary_operator(panels, single_layer));
  const std::vector<double> x = signed_charges(panels.size(), 3), b(panels.size(), 5.0);
  std::vector<double> ax(panels.size()), y = b;
  map.apply(x.data(), ax.data());
  map.apply(x.data(), y.data(), {.alpha = -3, .beta = 2});
  for (std::size_t i = 0; i < x.size(); ++i)
    CHECK(y[i] == Approx(2 * b[i] - 3 * ax[i]).epsilon(1e-14));
}

TEST_CASE("products and entries do not depend on the number of threads", "[threads]") {
  const Panels panels = make_panels(cube(8));
  const std::vector<double> x = random_vector(panels.size(), 9);
  std::vector<std::vector<double>> products;
  for (const int threads : {1, 2, 3}) {
    set_threads(threads);
    products.emplace_back(x.size());
    make_dense_operator(panels, single_layer, {})->apply(x.data(), products.back().data());
  }
  set_threads(available_cores());
  CHECK(products[0] == products[1]);
  CHECK(products[0] == products[2]);
}

TEST_CASE("diagonal blocks hold the operator's entries") {
  const Panels panels = make_panels(sphere(2), Processor::cpu, 20);
  const auto v = make_dense_operator(panels, single_layer, {});
  const std::int64_t begin = panels.leaf_begin[1], end = panels.leaf_begin[2], n = end - begin;
  std::vector<double> block(n * n);
  v->diagonal_block(begin, end, block.data());
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      CHECK(block[i * n + j] ==
            panel_potential(panels.triangle(begin + j), panels.centroid(begin + i)));
}

TEST_CASE("diagonal blocks of some rows hold the entries of the whole operator") {
  const Panels panels = make_panels(cube(2));
  const auto n = static_cast<std::int64_t>(panels.size());
  std::vector<std::int32_t> some;
  for (std::int32_t i = 0; i < n; i += 2) some.push_back(i);
  for (const Layer& layer : {single_layer, double_layer, adjoint_double_layer}) {
    CAPTURE(layer.name());
    std::vector<double> whole(n * n), block(n * n);
    make_dense_operator(panels, layer, {})->diagonal_block(0, n, whole.data());
    make_dense_operator(panels, layer, {}, {.rows = some})->diagonal_block(0, n, block.data());
    CHECK(block == whole);
  }
}

TEST_CASE("the dense operator refuses what it cannot hold") {
  const std::vector<std::array<int, 3>> corners(dense_panels_at_most + 1);
  Panels panels;
  panels.corners = corners;
  CHECK_THROWS_AS(make_dense_operator(panels, single_layer, {}), InputError);
}

TEST_CASE("the dense operator refuses what the FMM does") {
  const Panels panels = make_panels(plate(2));
  const std::size_t n = panels.size();
  const auto refused = [&](const OperatorOptions& options, const PanelBlock& block,
                           const std::string& sentence) {
    CAPTURE(sentence);
    CHECK_THROWS_WITH(make_boundary_operator(panels, single_layer, options, block),
                      contains(sentence));
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  refused({.tolerance = -5}, {}, "the tolerance of an operator must be above 0");
  refused({.tolerance = nan}, {}, "the tolerance of an operator must be above 0");
  refused({.order = 99}, {}, "the order must be between 1 and 40, not 99");
  refused({.max_leaf = 0}, {}, "a leaf must hold at least one");
  refused({.overhang = -1}, {}, "sources stick out by more than 0");
  refused({}, {.rows = {0, 8}}, "there is no panel 8: they go from 0 to 8 - 1");
  refused({}, {.columns = {-1}}, "there is no panel -1");
  refused({}, {.columns = {2, 1}}, "the panels of a block must ascend, but 1 follows 2");
  const auto op = make_boundary_operator(panels, single_layer);
  std::vector<double> x(2 * n, 1.0), y(2 * n);
  x[n + 3] = nan;
  for (const bool transposed : {false, true})
    CHECK_THROWS_WITH(op->apply(x.data(), y.data(), {.vectors = 2, .transposed = transposed}),
                      contains("entry 11 of the charges is not finite"));
}

}  // namespace fmbem::test::dense_operator_tests
