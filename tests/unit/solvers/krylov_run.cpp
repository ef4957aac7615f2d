#include "fmbem/solvers/krylov_run.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>

#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/bem/layer/dense_operator.hpp"
#include "fmbem/bem/near/exact_entry.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/solvers/near_matrix.hpp"
#include "fmbem/solvers/norm.hpp"
#include "fmbem/solvers/petsc_session.hpp"
#include "fmbem/solvers/shell_matrix.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/cuda/gpu.hpp"
#include "tests/unit/larger_error.hpp"
#include "tests/unit/surfaces.hpp"

namespace fmbem::test::krylov_run_tests {

namespace {

struct Sphere {
  Panels panels = make_panels(sphere(2));
  std::shared_ptr<const BoundaryOperator> v =
      make_dense_operator(panels, single_layer, {.kind = OperatorOptions::Choice::dense});
  std::vector<double> b, x;

  Sphere() : b(panels.size()), x(panels.size()) {
    start_petsc();
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = 1 + panels.centroid(i).x;
  }
  double residual() const {
    std::vector<double> r = b;
    v->apply(x.data(), r.data(), {.alpha = -1, .beta = 1});
    return norm_of(r) / norm_of(b);
  }
};

/// The largest distance of a value of `a` to the nearest one of `b`.
double apart(const std::vector<std::complex<double>>& a,
             const std::vector<std::complex<double>>& b) {
  double most = 0;
  for (const auto& x : a) {
    double least = std::abs(x - b.front());
    for (const auto& y : b) least = std::min(least, std::abs(x - y));
    most = std::max(most, least);
  }
  return most;
}

/// Eigenvalues 2 − 2 cos(kπ/(n + 1)), k = 1 … n.
DenseMatrix second_differences(int n) {
  DenseMatrix a{n, std::vector<double>(std::size_t(n) * n)};
  for (int i = 0; i < n; ++i) {
    a.values[i + i * n] = 2;
    if (i > 0) a.values[i + (i - 1) * n] = a.values[i - 1 + i * n] = -1;
  }
  return a;
}

}  // namespace

TEST_CASE("methods, sides and preconditioners of PETSc's come to the same solution") {
  Sphere s;
  Mat leaves = make_leaf_blocks(*s.v, s.panels.leaf_begin);
  const auto inverse = s.v->approximate_inverse();
  for (const auto* method : {"gmres", "fgmres", "gcr", "bcgs", "tfqmr"}) {
    for (const auto* pc : {"", "none", "jacobi", "vpbjacobi"}) {
      CAPTURE(method, pc);
      KrylovRun run{.options = {{"-ksp_type", method}}, .tolerance = 1e-9, .repeats = 2};
      const bool own = std::string(pc).empty();
      if (!own) run.options.emplace_back("-pc_type", pc);
      const auto report = run_krylov(run, s.v, own ? inverse.get() : nullptr, leaves, s.b, s.x, 1);
      CHECK(report.method == method);
      CHECK(report.side == "right");
      CHECK(report.solves.front().converged);
      CHECK(report.seconds.size() == 2);
      CHECK(report.unused.empty());
      CHECK(s.residual() <= 1.1e-9);
      CHECK(std::abs(report.solves.front().true_residual - s.residual()) <= 1e-12);
      CHECK(report.solves.front().history.front() == 1);
      CHECK(report.products >= report.solves.front().iterations);
    }
  }
  petsc_calls([&] { return MatDestroy(&leaves); });
}

TEST_CASE("options of one run do not reach the next one, and unknown ones come to light") {
  Sphere s;
  const auto inverse = s.v->approximate_inverse();
  const KrylovRun left{.options = {{"-ksp_pc_side", "left"}, {"-ksp_nonsense", "1"}}};
  const auto first = run_krylov(left, s.v, inverse.get(), nullptr, s.b, s.x, 1);
  CHECK(first.side == "left");
  CHECK(first.norm == "preconditioned");
  CHECK(first.unused == std::vector<std::string>{"-ksp_nonsense"});
  const auto second = run_krylov({}, s.v, inverse.get(), nullptr, s.b, s.x, 1);
  CHECK(second.side == "right");
  CHECK(second.norm == "unpreconditioned");
  CHECK_THROWS_AS(krylov_choice({{"-ksp_type", "nothing"}}), InputError);
  for (const char* const transposing : {"bicg", "ibcgs", "cgne", "cgls", "lsqr"})
    CHECK_THROWS_AS(krylov_choice({{"-ksp_type", transposing}}), InputError);
  CHECK(krylov_choice({{"-ksp_type", "gmres"}}).side == "right");
  CHECK(krylov_choice({{"-ksp_type", "cg"}}).side == "left");
}

TEST_CASE("the preconditioned matrix is the inverse's columns, and Ritz values are among its own") {
  Sphere s;
  const auto inverse = s.v->approximate_inverse();
  const KrylovRun run{.tolerance = 1e-10, .with_spectrum = true, .with_matrix = true};
  const auto report = run_krylov(run, s.v, inverse.get(), nullptr, s.b, s.x, 1);
  const std::size_t n = s.panels.size();
  REQUIRE(report.matrix.n == int(n));
  for (const std::size_t j : {std::size_t(0), n / 2}) {
    std::vector<double> unit(n), z(n), column(n);
    unit[j] = 1;
    inverse->apply(unit.data(), z.data());
    s.v->apply(z.data(), column.data());
    double worst = 0;
    for (std::size_t i = 0; i < n; ++i)
      worst = larger_error(worst, std::abs(column[i] - report.matrix.values[j * n + i]));
    CHECK(worst <= 1e-12);
  }
  // GMRES has reduced the residual to 1e-10: what it sees of the spectrum, it sees so well.
  REQUIRE_FALSE(report.ritz.empty());
  const auto singular = singular_values(report.matrix);
  CHECK(report.largest_singular <= singular.front() * (1 + 1e-10));
  CHECK(report.smallest_singular >= singular.back() * (1 - 1e-10));
  for (const auto& value : report.ritz) CHECK(std::abs(value) <= singular.front());
}

TEST_CASE("without a preconditioner the Ritz values of a full Krylov space are eigenvalues") {
  Sphere s;
  Mat leaves = make_leaf_blocks(*s.v, s.panels.leaf_begin);
  for (std::size_t i = 0; i < s.b.size(); ++i) s.b[i] = 1;
  const KrylovRun run{.options = {{"-pc_type", "none"}},
                      .tolerance = 1e-13,
                      .with_spectrum = true,
                      .with_matrix = true};
  // By symmetry 1 lies in the span of few eigenvectors: the space is full after as many steps.
  const auto report = run_krylov(run, s.v, nullptr, leaves, s.b, s.x, 1);
  REQUIRE(report.solves.front().iterations < 10);
  CHECK(apart(report.ritz, eigenvalues(report.matrix)) <= 1e-8);
  petsc_calls([&] { return MatDestroy(&leaves); });
}

TEST_CASE("spectra of second differences, a rotation and a nilpotent matrix") {
  constexpr int n = 30;
  const DenseMatrix a = second_differences(n);
  std::vector<std::complex<double>> exact;
  for (int k = 1; k <= n; ++k) exact.emplace_back(2 - 2 * std::cos(k * std::numbers::pi / (n + 1)));
  CHECK(apart(eigenvalues(a), exact) <= 1e-13);
  CHECK(apart(exact, eigenvalues(a)) <= 1e-13);
  const auto singular = singular_values(a);
  CHECK(std::abs(singular.front() - exact.back().real()) <= 1e-13);
  CHECK(std::abs(singular.back() - exact.front().real()) <= 1e-13);
  // Of a symmetric matrix the field of values is the interval of the eigenvalues.
  for (const auto& z : field_of_values(a, 9)) {
    CHECK(std::abs(z.imag()) <= 1e-12);
    CHECK(z.real() <= exact.back().real() + 1e-12);
    CHECK(z.real() >= exact.front().real() - 1e-12);
  }
  const DenseMatrix rotation{2, {0, 1, -1, 0}};
  CHECK(apart({{0, 1}, {0, -1}}, eigenvalues(rotation)) <= 1e-15);
  // Of [0 1; 0 0] it is the disk of radius ½, to all directions.
  for (const auto& z : field_of_values({2, {0, 0, 1, 0}}, 7))
    CHECK(std::abs(std::abs(z) - 0.5) <= 1e-14);
  CHECK_THROWS_WITH(singular_values({3, {1, 2}}), contains("of 3 rows and columns"));
  CHECK_THROWS_AS(eigenvalues({2, {1, 2, 3}}), InputError);
  CHECK_THROWS_AS(field_of_values({-1, {}}, 7), InputError);
  CHECK_THROWS_AS(field_of_values({1, {1}}, 0), InputError);
}

TEST_CASE("exceptions of entries pass through the near matrix") {
  const Sphere s;
  const auto entry = [](std::size_t i, std::size_t) -> double {
    throw std::runtime_error("row " + std::to_string(i));
  };
  CHECK_THROWS_WITH(make_near_matrix(s.panels, entry), contains("row 0"));
}

TEST_CASE("the near matrix has the operator's entries, of all panels with a large reach") {
  const Sphere s;
  const auto entry = [&](std::size_t i, std::size_t j) {
    return exact_entry(single_layer, NormalRows::averaged, s.panels.triangle(i),
                       s.panels.triangle(j), i == j);
  };
  const auto n = static_cast<PetscInt>(s.panels.size());
  for (const double reach : {2.0, 100.0}) {
    Mat near = make_near_matrix(s.panels, entry, reach);
    MatInfo info;
    OwnedVec x, y;
    std::vector<double> exact(n);
    petsc_calls([&] {
      PetscCall(MatGetInfo(near, MAT_LOCAL, &info));
      PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, n, s.b.data(), &x.vec));
      PetscCall(VecDuplicate(x.vec, &y.vec));
      PetscCall(MatMult(near, x.vec, y.vec));
      return PetscErrorCode(PETSC_SUCCESS);
    });
    if (reach > 50) {
      CHECK(info.nz_used == double(n) * n);
      s.v->apply(s.b.data(), exact.data());
      const double* found = nullptr;
      petsc_calls([&] { return VecGetArrayRead(y.vec, &found); });
      for (PetscInt i = 0; i < n; ++i) CHECK(std::abs(found[i] - exact[i]) <= 1e-13);
      petsc_calls([&] { return VecRestoreArrayRead(y.vec, &found); });
    } else {
      CHECK(info.nz_used < 80.0 * n);
      CHECK(info.nz_used > 20.0 * n);
    }
    petsc_calls([&] { return MatDestroy(&near); });
  }
}

namespace {

/// V by the FMM, and the same to all digits.
struct RelaxedSphere {
  static constexpr double tolerance = 1e-7;
  Panels panels = make_panels(sphere(4));
  std::shared_ptr<const BoundaryOperator> exact =
      make_dense_operator(panels, single_layer, {.kind = OperatorOptions::Choice::dense});
  std::shared_ptr<const BoundaryOperator> relaxed(Processor processor) const {
    return make_single_layer(panels, {.kind = OperatorOptions::Choice::fmm,
                                      .processor = processor,
                                      .tolerance = tolerance,
                                      .relaxes = true});
  }
  /// Gmres, fgmres and gcr, restarted or not.
  void solve_relaxed(Processor processor) const {
    const std::size_t n = panels.size();
    const auto v = relaxed(processor);
    std::vector<double> b(n), x(n);
    for (std::size_t i = 0; i < n; ++i) b[i] = 1 + panels.centroid(i).x;
    Mat leaves = make_leaf_blocks(*v, panels.leaf_begin);
    for (const auto* method : {"gmres", "fgmres", "gcr"}) {
      for (const auto* restart : {"100", "4"}) {
        CAPTURE(method, restart);
        const KrylovRun run{.options = {{"-ksp_type", method},
                                        {"-pc_type", "none"},
                                        {"-ksp_gmres_restart", restart},
                                        {"-ksp_gcr_restart", restart}},
                            .tolerance = 1e-6,
                            .relax_from = tolerance};
        const auto report = run_krylov(run, v, nullptr, leaves, b, x, 1);
        CHECK(report.solves.front().converged);
        std::vector<double> r = b;
        exact->apply(x.data(), r.data(), {.alpha = -1, .beta = 1});
        CHECK(norm_of(r) <= 2e-6 * norm_of(b));
      }
    }
    const KrylovRun refused{.options = {{"-ksp_type", "bcgs"}, {"-pc_type", "none"}},
                            .relax_from = tolerance};
    CHECK_THROWS_AS(run_krylov(refused, v, nullptr, leaves, b, x, 1), InputError);
    petsc_calls([&] { return MatDestroy(&leaves); });
  }
};

}  // namespace

TEST_CASE("relaxed methods come to the true residual that they tell of") {
  start_petsc();
  RelaxedSphere().solve_relaxed(Processor::cpu);
}

TEST_CASE("relaxed methods on the GPU come to the true residual that they tell of") {
  if (!gpu_is_there()) return;
  start_petsc();
  RelaxedSphere().solve_relaxed(Processor::gpu);
}

TEST_CASE("a dense matrix is factored where its operator is, on the GPU by cuSOLVER") {
  if (!gpu_is_there()) return;
  start_petsc();
  const Panels panels = make_panels(sphere(3));
  const std::size_t n = panels.size();
  const auto exact =
      make_dense_operator(panels, single_layer, {.kind = OperatorOptions::Choice::dense});
  const auto v = make_single_layer(
      panels, {.kind = OperatorOptions::Choice::fmm, .processor = Processor::gpu});
  Mat matrix = make_dense_matrix(*v);
#ifdef PETSC_HAVE_CUDA
  MatType type = nullptr;
  petsc_calls([&] { return MatGetType(matrix, &type); });
  CHECK(std::string(type) == MATSEQDENSECUDA);
#endif
  std::vector<double> b(n, 1.0), x(n);
  run_krylov({.options = {{"-ksp_type", "preonly"}, {"-pc_type", "lu"}}}, v, nullptr, matrix, b, x,
             1);
  std::vector<double> r = b;
  exact->apply(x.data(), r.data(), {.alpha = -1, .beta = 1});
  CHECK(norm_of(r) <= 1e-11 * norm_of(b));
  petsc_calls([&] { return MatDestroy(&matrix); });
}

TEST_CASE("corrections lead single-precision products to a true residual of 1e-12") {
  const RelaxedSphere s;
  const std::size_t n = s.panels.size();
  const auto v = make_single_layer(s.panels, {.kind = OperatorOptions::Choice::fmm,
                                              .precision = Precision::single_precision,
                                              .tolerance = 1e-5});
  std::vector<double> b(n, 1.0), x(n);
  const auto inverse = v->approximate_inverse();
  const KrylovRun run{.tolerance = 1e-4, .refine_to = 1e-12};
  const auto report = run_krylov(run, v, inverse.get(), nullptr, b, x, 1);
  CHECK_FALSE(report.solves.front().refinements.empty());
  std::vector<double> r = b;
  s.exact->apply(x.data(), r.data(), {.alpha = -1, .beta = 1});
  CHECK(norm_of(r) <= 1.2e-12 * norm_of(b));  // entries and sums of both, to some 1e-13
}

}  // namespace fmbem::test::krylov_run_tests
