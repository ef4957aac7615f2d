// Rows of several kinds, on either backend, against dense matrices of V and K' and sums written
// afresh.
#include "fmbem/bem/layer/mixed_operator.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "fmbem/fmm/base/error.hpp"
#include "tests/unit/bem/backends.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/points.hpp"
#include "tests/unit/surfaces.hpp"
#include "tests/unit/vectors.hpp"

namespace fmbem::test::mixed_operator_tests {

namespace {

/// Three bodies, the last inside the second, that were split so many times.
SurfaceMesh bodies(int splits = 3) {
  SurfaceMesh mesh;
  add_ellipsoid(mesh, "conductor", splits, {1, 0.6, 0.8}, {-1.5, 0, 0});
  add_ellipsoid(mesh, "dielectric", splits, {1, 1, 1}, {1, 0, 0});
  add_ellipsoid(mesh, "floating", splits - 1, {0.5, 0.5, 0.5}, {1.1, 0, 0});
  return mesh;
}

/// A third of the first body's rows are Robin's, of V and of K'.
MixedRows rows_of(const SurfaceMesh& mesh, const Panels& panels) {
  MixedRows rows;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const std::int32_t input = panels.input_index[i];
    const int group = mesh.group_of[input];
    const bool is_robin = group == 0 && input % 3 == 0;
    rows.alpha.push_back(group == 1 ? 0 : 0.3);
    rows.beta.push_back(group == 1 ? 1.6 : is_robin ? -1.2 : 0);
    rows.gamma.push_back(group == 1 ? 1 : is_robin ? 0.7 : 0);
    rows.part.push_back(group);
    rows.weight.push_back(group == 2 ? 2 : 1);
  }
  rows.equations = {{1, {{2, -8}}}, {2}};
  return rows;
}

/// The same with a shift of the conductor's rows, by K'σ of rows that do not have it, too.
MixedRows shifted_rows_of(const SurfaceMesh& mesh, const Panels& panels) {
  MixedRows rows = rows_of(mesh, panels);
  rows.shifts = {{0, {{0, 0.5, -2, -0.7}, {1, -1, 0.8, 3}, {2, 0, 4, 0}}}};
  return rows;
}

/// The matrix of the rows, written afresh: [n][n].
std::vector<double> matrix_of(const Panels& panels, const MixedRows& rows,
                              NormalRows normal_rows = NormalRows::averaged) {
  const std::size_t n = panels.size();
  std::vector<double> a(n * n, 0.0), area;
  OperatorOptions dense;
  dense.kind = OperatorOptions::Choice::dense;
  dense.normal_rows = normal_rows;
  std::vector<double> block(n * n);
  const auto add = [&](const Layer& layer, const std::vector<double>& factor) {
    make_boundary_operator(panels, layer, dense)
        ->diagonal_block(0, static_cast<std::int64_t>(n), block.data());
    for (std::size_t k = 0; k < n * n; ++k) a[k] += factor[k / n] * block[k];
  };
  add(single_layer, rows.alpha);
  add(adjoint_double_layer, rows.beta);
  for (std::size_t i = 0; i < n; ++i) {
    a[i * n + i] += rows.gamma[i];
    area.push_back(panels.area(i));
  }
  // Changes of parts are by sums before all of them.
  const std::vector<double> before = a;
  for (const PartShift& shift : rows.shifts) {
    double of_part = 0;
    for (std::size_t i = 0; i < n; ++i) of_part += rows.part[i] == shift.part ? area[i] : 0;
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (const PartShift::Term& term : shift.terms) {
        if (rows.part[j] == term.part) sum += term.charge * rows.weight[j] * area[j];
        for (std::size_t i = 0; i < n; ++i)
          if (rows.part[i] == term.part)
            sum += area[i] * (term.flux * block[i * n + j] + term.row * before[i * n + j]);
      }
      for (std::size_t i = 0; i < n; ++i)
        if (rows.part[i] == shift.part) a[i * n + j] += sum / of_part;
    }
  }
  for (const ChargeEquation& equation : rows.equations) {
    double of_part = 0;
    for (std::size_t i = 0; i < n; ++i) of_part += rows.part[i] == equation.part ? area[i] : 0;
    for (std::size_t j = 0; j < n; ++j) {
      double mean = 0, charge = rows.part[j] == equation.part ? 1 : 0;
      for (std::size_t i = 0; i < n; ++i)
        if (rows.part[i] == equation.part) mean += area[i] / of_part * a[i * n + j];
      for (const auto& other : equation.others)
        charge += other.part == rows.part[j] ? other.factor : 0;
      charge *= (rows.weight.empty() ? 1 : rows.weight[j]) * area[j] / of_part;
      for (std::size_t i = 0; i < n; ++i)
        if (rows.part[i] == equation.part) a[i * n + j] += charge - mean;
    }
  }
  return a;
}

Vector times(const std::vector<double>& a, const Vector& x, bool transposed) {
  const std::size_t n = x.size();
  Vector y(n, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      y[transposed ? j : i] += a[i * n + j] * x[transposed ? i : j];
  return y;
}

std::shared_ptr<MixedOperator> make(const Panels& panels, const MixedRows& rows,
                                    OperatorOptions::Choice kind, double tolerance,
                                    bool relaxes = false,
                                    NormalRows normal_rows = NormalRows::averaged) {
  OperatorOptions options;
  options.normal_rows = normal_rows;
  options.relaxes = relaxes;
  options.max_leaf = 20;  // so that there is a far field
  options.kind = kind;
  options.tolerance = tolerance;
#ifdef FMBEM_TEST_CUDA
  options.processor = Processor::gpu;
#endif
  return std::make_shared<MixedOperator>(panels, rows, options);
}

#ifdef FMBEM_TEST_CUDA
/// The product of vectors in the GPU's memory is y, that of the same in the host's.
void check_on_device(const LinearMap& op, const Vector& x, const Vector& y,
                     const Product& product) {
  const cuda::DeviceArray<double> d_x{std::span<const double>(x)}, d_y(y.size());
  op.apply_on_device(d_x.data(), d_y.data(), product);
  op.wait();
  Vector there(y.size());
  d_y.download(there);
  CHECK(norm_of(difference(there, y)) < 1e-12 * norm_of(y));
}
#endif

}  // namespace

BACKEND_TEST_CASE("mixed rows are V, K' and the density by panel, then the charges of parts") {
  const SurfaceMesh mesh = bodies();
  const Panels panels = make_panels(mesh);
  const std::size_t n = panels.size();
  const bool has_shifts = GENERATE(false, true);
  const MixedRows rows = has_shifts ? shifted_rows_of(mesh, panels) : rows_of(mesh, panels);
  const NormalRows normal_rows = GENERATE(NormalRows::averaged, NormalRows::at_centroids);
  const std::vector<double> a = matrix_of(panels, rows, normal_rows);
  for (const double tolerance : {1e-4, 1e-8}) {
    // Operators of a high order, which such tight products make anew, take most of the time.
    if (tolerance < 1e-4 && normal_rows == NormalRows::at_centroids) continue;
    const auto op = make(panels, rows, OperatorOptions::Choice::fmm, tolerance, false, normal_rows);
    CHECK(op->info().levels >= 3);
    const Vector x = signed_charges(2 * n, 4);
    for (const bool transposed : {false, true})
      for (const double asked : {tolerance, op->accurate_tolerance()}) {
        const Product product{.vectors = 2, .tolerance = asked, .transposed = transposed};
        Vector y(2 * n);
        op->apply(x.data(), y.data(), product);
        for (const std::size_t v : {0, 1}) {
          const Vector own(x.begin() + v * n, x.begin() + (v + 1) * n);
          const Vector error =
              difference({y.begin() + v * n, y.begin() + (v + 1) * n}, times(a, own, transposed));
          CAPTURE(tolerance, transposed, asked, v, has_shifts, normal_rows);
          // In an equation a charge has a factor of at most 2 · 8, in the place of a mean.
          CHECK(norm_of(error) < 4 * asked * op->norm() * norm_of(own));
        }
#ifdef FMBEM_TEST_CUDA
        check_on_device(*op, x, y, product);
#endif
      }
  }
}

BACKEND_TEST_CASE("relaxed products of mixed rows are as accurate as they are asked to be",
                  "[long]") {
  const SurfaceMesh mesh = bodies();
  const Panels panels = make_panels(mesh);
  const std::size_t n = panels.size();
  const MixedRows rows = shifted_rows_of(mesh, panels);
  const std::vector<double> a = matrix_of(panels, rows);
  const auto op = make(panels, rows, OperatorOptions::Choice::fmm, 1e-8, true);
  CHECK(op->cheap_tolerance() == 1e-6);
  CHECK(make(panels, rows, OperatorOptions::Choice::fmm, 1e-8)->cheap_tolerance() == 0);
  const Vector x = signed_charges(2 * n, 4);
  Vector own(2 * n), y(2 * n);
  op->apply(x.data(), own.data(), {.vectors = 2});
  for (const bool transposed : {false, true}) {
    double before = 0;
    for (const double asked : {1e-6, 1e-4, 1e-2}) {
      CAPTURE(transposed, asked);
      const Product product{.vectors = 2, .tolerance = asked, .transposed = transposed};
      op->apply(x.data(), y.data(), product);
      double worst = 0;
      for (const std::size_t v : {0, 1}) {
        const Vector one(x.begin() + v * n, x.begin() + (v + 1) * n);
        const Vector error =
            difference({y.begin() + v * n, y.begin() + (v + 1) * n}, times(a, one, transposed));
        worst = larger_error(worst, norm_of(error) / (op->norm() * norm_of(one)));
      }
      CHECK(worst < 4 * asked);  // as above
      CHECK(worst > before);     // by lower and lower orders
      before = worst;
#ifdef FMBEM_TEST_CUDA
      check_on_device(*op, x, y, product);
#endif
    }
  }
  op->apply(x.data(), y.data(), {.vectors = 2});
  CHECK(y == own);  // its own product is as it was
}

BACKEND_TEST_CASE("products of mixed rows are the same for any number of vectors", "[long]") {
  const SurfaceMesh mesh = bodies(2);
  const Panels panels = make_panels(mesh);
  const std::size_t n = panels.size();
  OperatorOptions options;
  options.kind = OperatorOptions::Choice::fmm;
  // Far fields in double and near fields in single and double precision, in leaves of a few and of
  // more panels than a group of threads takes at a time.
  options.tolerance = GENERATE(2e-7, 1e-9);
  options.max_leaf = GENERATE(7, 150);
#ifdef FMBEM_TEST_CUDA
  options.processor = Processor::gpu;
#endif
  const MixedOperator op(panels, shifted_rows_of(mesh, panels), options);
  for (const int vectors : {2, 11}) {
    const Vector x = signed_charges(vectors * n, 6);
    for (const bool transposed : {false, true}) {
      Vector all(x.size()), one(n);
      op.apply(x.data(), all.data(), {.vectors = vectors, .transposed = transposed});
      for (int v = 0; v < vectors; ++v) {
        CAPTURE(options.tolerance, *options.max_leaf, vectors, transposed, v);
        const auto first = static_cast<std::ptrdiff_t>(v * n);
        op.apply(x.data() + first, one.data(), {.transposed = transposed});
        const Vector own(all.begin() + first, all.begin() + first + static_cast<std::ptrdiff_t>(n));
        CHECK(norm_of(difference(own, one)) < 1e-12 * norm_of(one));
      }
    }
  }
}

BACKEND_TEST_CASE("V that was made before other rows are known gives the same bits") {
  const SurfaceMesh mesh = bodies();
  const Panels panels = make_panels(mesh);
  const std::size_t n = panels.size();
  OperatorOptions options;
#ifdef FMBEM_TEST_CUDA
  options.processor = Processor::gpu;
#endif
  const auto rows = std::make_shared<const MixedRows>(shifted_rows_of(mesh, panels));
  MixedRows of_v;
  of_v.alpha = rows->alpha;
  MixedOperator::Part v = MixedOperator::make_v(panels, of_v, options);
  const Vector x = signed_charges(n, 4);
  Vector expected(n), y(n);
  MixedOperator(panels, rows, options).apply(x.data(), expected.data());
  MixedOperator(panels, rows, options, std::move(v)).apply(x.data(), y.data());
  CHECK(y == expected);
  of_v.alpha.pop_back();
  CHECK_THROWS_AS(MixedOperator::make_v(panels, of_v, options), InputError);
}

BACKEND_TEST_CASE("rows of V are those of mixed rows without all else") {
  const SurfaceMesh mesh = bodies();
  const Panels panels = make_panels(mesh);
  const std::size_t n = panels.size();
  MixedRows rows = shifted_rows_of(mesh, panels);
  const auto op = make(panels, rows, OperatorOptions::Choice::fmm, 1e-6);
  CHECK(op->rest_norm() == 1 + 1.6 / 2);
  const LinearMap* const v = op->rows_of_v();
  REQUIRE(v);
  rows.equations.clear();
  rows.shifts.clear();
  for (std::vector<double>* const factor : {&rows.beta, &rows.gamma}) factor->assign(n, 0);
  const std::vector<double> a = matrix_of(panels, rows);
  const Vector x = signed_charges(2 * n, 4);
  Vector y(2 * n);
  v->apply(x.data(), y.data(), {.vectors = 2});
  for (const std::size_t k : {0, 1}) {
    const auto first = static_cast<std::ptrdiff_t>(k * n), end = static_cast<std::ptrdiff_t>(n);
    const Vector own(x.begin() + first, x.begin() + first + end),
        exact = times(a, own, false), found(y.begin() + first, y.begin() + first + end);
    CHECK(norm_of(difference(found, exact)) < 1e-6 * op->norm() * norm_of(own));
    for (std::size_t i = 0; i < n; ++i)
      if (rows.alpha[i] == 0) CHECK(found[i] == 0);
  }
#ifdef FMBEM_TEST_CUDA
  check_on_device(*v, x, y, {.vectors = 2});
#endif
  MixedRows of_flux = rows_of(mesh, panels);
  of_flux.alpha.assign(n, 0);
  CHECK(make(panels, of_flux, OperatorOptions::Choice::fmm, 1e-6)->rows_of_v() == nullptr);
}

#ifndef FMBEM_TEST_CUDA

TEST_CASE("mixed rows of the dense operator are its entries") {
  const SurfaceMesh mesh = bodies();
  const Panels panels = make_panels(mesh);
  const MixedRows rows = rows_of(mesh, panels);
  const std::vector<double> a = matrix_of(panels, rows);
  const auto op = make(panels, rows, OperatorOptions::Choice::dense, 1e-8);
  const Vector x = signed_charges(panels.size(), 4);
  for (const bool transposed : {false, true}) {
    Vector y(x.size());
    op->apply(x.data(), y.data(), {.transposed = transposed});
    const Vector exact = times(a, x, transposed);
    CHECK(norm_of(difference(y, exact)) < 1e-12 * norm_of(exact));
  }
}

TEST_CASE("blocks of mixed rows are the matrix's") {
  const SurfaceMesh mesh = bodies();
  const Panels panels = make_panels(mesh);
  const std::size_t n = panels.size();
  MixedRows rows = rows_of(mesh, panels);
  rows.equations.clear();
  const std::vector<double> a = matrix_of(panels, rows);
  OperatorOptions options;
  options.kind = OperatorOptions::Choice::dense;
  std::vector<double> block(25);
  MixedOperator(panels, rows, options).diagonal_block(100, 105, block.data());
  for (int k = 0; k < 25; ++k)
    CHECK(block[k] == Approx(a[(100 + k / 5) * n + 100 + k % 5]).margin(1e-15));
}

TEST_CASE("mixed rows that cannot be are refused") {
  const SurfaceMesh mesh = bodies();
  const Panels panels = make_panels(mesh);
  const MixedRows good = rows_of(mesh, panels);
  MixedRows rows = good;
  rows.beta.pop_back();
  CHECK_THROWS_AS(MixedOperator(panels, rows), InputError);
  rows = good;
  rows.gamma[3] = std::nan("");
  CHECK_THROWS_AS(MixedOperator(panels, rows), InputError);
  rows = good;
  rows.equations.push_back({1});
  CHECK_THROWS_AS(MixedOperator(panels, rows), InputError);
  rows = good;
  rows.equations.push_back({7});
  CHECK_THROWS_AS(MixedOperator(panels, rows), InputError);
  rows = good;
  rows.part.clear();
  CHECK_THROWS_AS(MixedOperator(panels, rows), InputError);
}

#endif

}  // namespace fmbem::test::mixed_operator_tests
