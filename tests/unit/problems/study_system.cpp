#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/check.hpp"
#include "fmbem/meshes/contact.hpp"
#include "fmbem/meshes/npy_file.hpp"
#include "fmbem/meshes/panel_values.hpp"
#include "fmbem/problems/inner_point.hpp"
#include "fmbem/problems/known_problems.hpp"
#include "fmbem/problems/layer_study_system.hpp"
#include "fmbem/solvers/linear_solver.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/meshes/temporary_folder.hpp"
#include "tests/unit/surfaces.hpp"

namespace fmbem::test::study_system_tests {

namespace {

constexpr Formulation all_formulations[] = {Formulation::single, Formulation::direct,
                                            Formulation::second, Formulation::adjoint,
                                            Formulation::mixed};

std::vector<double> solve(const StudySystem& system, const StudyData& data) {
  const std::vector<double> b = system.right_hand_sides(data);
  std::vector<double> x(b.size());
  LinearSolver solver({.tolerance = 1e-9});
  solver.set_operator(system.op(), system.panels().leaf_begin);
  REQUIRE(solver.solve(b, x).converged);
  return x;
}

double error_of(const StudySystem& system, const StudyData& data) {
  return std::abs(*system.quantity(data, solve(system, data)) / *system.exact(data) - 1);
}

}  // namespace

// The potential of a charge inside of a body, and of the unit sphere at 1, found by four equations
// that share neither operators nor data: it has to come out, and better on a finer mesh.
TEST_CASE("every formulation finds the known potential, with errors that fall as h²") {
  for (const auto* problem : {"sphere", "cube"}) {
    for (const Formulation formulation : all_formulations) {
      CAPTURE(problem, name(formulation));
      std::map<int, double> error;
      for (const int refine : {0, 1}) {
        const LayerStudySystem system(known_problem(problem, refine), formulation,
                                      {.tolerance = 1e-8});
        error[refine] = error_of(system, {.kind = StudyData::Kind::source});
      }
      CHECK(error[0] < 0.05);
      CHECK(error[1] < 0.5 * error[0]);
    }
  }
}

// references.md of barbagroup/inexact-gmres: 3.3863e-2, 8.8815e-3 with exact integrals
// and 6.2776e-2, 1.6136e-2 of their second kind.
TEST_CASE("the sphere's errors are those that are published, or less") {
  const double first[] = {3.3863e-2, 8.8815e-3}, second[] = {6.2776e-2, 1.6136e-2};
  for (const int refine : {0, 1}) {
    for (const Formulation formulation : all_formulations) {
      const LayerStudySystem system(known_problem("sphere", refine), formulation,
                                    {.tolerance = 1e-9});
      CHECK(system.exact({}).value() == Approx(1 / std::sqrt(27.0)).epsilon(1e-12));
      const double error = error_of(system, {});
      if (formulation == Formulation::single || formulation == Formulation::direct)
        CHECK(error == Approx(first[refine]).epsilon(1e-4));
      else
        CHECK(error < second[refine]);
    }
  }
}

TEST_CASE("entries are those of the operator, whatever the formulation") {
  for (const Formulation formulation : all_formulations) {
    CAPTURE(name(formulation));
    const LayerStudySystem system(known_problem("sphere", 0), formulation,
                                  {.kind = OperatorOptions::Choice::dense, .tolerance = 1e-10});
    const std::size_t n = system.panels().size();
    for (const std::size_t j : {std::size_t(3), n - 1}) {
      std::vector<double> unit(n), column(n);
      unit[j] = 1;
      system.op()->apply(unit.data(), column.data());
      for (std::size_t i = 0; i < n; ++i) CHECK(std::abs(column[i] - system.entry(i, j)) <= 1e-12);
    }
    std::vector<double> block(16);
    system.op()->diagonal_block(2, 6, block.data());
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j)
        CHECK(std::abs(block[4 * i + j] - system.entry(2 + i, 2 + j)) <= 1e-12);
  }
}

TEST_CASE(
    "a dielectric sphere's potential comes out at any contrast, with errors that fall as h²") {
  for (const double permittivity : {1e-4, 4.0, 1e6})
    for (const StudyData::Kind kind : {StudyData::Kind::one, StudyData::Kind::source}) {
      CAPTURE(permittivity, int(kind));
      std::map<int, double> error;
      for (const int refine : {0, 1}) {
        StudyProblem sphere = known_problem("sphere", refine);
        const StudyEquation equation(Formulation::dielectric, permittivity);
        const LayerStudySystem system(sphere, equation, {.tolerance = 1e-8});
        sphere.is_unit_sphere = false;
        CHECK_FALSE(LayerStudySystem(sphere, equation, {.tolerance = 1e-2}).exact({.kind = kind}));
        error[refine] = error_of(system, {.kind = kind});
      }
      // Of a charge in a small ε, u₀ and what the surface adds are 1/ε times what is left of them.
      const double terms = kind == StudyData::Kind::source ? std::max(1.0, 1 / permittivity) : 1;
      CHECK(error[0] < 0.05 * terms);
      CHECK(error[1] < 0.5 * error[0] + 1e-8 * terms);
    }
}

TEST_CASE("equations of studies have names that lead back to them") {
  for (const auto* text :
       {"single", "direct", "second", "adjoint", "mixed", "dielectric:80", "dielectric:0.25",
        "dielectric:1e+06", "media", "solvate:direct", "solvate:juffer", "solvate:lu"})
    CHECK(name(study_equation(text)) == text);
  for (const auto* wrong :
       {"", "double", "dielectric", "dielectric:", "dielectric:0", "dielectric:-1",
        "dielectric:nan", "dielectric:inf", "single:2", "media:2", "solvate:", "solvate:best"})
    CHECK_THROWS_AS(study_equation(wrong), InputError);
}

TEST_CASE("a cluster inverse has about the unknowns that are asked for") {
  const LayerStudySystem system(known_problem("sphere", 2), Formulation::single, {});
  const StudyData data{.kind = StudyData::Kind::random, .vectors = 2};
  CHECK(system.right_hand_sides(data).size() == 2 * system.panels().size());
  CHECK(system.inverse({})->memory_bytes() > 0);
  CHECK(system.inverse(300)->memory_bytes() > 1.5 * system.inverse(100)->memory_bytes());
  const LayerStudySystem second(known_problem("sphere", 0), Formulation::second, {});
  CHECK_FALSE(second.inverse({}));
  CHECK_THROWS_AS(second.inverse(300), InputError);
}

TEST_CASE("open surfaces have the single layer alone, and no exact potential") {
  CHECK_THROWS_AS(LayerStudySystem(known_problem("plate", 0), Formulation::direct, {}), InputError);
  const LayerStudySystem system(known_problem("plate", 0), Formulation::single, {});
  CHECK_FALSE(system.exact({.kind = StudyData::Kind::source}));
  CHECK_THROWS_AS(system.right_hand_sides({.kind = StudyData::Kind::given, .values = {1, 2}}),
                  InputError);
}

TEST_CASE("known problems are closed and oriented where they are bodies") {
  // Volumes: the sphere's polyhedron, cubes; with half a bar's surface left out they would differ.
  const std::map<std::string, double> volume{{"cube", 1}, {"fichera", 7}, {"bus", 20}};
  for (const KnownProblem& problem : known_problems()) {
    CAPTURE(problem.name);
    const SurfaceMesh mesh = known_problem(problem.name, problem.name == "bodies" ? 0 : 1).mesh;
    const MeshReport report = check_mesh(mesh);
    CHECK(report.degenerate == 0);
    if (problem.name == "cell") continue;  // whose parts share edges
    CHECK(report.non_manifold_edges == 0);
    CHECK((report.open_edges == 0) == mesh.closed);
    if (mesh.closed) CHECK(report.volume.value() > 0);
    if (volume.count(problem.name) > 0)
      CHECK(report.volume.value() == Approx(volume.at(problem.name)).epsilon(1e-12));
    if (problem.name != "sheets") CHECK(find_contacts(mesh).empty());
  }
  CHECK(known_problem("sphere", 0).mesh.triangles.size() == 128);
  CHECK(check_mesh(known_problem("bodies", 0).mesh).components == 100);
  for (const auto* wrong : {"ball", "cube:2", "two-spheres:0", "sheets:x"})
    CHECK_THROWS_AS(known_problem(wrong, 0), InputError);
  CHECK_THROWS_AS(known_problem("cube", 9), InputError);
}

TEST_CASE("points inside of a body are found, and refused where there are none") {
  const Panels fichera = make_panels(known_problem("fichera", 1).mesh);
  const Vec3d x = inner_point(fichera) + fichera.origin;
  // Cubes at 0 and 1 along each axis, all but that at (1, 1, 1).
  for (int axis = 0; axis < 3; ++axis) CHECK((x[axis] > 0 && x[axis] < 2));
  CHECK((x.x < 1 || x.y < 1 || x.z < 1));
  CHECK_THROWS_AS(inner_point(make_panels(test::plate(4))), InputError);
}

TEST_CASE("arrays of NumPy's come back as they were written") {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.npy");
  const std::vector<double> values{1, 2, 3, 4, 5, -6.5};
  {
    NpyFile file = NpyFile::of<double>(path, {2, 3});
    file.write(std::span<const double>(values));
    file.close();
    file.commit();
  }
  const NumberArray array = read_npy(path);
  CHECK(array.shape == std::vector<std::size_t>{2, 3});
  CHECK(array.values == values);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  CHECK_THROWS_AS(read_npy(path), InputError);
  std::filesystem::resize_file(path, 40);
  CHECK_THROWS_AS(read_npy(path), InputError);
  CHECK_THROWS_AS(read_npy(folder.file("none.npy")), InputError);
}

}  // namespace fmbem::test::study_system_tests
