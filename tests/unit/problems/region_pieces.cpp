// Regions that lie in several pieces, and surfaces that lie in another region than they say.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "fmbem/fmm/base/error.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/problem_forms.hpp"
#include "tests/unit/reflected_surfaces.hpp"

namespace fmbem::test::region_pieces_tests {

namespace {

const LayerOptions tight{.solver = {.tolerance = 1e-8}};

struct Ball {
  const char* name;
  double radius;
  Vec3d centre;
};
SurfaceMesh balls(const std::vector<Ball>& all) {
  SurfaceMesh mesh;
  for (const auto& [name, radius, centre] : all)
    add_ellipsoid(mesh, name, 2, radius * Vec3d{1, 1, 1}, centre);
  mesh.closed = true;
  return mesh;
}

BoundaryProblem conducting(std::vector<Region> regions, std::vector<GroupCondition> groups) {
  BoundaryProblem problem{.coefficient = BoundaryProblem::Coefficient::conductivity,
                          .regions = std::move(regions),
                          .outside = ""};
  problem.groups = std::move(groups);
  return problem;
}

void check_refused(const SurfaceMesh& mesh, const BoundaryProblem& problem, const char* saying) {
  CAPTURE(saying);
  CHECK_THROWS_WITH(solve_problem(mesh, problem, {}), contains(saying));
}

/// Between the halves of a sphere, facing up.
void add_disk_between_halves(SurfaceMesh& mesh, int group) {
  std::vector<int> ring;
  for (int v = 0; v < static_cast<int>(mesh.vertices.size()); ++v)
    if (std::abs(mesh.vertices[v].z) < 1e-9) ring.push_back(v);
  const auto angle = [&](int v) { return std::atan2(mesh.vertices[v].y, mesh.vertices[v].x); };
  std::sort(ring.begin(), ring.end(), [&](int a, int b) { return angle(a) < angle(b); });
  const int centre = add_vertex(mesh, {});
  for (std::size_t k = 0; k < ring.size(); ++k)
    add_triangle(mesh, centre, ring[k], ring[(k + 1) % ring.size()], group);
}

double x_of(const SurfacePoint& at) { return at.x.x; }
double slope(const SurfacePoint& at) { return at.normal.x; }

}  // namespace

TEST_CASE("pieces of one region that are known up to a constant are regions of their own") {
  const SurfaceMesh two = balls({{"a", 1, {}}, {"b", 1, {5, 0, 0}}});
  const GroupCondition a = in("w", dirichlet("a", x_of)), b = in("w", neumann("b", slope));
  check_refused(two, conducting({{"w", 1}}, {a, b}), "the region \"w\" lies in several pieces");
  check_refused(two, conducting({{"w", 1}}, {in("w", neumann("a", slope)), b}), "several pieces");

  // φ = x − 5 in the second ball, of mean 0 over its surface.
  const BoundaryProblem apart = conducting({{"w", 1}, {"v", 1}}, {a, in("v", neumann("b", slope))});
  const ProblemField field = problem_field(two, solve_problem(two, apart, tight), 0,
                                           std::vector<Vec3d>{{0.3, 0, 0}, {5, 0, 0}, {5.4, 0, 0}});
  CHECK(field.potential[0] == Approx(0.3).epsilon(0.05));
  CHECK(std::abs(field.potential[1]) < 0.01);
  CHECK(field.potential[2] == Approx(0.4).epsilon(0.1));
  CHECK(field.region == std::vector<int>{0, 1, 1});

  // A cavity in the region outside, which infinity fixes and the cavity does not see.
  BoundaryProblem cavity;
  cavity.groups = {in("vacuum", neumann("a", constant(0)))};
  check_refused(balls({{"a", 1, {}}}), cavity, "the region \"vacuum\" lies in several pieces");
  cavity.groups.push_back(around("vacuum", at_potential("hull", 1)));
  check_refused(balls({{"a", 1, {}}, {"hull", 2, {}}}), cavity, "several pieces");
  // Each is fixed by itself.
  CHECK_NOTHROW(solve_problem(two, conducting({{"w", 1}}, {a, in("w", dirichlet("b", x_of))}), {}));
}

TEST_CASE(
    "a piece that weak Robin walls alone fix is told, and as a region of its own has no error") {
  const SurfaceMesh two = balls({{"a", 1, {}}, {"b", 1, {5, 0, 0}}});
  const auto leaking = [](const char* group, double a, double middle) {
    return robin(group, constant(a),
                 [=](const SurfacePoint& at) { return slope(at) + a * (x_of(at) - middle); });
  };
  const std::vector<Vec3d> points{{-0.3, 0, 0}, {4.6, 0, 0}};
  const double weak = 1e-6;
  const auto told = [](const ProblemSolution& solution) {
    return std::count_if(solution.notices.begin(), solution.notices.end(), [](const auto& notice) {
      return notice.starts_with("the region \"w\" lies in several pieces, and of the one at");
    });
  };
  const auto with_b = [&](const char* region, double a) {
    return conducting({{"w", 1}, {"v", 1}},
                      {in("w", leaking("a", weak, 0)), in(region, leaking("b", a, 5))});
  };
  CHECK(told(solve_problem(two, with_b("w", weak), {})) == 1);
  CHECK(told(solve_problem(two, with_b("w", 1), {})) == 1);
  CHECK(told(solve_problem(two, with_b("w", weak), {.solver = {.tolerance = 1e-10}})) == 0);
  const ProblemSolution apart = solve_problem(two, with_b("v", weak), {});
  CHECK(apart.notices.empty());
  const ProblemField field = problem_field(two, apart, 0, points);
  CHECK(field.potential[0] == Approx(-0.3).epsilon(0.05));
  CHECK(field.potential[1] == Approx(-0.4).epsilon(0.05));

  BoundaryProblem strong = with_b("w", 1);
  strong.groups[0] = in("w", dirichlet("a", x_of));
  CHECK(told(solve_problem(two, strong, {})) == 0);
  strong.groups[1] = in("w", leaking("b", weak, 5));
  CHECK(told(solve_problem(two, strong, {})) == 1);
}

TEST_CASE("a ground plane fixes the pieces of a region that it passes through") {
  SurfaceMesh dome = part_above(sphere(2), 2);
  add_ellipsoid(dome, "ball", 2, Vec3d{1, 1, 1}, {5, 0, 2});
  BoundaryProblem problem = conducting({{"w", 1}, {"v", 1}}, {in("w", neumann("sphere", slope))});
  problem.planes.at[2] = SymmetryPlane{PlaneKind::ground};
  problem.groups.push_back(in("w", neumann("ball", slope)));
  check_refused(dome, problem, "the region \"w\" lies in several pieces");
  problem.groups[1] = in("v", neumann("ball", slope));
  CHECK_NOTHROW(solve_problem(dome, problem, {}));
  problem.groups[1] = in("w", dirichlet("ball", x_of));
  CHECK_NOTHROW(solve_problem(dome, problem, {}));
}

TEST_CASE("an image is no other piece of a region") {
  const SurfaceMesh ball = balls({{"a", 1, {0, 0, 2}}});
  BoundaryProblem problem = conducting({{"w", 1}}, {in("w", neumann("a", slope))});
  problem.planes.at[2] = SymmetryPlane{PlaneKind::mirror};
  const ProblemField field =
      problem_field(ball, solve_problem(ball, problem, tight), 0, std::vector<Vec3d>{{0.4, 0, 2}});
  CHECK(field.potential[0] == Approx(0.4).epsilon(0.1));
}

TEST_CASE("a floating shell joins what is inside of it to what is outside") {
  const SurfaceMesh mesh = balls({{"shell", 1, {}}, {"around", 3, {}}});
  const BoundaryProblem problem = conducting(
      {{"w", 1}},
      {in("w", around("w", with_charge("shell", 0))), in("w", dirichlet("around", x_of))});
  CHECK_NOTHROW(solve_problem(mesh, problem, {}));
}

TEST_CASE("surfaces lie in the regions that they name") {
  const SurfaceMesh two = balls({{"wall", 1, {}}, {"ball", 0.4, {3, 0, 0}}});
  BoundaryProblem problem{.regions = {{"v", 1}, {"c", 1}}, .outside = "v"};
  problem.groups = {
      in("c", neumann("wall", [](const SurfacePoint& at) { return epsilon_0 * at.x.x; })),
      around("v", at_potential("ball", 1))};
  check_refused(
      two, problem,
      "the group \"wall\" has nothing (null) on its outside, and lies in the region \"v\"");
  problem.groups[0] = in("c", at_potential("wall", 1));
  check_refused(two, problem, "the group \"wall\"");

  // A conductor in the cavity of a hollow one: metal between the spheres of 2 and 3.
  const SurfaceMesh hollow = balls({{"core", 1, {}}, {"cavity", 2, {}}, {"hull", 3, {}}});
  problem.groups = {around("c", at_potential("core", 1)), in("c", at_potential("cavity", 0)),
                    around("v", at_potential("hull", 0))};
  CHECK_NOTHROW(solve_problem(hollow, problem, {}));
  problem.groups[0] = around("v", at_potential("core", 1));
  check_refused(
      hollow, problem,
      "the group \"core\" has the region \"v\" on its outside, and lies in the region \"c\"");
  problem.groups = {around("c", at_potential("core", 1)), between("cavity", "c", "v"),
                    around("v", at_potential("hull", 0))};
  check_refused(hollow, problem, "the group \"cavity\"");

  // No other surface says what is outside of all.
  const SurfaceMesh alone = balls({{"ball", 1, {}}});
  problem.groups = {between("ball", "v", "c")};
  check_refused(
      alone, problem,
      "the group \"ball\" has the region \"c\" on its outside, and lies in the region \"v\"");
  problem.groups = {around("c", at_potential("ball", 1))};
  check_refused(alone, problem, "lies in the region \"v\" there");
}

TEST_CASE("surfaces of one chamber name one region") {
  // A conductor on a dielectric, all of which face inward, as only they themselves can tell.
  SurfaceMesh blocks = sphere_of_halves(2);
  BoundaryProblem problem{.regions = {{"d", 10}, {"a", 1}}, .outside = "a"};
  problem.groups = {around("a", at_potential("upper", 1)), between("lower", "d", "a")};
  add_disk_between_halves(blocks, add_group(blocks, "foot"));
  problem.groups.push_back(in("d", at_potential("foot", 1)));
  problem.groups[0].conductor.name = problem.groups[2].conductor.name = "block";
  CHECK_NOTHROW(solve_problem(blocks, problem, {}));
  for (auto& triangle : blocks.triangles) std::swap(triangle[1], triangle[2]);
  check_refused(blocks, problem, "name different regions");
}

}  // namespace fmbem::test::region_pieces_tests
