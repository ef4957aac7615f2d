#include "fmbem/solvers/linear_solver.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "fmbem/bem/layer/dense_operator.hpp"
#include "fmbem/bem/layer/shifted_operator.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/solvers/petsc_session.hpp"
#include "fmbem/solvers/shell_matrix.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/cuda/filled_gpu.hpp"
#include "tests/unit/cuda/gpu.hpp"
#include "tests/unit/surfaces.hpp"
#include "tests/unit/vectors.hpp"

namespace fmbem::test::linear_solver_tests {

namespace {

/// A matrix given entry by entry, to put the solver into difficulties.
class SmallMatrix : public BoundaryOperator {
 public:
  explicit SmallMatrix(std::vector<std::vector<double>> rows) : rows_(std::move(rows)) {}
  std::size_t size() const override { return rows_.size(); }
  OperatorInfo info() const override { return {.name = "A"}; }
  double accurate_tolerance() const override { return accurate; }
  void diagonal_block(std::int64_t begin, std::int64_t end, double* block) const override {
    for (std::int64_t i = begin; i < end; ++i)
      for (std::int64_t j = begin; j < end; ++j) *block++ = rows_[i][j];
  }

 protected:
  static constexpr double accurate = 1e-12;

  void multiply(const double* x, double* y, const Product& product) const override {
    for (int v = 0; v < product.vectors; ++v, x += size(), y += size())
      for (std::size_t i = 0; i < size(); ++i) {
        y[i] = 0;
        for (std::size_t j = 0; j < size(); ++j) y[i] += rows_[i][j] * x[j];
      }
  }

 private:
  std::vector<std::vector<double>> rows_;
};

/// An operator whose accurate product disagrees with the fast one.
class Disagreeing : public SmallMatrix {
 public:
  Disagreeing(std::vector<std::vector<double>> matrix, double factor)
      : SmallMatrix(std::move(matrix)), factor_(factor) {}

 protected:
  void multiply(const double* x, double* y, const Product& product) const override {
    SmallMatrix::multiply(x, y, product);
    if (product.tolerance == accurate) y[0] *= factor_;
  }

 private:
  double factor_;
};

/// An operator that knows its norm, and keeps the tightest tolerance that it was asked for.
class Recording : public SmallMatrix {
 public:
  Recording(std::vector<std::vector<double>> matrix, bool positive)
      : SmallMatrix(std::move(matrix)), positive_(positive) {}
  double norm() const override { return 6; }
  double tightest_tolerance() const override { return 1e-15; }
  const LinearMap* rows_of_v() const override { return positive_ ? this : nullptr; }
  double rest_norm() const override { return positive_ ? 0 : norm(); }
  mutable double tightest = 1;

 protected:
  void multiply(const double* x, double* y, const Product& product) const override {
    if (product.tolerance > 0) tightest = std::min(tightest, product.tolerance);
    SmallMatrix::multiply(x, y, product);
  }

 private:
  bool positive_;
};

/// An operator that is said to have cheap products, which are off by a part of their own vector.
class Rough : public SmallMatrix {
 public:
  Rough(std::vector<std::vector<double>> matrix, double off)
      : SmallMatrix(std::move(matrix)), off_(off) {}
  double norm() const override { return 6; }
  double cheap_tolerance() const override { return 1e-6; }
  mutable int loose = 0, own = 0, accurate_ones = 0;

 protected:
  void multiply(const double* x, double* y, const Product& product) const override {
    SmallMatrix::multiply(x, y, product);
    const bool is_loose = product.tolerance >= cheap_tolerance();
    if (product.tolerance == 0) own += product.vectors;
    if (product.tolerance > 0 && !is_loose) accurate_ones += product.vectors;
    if (is_loose) loose += product.vectors;
    if (is_loose)
      for (std::size_t i = 0; i < size() * product.vectors; ++i)
        y[i] += off_ * product.tolerance * x[i];
  }

 private:
  double off_;
};

/// An operator without memory for its accurate product.
class Short : public SmallMatrix {
 public:
  using SmallMatrix::SmallMatrix;

 protected:
  void multiply(const double* x, double* y, const Product& product) const override {
    if (product.tolerance == accurate) throw ResourceError("no memory for the accurate product");
    SmallMatrix::multiply(x, y, product);
  }
};

class Throwing : public SmallMatrix {
 public:
  using SmallMatrix::SmallMatrix;

 protected:
  void multiply(const double*, double*, const Product&) const override {
    throw ResourceError("no memory for the product");
  }
};

const std::vector<std::vector<double>> rows{{4, 1, 0, 0}, {0, 3, 1, 0}, {1, 0, 5, 1}, {0, 0, 1, 2}};
const std::vector<std::int64_t> leaves{0, 1, 4};

}  // namespace

TEST_CASE("the solver solves, and its residuals are those of the solution") {
  const auto a = std::make_shared<SmallMatrix>(rows);
  LinearSolver solver({1e-12, {}});
  solver.set_operator(a, leaves);
  const std::vector<double> b{1, 2, 3, 4};
  std::vector<double> x(4), ax(4);
  const SolveReport report = solver.solve(b, x);
  CHECK(report.converged);
  CHECK(report.reason == "CONVERGED_RTOL");
  CHECK(static_cast<int>(report.history.size()) == report.iterations + 1);
  CHECK(report.history.front() == Approx(1));
  CHECK(report.true_residual < 1e-11);
  CHECK(report.accurate_residual);
  a->apply(x.data(), ax.data(), {.vectors = 1});
  for (int i = 0; i < 4; ++i) CHECK(ax[i] == Approx(b[i]));
  CHECK(solver.ksp_type() == "gmres");
  CHECK(solver.pc_type() == "vpbjacobi");
  CHECK(solver.tolerance() == 1e-12);
  CHECK(solver.median_product_seconds() > 0);
}

TEST_CASE("a solution is refined until the accurate product says so") {
  LinearSolver solver({1e-8, {}});
  const std::vector<double> b{1, 2, 3, 4};
  std::vector<double> x(4), ax(4);
  const auto a = std::make_shared<Disagreeing>(rows, 1.01);
  solver.set_operator(a, leaves);
  const SolveReport report = solver.solve(b, x);
  CHECK(report.converged);
  REQUIRE(report.refinements.size() >= 2);
  CHECK(report.refinements.size() <= 5);
  CHECK(report.refinements.front().true_residual > 1e-6);  // was 1e-2
  CHECK(report.refinements.back().true_residual == report.true_residual);
  CHECK(report.refinements.back().product_tolerance == 1e-12);
  CHECK(report.refinements.back().iterations > 0);
  a->apply(x.data(), ax.data(), {.tolerance = 1e-12});
  for (int i = 0; i < 4; ++i) CHECK(ax[i] == Approx(b[i]).epsilon(2e-8));
}

TEST_CASE("residuals are as accurate as cancellation asks for, whatever the sizes of unknowns") {
  // Tiny columns have a large x, which cancels nothing.
  auto columns = rows;
  for (auto& row : columns) row[3] *= 1e-9;
  const auto tightest = [&](const std::vector<double>& b, bool positive) {
    LinearSolver solver({1e-10, {}});
    const auto a = std::make_shared<Recording>(columns, positive);
    solver.set_operator(a, leaves);
    std::vector<double> x(4);
    const SolveReport report = solver.solve(b, x);
    CHECK(report.converged);
    CHECK(report.condition > 1e8);
    return a->tightest;
  };
  CHECK(tightest({1, 2, 3, 4}, false) < 1e-14);
  CHECK(tightest({1, 2, 3, 4}, true) == 1e-12);
}

TEST_CASE("a true residual that stays above the tolerance is not converged whatever PETSc says") {
  const auto a = std::make_shared<Disagreeing>(rows, -3.0);
  LinearSolver solver({1e-8, {}});
  solver.set_operator(a, leaves);
  std::vector<double> x(4);
  const SolveReport report = solver.solve(std::vector<double>{1, 2, 3, 4}, x);
  CHECK(report.reason == "CONVERGED_RTOL");
  CHECK(report.true_residual > 1e-4);
  CHECK_FALSE(report.converged);
  CHECK(report.refinements.size() <= 3);
}

TEST_CASE("iterations end at 300, and all that restart do so as GMRES") {
  // Eigenvalues on a circle through zero: residuals fall like 1/k.
  constexpr int n = 400;
  std::vector<std::vector<double>> shift(n, std::vector<double>(n));
  for (int i = 0; i < n; ++i) {
    shift[i][i] = 1;
    shift[i][(i + 1) % n] = 0.9999;
  }
  std::vector<std::int64_t> ones(n + 1);
  std::iota(ones.begin(), ones.end(), 0);
  const auto a = std::make_shared<SmallMatrix>(shift);
  std::vector<double> b(n), x(n);
  b[0] = 1;
  for (const char* type : {"gmres", "fgmres", "lgmres", "gcr"}) {
    CAPTURE(type);
    PetscOptionsSetValue(nullptr, "-ksp_type", type);
    PetscOptionsSetValue(nullptr, "-pc_type", "none");
    LinearSolver solver({1e-8, {}});
    PetscOptionsClearValue(nullptr, "-ksp_type");
    PetscOptionsClearValue(nullptr, "-pc_type");
    solver.set_operator(a, ones);
    const SolveReport report = solver.solve(b, x);
    CHECK_FALSE(report.converged);
    CHECK(report.iterations == 300);
    // What PETSc's GCR says of that.
    CHECK(report.reason == (std::string(type) == "gcr" ? "CONVERGED_ITS" : "DIVERGED_ITS"));
    CHECK(report.refinements.empty());
  }
}

TEST_CASE("a solution is not lost where there is no memory for its accurate residual") {
  const auto a = std::make_shared<Short>(rows);
  LinearSolver solver({1e-12, {}});
  solver.set_operator(a, leaves);
  const std::vector<double> b{1, 2, 3, 4, 4, 3, 2, 1};
  std::vector<double> x(8), ax(4);
  const auto reports = solver.solve(b, x, 2);
  for (int v = 0; v < 2; ++v) {
    CHECK(reports[v].converged);
    CHECK_FALSE(reports[v].accurate_residual);
    CHECK(reports[v].true_residual < 1e-11);
    a->apply(x.data() + 4 * v, ax.data(), {.vectors = 1});
    for (int i = 0; i < 4; ++i) CHECK(ax[i] == Approx(b[4 * v + i]));
  }
}

TEST_CASE("starting PETSc leaves the environment as it was") {
  for (const char* name : {"OMPI_MCA_ess_singleton_isolated", "OMPI_MCA_orte_create_session_dirs",
                           "OMPI_MCA_pml", "OMPI_MCA_btl"}) {
    const char* const before = std::getenv(name);
    const std::string value = before ? before : "";
    start_petsc({});
    const char* const after = std::getenv(name);
    CHECK((before != nullptr) == (after != nullptr));
    if (after) CHECK(value == after);
  }
  CHECK(mpi_ranks() == 1);
}

TEST_CASE("exceptions of the operator pass through PETSc") {
  const auto a = std::make_shared<Throwing>(rows);
  LinearSolver solver({1e-8, {}});
  solver.set_operator(a, leaves);
  std::vector<double> x(4);
  CHECK_THROWS_AS(solver.solve(std::vector<double>{1, 2, 3, 4}, x), ResourceError);
}

TEST_CASE("bad input to the solver is refused") {
  for (const double tolerance : {0.0, -1.0, 1e-20, 0.6, std::numeric_limits<double>::quiet_NaN()})
    CHECK_THROWS_AS(LinearSolver({tolerance, {}}), InputError);
  const auto a = std::make_shared<SmallMatrix>(rows);
  LinearSolver solver({1e-8, {}});
  std::vector<double> x(4);
  CHECK_THROWS_AS(solver.solve(std::vector<double>(4, 1.0), x), InputError);
  CHECK_THROWS_AS(solver.set_operator(a, std::vector<std::int64_t>{0, 3}), InputError);
  CHECK_THROWS_AS(solver.set_operator(a, std::vector<std::int64_t>{0, 9, 2, 4}), InputError);
  solver.set_operator(a, leaves);
  CHECK_THROWS_AS(solver.solve(std::vector<double>(3, 1.0), x), InputError);
  const std::vector<double> bad(4, std::numeric_limits<double>::quiet_NaN());
  CHECK_THROWS_AS(solver.solve(bad, x), InputError);
  std::vector<double> both(4, 1.0);
  CHECK_THROWS_AS(solver.solve(both, both), InputError);
  CHECK(both == std::vector<double>(4, 1.0));
}

TEST_CASE("a block of an operator is no matrix of a solver, and its entries are its own") {
  const Panels panels = make_panels(sphere(2));
  const std::vector<std::int32_t> some{0, 3, 5};
  const auto whole = make_dense_operator(panels, single_layer, {});
  const std::shared_ptr<BoundaryOperator> block =
      make_dense_operator(panels, single_layer, {}, {.rows = some});
  CHECK_THROWS_AS(ShellMatrix(block), InputError);
  CHECK_THROWS_AS(make_shifted_operator(block, 1, 1), InputError);
  const std::vector<double> all = matrix_of(*whole), own = matrix_of(*block);
  REQUIRE(own.size() == some.size() * panels.size());
  for (std::size_t j = 0; j < panels.size(); ++j)
    for (std::size_t k = 0; k < some.size(); ++k)
      CHECK(own[j * some.size() + k] == Approx(all[j * panels.size() + some[k]]).epsilon(1e-14));
}

TEST_CASE("the shell matrix multiplies transposed") {
  const Panels panels = make_panels(sphere(2));
  const auto v = make_dense_operator(panels, single_layer, {});
  const std::vector<double> all = matrix_of(*v);
  ShellMatrix shell(v);
  const std::size_t n = panels.size();
  Vec x = nullptr, y = nullptr;
  petsc_calls([&] {
    const PetscScalar* values = nullptr;
    PetscCall(MatCreateVecs(shell.mat(), &x, &y));
    PetscCall(VecSet(x, 0));
    PetscCall(VecSetValue(x, 2, 1, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(x));
    PetscCall(VecAssemblyEnd(x));
    PetscCall(MatMultTranspose(shell.mat(), x, y));
    PetscCall(VecGetArrayRead(y, &values));
    for (std::size_t j = 0; j < n; ++j) CHECK(values[j] == Approx(all[j * n + 2]).epsilon(1e-13));
    PetscCall(VecRestoreArrayRead(y, &values));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    return PetscErrorCode(PETSC_SUCCESS);
  });
}

TEST_CASE("the operator can be exchanged for one of another size and kind") {
  const auto small = std::make_shared<SmallMatrix>(rows);
  const Panels panels = make_panels(sphere(3));
  const auto v = make_single_layer(panels);
  LinearSolver solver({1e-8, {}});
  for (int k = 0; k < 2; ++k) {
    solver.set_operator(small, leaves);
    CHECK(solver.pc_type() == "vpbjacobi");
    std::vector<double> x(4), y(panels.size());
    CHECK(solver.solve(std::vector<double>{1, 2, 3, 4}, x).converged);
    solver.set_operator(v, panels.leaf_begin);
    CHECK(solver.pc_type() == "cluster inverse");
    CHECK(solver.solve(std::vector<double>(panels.size(), 1.0), y).converged);
  }
}

TEST_CASE("a zero right-hand side has the zero solution") {
  const auto a = std::make_shared<SmallMatrix>(rows);
  LinearSolver solver({1e-8, {}});
  solver.set_operator(a, leaves);
  std::vector<double> x(4, 7.0);
  CHECK(solver.solve(std::vector<double>(4, 0.0), x).converged);
  CHECK(x == std::vector<double>(4, 0.0));
}

TEST_CASE("right-hand sides of any size have their solution") {
  LinearSolver solver({1e-10, {}});
  solver.set_operator(std::make_shared<SmallMatrix>(rows), leaves);
  const std::vector<double> b{1, 2, 3, 4};
  std::vector<double> expected(4);
  REQUIRE(solver.solve(b, expected).converged);
  for (const double size : {1e-300, 1e-170, 1e-60, 1e60, 1e170, 1e300}) {
    CAPTURE(size);
    std::vector<double> small(b), x(4);
    for (double& value : small) value *= size;
    const SolveReport report = solver.solve(small, x);
    CHECK(report.converged);
    CHECK(report.reason == "CONVERGED_RTOL");
    CHECK(report.true_residual > 0);
    CHECK(report.rhs_norm / size == Approx(std::sqrt(30.0)));
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(x[i] / size == Approx(expected[i]));
  }
}

TEST_CASE("the shell matrix multiplies, knows its diagonal and makes vectors") {
  const Panels panels = make_panels(sphere(2));
  const auto v = make_dense_operator(panels, single_layer, {});
  ShellMatrix shell(v);
  const auto n = static_cast<PetscInt>(panels.size());
  petsc_calls([&] {
    Vec x = nullptr, y = nullptr, diagonal = nullptr;
    const PetscScalar *y_values = nullptr, *diagonal_values = nullptr;
    PetscInt size = 0;
    PetscBool linear = PETSC_FALSE;
    PetscCall(MatCreateVecs(shell.mat(), &x, &y));
    PetscCall(VecDuplicate(y, &diagonal));
    PetscCall(VecGetSize(x, &size));
    CHECK(size == n);
    PetscCall(VecSet(x, 1.0));
    PetscCall(MatMult(shell.mat(), x, y));
    PetscCall(MatGetDiagonal(shell.mat(), diagonal));
    PetscCall(VecGetArrayRead(y, &y_values));
    PetscCall(VecGetArrayRead(diagonal, &diagonal_values));
    const std::vector<double> ones(n, 1.0);
    std::vector<double> product(n);
    v->apply(ones.data(), product.data());
    for (PetscInt i = 0; i < n; ++i) {
      double entry = 0;
      v->diagonal_block(i, i + 1, &entry);
      CHECK(y_values[i] == product[i]);
      CHECK(diagonal_values[i] == entry);
    }
    PetscCall(VecRestoreArrayRead(diagonal, &diagonal_values));
    PetscCall(VecRestoreArrayRead(y, &y_values));
    PetscCall(MatIsLinear(shell.mat(), 3, &linear));
    CHECK(linear);
    PetscCall(VecDestroy(&diagonal));
    PetscCall(VecDestroy(&y));
    PetscCall(VecDestroy(&x));
    return PetscErrorCode(PETSC_SUCCESS);
  });
}

TEST_CASE("block Jacobi inverts the leaves") {
  // With one leaf the preconditioner is the inverse: one iteration.
  const Panels panels = make_panels(sphere(2), Processor::cpu, 1000);
  REQUIRE(panels.leaves() == 1);
  const auto v = make_dense_operator(panels, single_layer, {});
  PetscOptionsSetValue(nullptr, "-pc_type", "vpbjacobi");
  LinearSolver solver({1e-10, {}});
  PetscOptionsClearValue(nullptr, "-pc_type");
  solver.set_operator(v, panels.leaf_begin);
  CHECK(solver.pc_type() == "vpbjacobi");
  std::vector<double> x(panels.size());
  CHECK(solver.solve(std::vector<double>(panels.size(), 1.0), x).iterations == 1);
  // Several right-hand sides go one after the other then.
  const std::vector<double> b(2 * panels.size(), 1.0);
  std::vector<double> both(b.size());
  for (const SolveReport& report : solver.solve(b, both, 2)) CHECK(report.iterations == 1);
  CHECK(std::equal(x.begin(), x.end(), both.begin() + panels.size()));
}

namespace {

/// The potential of a unit charge, at the collocation points.
std::vector<double> point_source(const Panels& panels, Vec3d x) {
  std::vector<double> b;
  for (const Triangle& t : triangles_of(panels))
    b.push_back(1 / norm(t.centroid + panels.origin - x));
  return b;
}

SurfaceMesh close_spheres(int level) {
  SurfaceMesh mesh;
  add_ellipsoid(mesh, "left", level, {1, 1, 1}, {-1.005, 0, 0});
  add_ellipsoid(mesh, "right", level, {1, 1, 1}, {1.005, 0, 0});
  mesh.closed = true;
  return mesh;
}

struct Case {
  const char* name;
  SurfaceMesh coarse, fine;
  Vec3d source;
};

}  // namespace

TEST_CASE("few iterations, and as many on fine meshes as on coarse ones") {
  for (const Case& c :
       {Case{"sphere", sphere(4), sphere(6), {0.3, 0.2, 0.4}},
        Case{"cube", cube(13), cube(52), {0.3, 0.2, 0.6}},
        Case{"bracket", bracket(8), bracket(30), {0.6, 0.3, 0.7}},
        Case{"plate", plate(30), plate(120), {0.3, 0.2, 0.3}},
        Case{"close spheres", close_spheres(3), close_spheres(5), {-0.7, 0.2, 0.4}}}) {
    std::vector<int> iterations;
    for (const SurfaceMesh* mesh : {&c.coarse, sanitized ? &c.coarse : &c.fine}) {
      const Panels panels = make_panels(*mesh);
      const auto v = make_single_layer(panels);
      LinearSolver solver({1e-6, {}});
      solver.set_operator(v, panels.leaf_begin);
      std::vector<double> x(panels.size());
      const SolveReport report = solver.solve(point_source(panels, c.source), x);
      CAPTURE(c.name, panels.size());
      CHECK(report.converged);
      CHECK(report.true_residual < 2e-6);
      CHECK(report.iterations <= 10);
      iterations.push_back(report.iterations);
    }
    CHECK(std::abs(iterations[0] - iterations[1]) <= 2);
  }
}

namespace {

/// Counts the products of another operator.
class Counting : public BoundaryOperator {
 public:
  explicit Counting(std::shared_ptr<const BoundaryOperator> op) : op_(std::move(op)) {}
  std::size_t size() const override { return op_->size(); }
  OperatorInfo info() const override { return op_->info(); }
  double accurate_tolerance() const override { return op_->accurate_tolerance(); }
  void diagonal_block(std::int64_t begin, std::int64_t end, double* block) const override {
    op_->diagonal_block(begin, end, block);
  }
  std::unique_ptr<ApproximateInverse> approximate_inverse() const override {
    return op_->approximate_inverse();
  }
  mutable int products = 0;

 protected:
  void multiply(const double* x, double* y, const Product& product) const override {
    if (product.tolerance == 0) ++products;
    op_->apply(x, y, product);
  }

 private:
  std::shared_ptr<const BoundaryOperator> op_;
};

}  // namespace

TEST_CASE("several right-hand sides share products and solve as well as one", "[threads]") {
  const Panels panels = make_panels(sphere(4));
  const std::size_t n = panels.size();
  const auto v = make_single_layer(panels);
  const auto counting = std::make_shared<Counting>(v);
  LinearSolver solver({1e-8, {}});
  solver.set_operator(counting, panels.leaf_begin);
  // Of very different sizes, one of them zero, and more than go together.
  std::vector<double> b;
  for (const auto& [size, source] : {std::pair{1.0, Vec3d{0.3, 0.2, 0.4}},
                                     {1e8, {0, 0, 3}},
                                     {0.0, {}},
                                     {1e-9, {-0.5, 0, 0}},
                                     {1.0, {0, 0.2, -0.7}},
                                     {2.0, {0.1, 0, 0}}}) {
    for (const double value : point_source(panels, source)) b.push_back(size * value);
  }
  const int k = static_cast<int>(b.size() / n);
  std::vector<double> x(b.size()), one(n);
  const auto reports = solver.solve(b, x, k);
  const int together = counting->products;
  REQUIRE(reports.size() == 6);
  for (int j = 0; j < k; ++j) {
    CHECK(reports[j].converged);
    CHECK(reports[j].true_residual <= 1e-8);
    const SolveReport alone = solver.solve(std::span(b).subspan(j * n, n), one);
    // Each has the Krylov space and the history that it has alone.
    CHECK(alone.iterations == reports[j].iterations);
    CHECK(reports[j].history.size() == reports[j].iterations + 1u);
    REQUIRE(alone.history.size() == reports[j].history.size());
    for (std::size_t i = 0; i < alone.history.size(); ++i)
      CHECK(reports[j].history[i] == Approx(alone.history[i]).epsilon(1e-6).margin(1e-12));
    double difference = 0, norm = 1e-300;
    for (std::size_t i = 0; i < n; ++i) {
      difference += std::pow(one[i] - x[j * n + i], 2);
      norm += std::pow(one[i], 2);
    }
    CHECK(std::sqrt(difference / norm) < 1e-6);
  }
  CHECK(2 * together < counting->products - together);
}

TEST_CASE("solves of several right-hand sides take loose products and come to the same residual") {
  std::vector<double> b;
  for (int i = 0; i < 20; ++i) b.push_back(std::sin(1.0 + 3 * i));
  std::vector<double> x(b.size()), ax(b.size());
  const auto solve = [&](const Rough& a, LinearSolver& solver, int vectors) {
    const std::size_t numbers = 4 * vectors;
    const auto reports =
        solver.solve(std::span(b).first(numbers), std::span(x).first(numbers), vectors);
    a.apply(x.data(), ax.data(), {.vectors = vectors, .tolerance = 1e-12});
    for (int v = 0; v < vectors; ++v) {
      CHECK(reports[v].converged);
      CHECK(reports[v].accurate_residual);
      double error = 0, norm = 0;
      for (int i = 4 * v; i < 4 * v + 4; ++i) {
        error += std::pow(b[i] - ax[i], 2);
        norm += std::pow(b[i], 2);
      }
      CHECK(std::sqrt(error / norm) <= 1e-8);
      // That is what the report says, to the part of the tolerance that is promised, although only
      // corrections were multiplied last.
      CHECK(std::abs(reports[v].true_residual - std::sqrt(error / norm)) <= 0.45 * 1e-8);
    }
    return reports;
  };
  const auto made = [&](double off, LinearSolver& solver) {
    const auto a = std::make_shared<Rough>(rows, off);
    solver.set_operator(a, leaves);
    return a;
  };
  {
    LinearSolver solver({1e-8, {}});
    const auto a = made(1, solver);
    const auto reports = solve(*a, solver, 5);
    CHECK(a->own == 0);
    CHECK(a->loose > 0);
    CHECK(a->accurate_ones == 2 * 5);  // and that of the test
    for (const SolveReport& report : reports) {
      CHECK(report.relative_residual > 1e-8);  // to the root of the tolerance
      CHECK_FALSE(report.refinements.empty());
    }
  }
  {  // few go as they always have
    LinearSolver solver({1e-8, {}});
    const auto a = made(1, solver);
    solve(*a, solver, 3);
    CHECK(a->loose == 0);
  }
  {  // and all where they are to
    LinearSolver solver({.tolerance = 1e-8, .loose_products = false});
    const auto a = made(1, solver);
    solve(*a, solver, 5);
    CHECK(a->loose == 0);
  }
  {  // products that are of no use give way to the operator's own
    LinearSolver solver({1e-8, {}});
    const auto a = made(1e6, solver);
    solve(*a, solver, 5);
    CHECK(a->loose > 0);
    CHECK(a->own > 0);
  }
  for (const auto& [option, value] :
       {std::pair{"-ksp_type", "bcgs"}, {"-ksp_pc_side", "left"}, {"-ksp_max_it", "200"}}) {
    CAPTURE(option);
    PetscOptionsSetValue(nullptr, option, value);
    LinearSolver solver({1e-8, {}});
    const auto a = made(1, solver);
    solve(*a, solver, 5);
    CHECK(a->loose == 0);
    PetscOptionsClearValue(nullptr, option);
  }
}

TEST_CASE("the shell matrix multiplies a dense matrix by one product") {
  const Panels panels = make_panels(sphere(2));
  const auto v = make_dense_operator(panels, single_layer, {});
  const auto counting = std::make_shared<Counting>(v);
  ShellMatrix shell(counting);
  const auto n = static_cast<PetscInt>(panels.size());
  petsc_calls([&] {
    Mat x = nullptr, y = nullptr;
    const PetscScalar *x_values = nullptr, *y_values = nullptr;
    PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, n, 3, nullptr, &x));
    PetscCall(MatSetRandom(x, nullptr));
    PetscCall(MatMatMult(shell.mat(), x, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &y));
    CHECK(counting->products == 1);
    PetscCall(MatDenseGetArrayRead(x, &x_values));
    PetscCall(MatDenseGetArrayRead(y, &y_values));
    std::vector<double> product(3 * n);
    v->apply(x_values, product.data(), {.vectors = 3});
    CHECK(std::equal(product.begin(), product.end(), y_values));
    PetscCall(MatDenseRestoreArrayRead(y, &y_values));
    PetscCall(MatDenseRestoreArrayRead(x, &x_values));
    PetscCall(MatDestroy(&y));
    PetscCall(MatDestroy(&x));
    return PetscErrorCode(PETSC_SUCCESS);
  });
}

namespace {

/// An operator that finds the GPU full when it comes to the accurate product.
class Crowded : public Counting {
 public:
  using Counting::Counting;

 protected:
  void multiply(const double* x, double* y, const Product& product) const override {
    if (product.tolerance == 0) return Counting::multiply(x, y, product);
    const FilledGpu filled;
    Counting::multiply(x, y, product);
  }
};

}  // namespace

TEST_CASE("a solution on the GPU is not lost where there is no memory for its accurate residual") {
  if (!gpu_is_there()) return;
  const Panels panels = make_panels(cube(30));
  OperatorOptions options;
  options.kind = OperatorOptions::Choice::fmm;
  options.processor = Processor::gpu;
  const auto v = make_single_layer(panels, options);
  const auto crowded = std::make_shared<Crowded>(v);
  LinearSolver solver({1e-6, {}});
  solver.set_operator(crowded, panels.leaf_begin);
  std::vector<double> x(panels.size());
  const SolveReport report = solver.solve(std::vector<double>(panels.size(), 1.0), x);
  CHECK(report.converged);
  CHECK_FALSE(report.accurate_residual);
  CHECK(report.true_residual < 2e-6);
}

TEST_CASE("systems of an operator on the GPU, for one and several right-hand sides") {
  if (!gpu_is_there()) return;
  const Panels panels = make_panels(cube(18));
  const std::size_t n = panels.size();
  OperatorOptions options;
  options.kind = OperatorOptions::Choice::fmm;
  const auto on_cpu = make_single_layer(panels, options);
  options.processor = Processor::gpu;
  const auto on_gpu = make_single_layer(panels, options);
  const ShellMatrix matrix(on_gpu);
  VecType type = nullptr;
  MatGetVecType(matrix.mat(), &type);
#ifdef PETSC_HAVE_CUDA
  CHECK(std::string(type) == VECCUDA);
#endif
  std::vector<double> b(3 * n), x(3 * n), exact(3 * n);
  for (std::size_t i = 0; i < b.size(); ++i)
    b[i] = 1 + static_cast<double>(i / n) * panels.centroid(i % n).x;
  LinearSolver solver({1e-7, {}}), reference({1e-7, {}});
  solver.set_operator(on_gpu, panels.leaf_begin);
  reference.set_operator(on_cpu, panels.leaf_begin);
  reference.solve(b, exact, 3);
  for (const SolveReport& report : solver.solve(b, x, 3)) {
    CHECK(report.converged);
    CHECK(report.true_residual < 1e-6);
    CHECK(report.accurate_residual);
  }
  // More of them, by loose products.
  options.relaxes = true;
  b.resize(5 * n);
  for (std::size_t i = 3 * n; i < b.size(); ++i) b[i] = b[i - 3 * n] + panels.centroid(i % n).z;
  std::vector<double> with_loose(b.size()), with_own(b.size());
  LinearSolver loose({1e-7, {}});
  loose.set_operator(make_single_layer(panels, options), panels.leaf_begin);
  for (const SolveReport& report : loose.solve(b, with_loose, 5)) {
    CHECK(report.converged);
    CHECK(report.true_residual <= 1e-7);
    CHECK_FALSE(report.refinements.empty());
  }
  solver.solve(b, with_own, 5);
  CHECK(norm_of(difference(with_loose, with_own)) < 1e-5 * norm_of(with_own));
  b.resize(3 * n);
  // With vectors in the host's memory, as with a PETSc without CUDA.
  LinearSolver on_host({.tolerance = 1e-7, .host_vectors = true});
  on_host.set_operator(on_gpu, panels.leaf_begin);
  CHECK(on_host.solve(b, x, 3).front().converged);
  CHECK(norm_of(difference(x, exact)) < 1e-5 * norm_of(exact));
  // From the CPU to the GPU with one solver.
  reference.set_operator(on_gpu, panels.leaf_begin);
  CHECK(reference.solve(b, x, 3).front().converged);
  CHECK(norm_of(difference(x, exact)) < 1e-5 * norm_of(exact));
}

TEST_CASE("PETSc's preconditioners and products with a dense matrix take an operator on the GPU") {
  if (!gpu_is_there()) return;
  const Panels panels = make_panels(cube(12));
  OperatorOptions options;
  options.kind = OperatorOptions::Choice::fmm;
  options.processor = Processor::gpu;
  const auto v = make_single_layer(panels, options);
  PetscOptionsSetValue(nullptr, "-pc_type", "vpbjacobi");
  LinearSolver solver({1e-6, {}});
  PetscOptionsClearValue(nullptr, "-pc_type");
  solver.set_operator(v, panels.leaf_begin);
  CHECK(solver.pc_type() == "vpbjacobi");
  std::vector<double> x(panels.size());
  const SolveReport report = solver.solve(std::vector<double>(panels.size(), 1.0), x);
  CHECK(report.converged);
  CHECK(report.true_residual < 2e-6);

  const ShellMatrix shell(v);
  const auto n = static_cast<PetscInt>(panels.size());
  petsc_calls([&] {
    Mat columns = nullptr, products = nullptr;
    const PetscScalar *x_values = nullptr, *y_values = nullptr;
    PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, n, 3, nullptr, &columns));
    PetscCall(MatSetRandom(columns, nullptr));
    PetscCall(MatMatMult(shell.mat(), columns, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &products));
    PetscCall(MatDenseGetArrayRead(columns, &x_values));
    PetscCall(MatDenseGetArrayRead(products, &y_values));
    std::vector<double> expected(3 * n);
    v->apply(x_values, expected.data(), {.vectors = 3});
    CHECK(std::equal(expected.begin(), expected.end(), y_values));
    PetscCall(MatDenseRestoreArrayRead(products, &y_values));
    PetscCall(MatDenseRestoreArrayRead(columns, &x_values));
    PetscCall(MatDestroy(&products));
    PetscCall(MatDestroy(&columns));
    return PetscErrorCode(PETSC_SUCCESS);
  });
}

}  // namespace fmbem::test::linear_solver_tests
