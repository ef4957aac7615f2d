// Studies of media and of molecules.
#include <algorithm>
#include <cmath>
#include <memory>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/problems/known_problems.hpp"
#include "fmbem/problems/solve_problem.hpp"
#include "fmbem/problems/study_system.hpp"
#include "fmbem/solvers/linear_solver.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/cuda/gpu.hpp"
#include "tests/unit/larger_error.hpp"
#include "tests/unit/layered_sphere.hpp"
#include "tests/unit/molecules.hpp"

namespace fmbem::test::study_problems_tests {

namespace {

constexpr double tolerance = 1e-8;
const StudyData own{};

std::vector<double> solve(const StudySystem& system, const StudyData& data, int most_iterations) {
  const std::vector<double> b = system.right_hand_sides(data);
  std::vector<double> x(b.size());
  LinearSolver solver({.tolerance = tolerance});
  solver.set_operator(system.op(), system.leaf_begin());
  const SolveReport report = solver.solve(b, x);
  CHECK(report.converged);
  CHECK(report.iterations <= most_iterations);
  return x;
}

struct Solved {
  double number;
  std::optional<double> exact;
  double error() const { return std::abs(number / *exact - 1); }
};

Solved solved(const StudyProblem& problem, const StudyEquation& equation, int most_iterations,
              const OperatorOptions& options = {.tolerance = tolerance}) {
  const auto system = make_study_system(problem, equation, options);
  return {system->quantity(own, solve(*system, own, most_iterations)).value(), system->exact(own)};
}

}  // namespace

TEST_CASE("nested shells have their closed form at any contrast, with errors that fall as h²") {
  for (const auto* name : {"shells:1e-4", "shells:80", "shells:1e6"}) {
    CAPTURE(name);
    const double core = name[7] == '8' ? 80 : std::stod(name + 7);
    const test::LayeredSphere layers{{0.6, 0.8, 1}, {core, 4, 2, 1}};
    const StudyProblem coarse = known_problem(name, 0);
    for (const Vec3d x : {Vec3d{0, 0, 1.5}, Vec3d{1, 2, -3}})
      CHECK(coarse.exact_potential(x) == Approx(layers.in_uniform_field(x).real()).epsilon(1e-12));
    const Solved first = solved(coarse, Formulation::media, 8),
                 second = solved(known_problem(name, 1), Formulation::media, 8);
    CHECK(first.error() < 2e-3);
    CHECK(second.error() < 0.4 * first.error());
  }
}

TEST_CASE("a memory's cell of any contrast is what solve_problem() has, in a few iterations") {
  for (const auto* name : {"cell:1e-4", "cell:1e2", "cell:1e6"}) {
    CAPTURE(name);
    const StudyProblem cell = known_problem(name, 0);
    CHECK(cell.mesh.triangles.size() == 1034);
    const auto system = make_study_system(cell, Formulation::media, {.tolerance = tolerance});
    const double number = system->quantity(own, solve(*system, own, 12)).value();
    const ProblemSolution solution =
        solve_problem(cell.mesh, *cell.media, {.solver = {.tolerance = tolerance}});
    const std::array<Vec3d, 1> at{system->probe()};
    CHECK(number ==
          Approx(problem_field(cell.mesh, solution, 0, at).potential.front()).epsilon(1e-6));
    CHECK((number > 0 && number < 1));
    // The other bars, at 1 V in turn, among them that in the middle.
    const std::size_t n = system->unknowns();
    const std::vector<double> b = system->right_hand_sides({.kind = StudyData::Kind::groups});
    const std::vector<double> own_b = system->right_hand_sides(own);
    REQUIRE(b.size() == 9 * n);
    int same = 0;
    for (std::size_t k = 0; k < 9; ++k)
      if (std::equal(own_b.begin(), own_b.end(), b.begin() + static_cast<std::ptrdiff_t>(k * n)))
        ++same;
    CHECK(same == 1);
  }
}

TEST_CASE("Kirkwood's sphere comes out in every formulation, with errors that fall as h²",
          "[long][cases]") {
  for (const double kappa : {0.0, 0.125}) {
    StudyProblem problem = known_problem("kirkwood", 1);
    problem.solvation.kappa = kappa;
    double exact = 0;
    for (const Atom& one : problem.molecule->atoms)
      for (const Atom& other : problem.molecule->atoms)
        exact += 0.5 * one.charge * other.charge *
                 test::kirkwood(4, one.place, other.place, problem.solvation);
    CHECK(problem.exact_energy(problem.solvation) == Approx(exact).epsilon(1e-12));
    StudyProblem finer = known_problem("kirkwood", 2);
    finer.solvation = problem.solvation;
    for (const auto* name : {"solvate", "solvate:juffer", "solvate:lu"}) {
      CAPTURE(name, kappa);
      const Solved first = solved(problem, study_equation(name), 11);
      CHECK(first.error() < 0.04);
      if (test::sanitized) continue;
      const Solved second = solved(finer, study_equation(name), 11);
      CHECK(second.error() < 0.3 * first.error());
    }
  }
}

TEST_CASE("studies of molecules on the GPU have the energies of the CPU") {
  if (!test::gpu_is_there()) return;
  const OperatorOptions on_gpu{
      .kind = OperatorOptions::Choice::fmm, .processor = Processor::gpu, .tolerance = tolerance};
  for (const auto* problem : {"kirkwood", "molecule"})
    for (const auto* name : {"solvate:direct", "solvate:juffer", "solvate:lu"}) {
      CAPTURE(problem, name);
      StudyProblem known = known_problem(problem, 1);
      known.solvation.kappa = 0.125;
      const auto system = make_study_system(known, study_equation(name), on_gpu);
      CHECK(system->op()->processor() == Processor::gpu);
      CHECK(solved(known, study_equation(name), 13, on_gpu).number ==
            Approx(solved(known, study_equation(name), 12).number).epsilon(1e-6));
    }
}

TEST_CASE("the small molecule's energy is that of solvate()") {
  const StudyProblem problem = known_problem("molecule", 0);
  const SurfaceMesh mesh = join_meshes({problem.mesh});
  for (const auto* name : {"solvate:direct", "solvate:juffer", "solvate:lu"}) {
    CAPTURE(name);
    const StudyEquation equation = study_equation(name);
    SolvationModel model = problem.solvation;
    model.formulation = equation.solvation;
    const Solvation solvation =
        solvate(mesh, *problem.molecule, model, {.solver = {.tolerance = tolerance}});
    CHECK(solved(problem, equation, 12).number == Approx(solvation.solvation_energy).epsilon(1e-6));
  }
}

TEST_CASE("opposite potentials are those of groups, superposed") {
  const StudyProblem spheres = known_problem("two-spheres:0.1", 0);
  for (const Formulation formulation : {Formulation::single, Formulation::direct}) {
    const auto system = make_study_system(spheres, formulation, {.tolerance = tolerance});
    const std::vector<double> both = system->right_hand_sides({.kind = StudyData::Kind::opposite});
    const std::vector<double> each = system->right_hand_sides({.kind = StudyData::Kind::groups});
    const std::size_t n = system->unknowns();
    REQUIRE(each.size() == 2 * n);
    double size = 0, difference = 0;
    for (std::size_t i = 0; i < n; ++i) {
      size = std::max(size, std::abs(both[i]));
      difference = larger_error(difference, std::abs(both[i] - (each[i] - each[n + i])));
    }
    CHECK(difference <= 1e-5 * size);
    CHECK_FALSE(system->quantity({.kind = StudyData::Kind::groups}, both));
  }
}

TEST_CASE("data and problems that are none of a formulation's are refused") {
  const auto refused = [](const char* problem, const char* equation, StudyData::Kind kind) {
    CAPTURE(problem, equation, int(kind));
    const StudyProblem known = known_problem(problem, 0);
    CHECK_THROWS_AS(
        make_study_system(known, study_equation(equation), {})->right_hand_sides({.kind = kind}),
        InputError);
  };
  using Kind = StudyData::Kind;
  refused("sphere", "media", Kind::one);
  refused("sphere", "solvate", Kind::one);
  refused("cell", "media", Kind::source);
  refused("shells", "media", Kind::groups);
  refused("kirkwood", "solvate", Kind::source);
  refused("kirkwood", "solvate", Kind::given);
  refused("sphere", "single", Kind::opposite);
  refused("two-spheres", "second", Kind::groups);
}

}  // namespace fmbem::test::study_problems_tests
