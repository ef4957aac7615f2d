// Fields of problems at points that lie on their surfaces: which region they are in, and from which
// side they are seen.
#include <cmath>
#include <string>
#include <vector>

#include "tests/unit/catch.hpp"
#include "tests/unit/larger_error.hpp"
#include "tests/unit/problem_forms.hpp"
#include "tests/unit/reflected_surfaces.hpp"

namespace fmbem::test::surface_points_tests {

namespace {

const LayerOptions tight{.solver = {.tolerance = 1e-8}};

/// Centroids and normals of a group's triangles.
struct PointsOn {
  std::vector<Vec3d> x, normal;
};
PointsOn centroids(const SurfaceMesh& mesh, const std::string& group) {
  PointsOn points;
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    if (mesh.groups[mesh.group_of[i]].name != group) continue;
    const auto& [a, b, c] = mesh.triangles[i];
    const Triangle t = make_triangle(mesh.vertices[a], mesh.vertices[b], mesh.vertices[c]);
    points.x.push_back(1. / 3 * (t.vertex[0] + t.vertex[1] + t.vertex[2]));
    points.normal.push_back(t.normal);
  }
  return points;
}

ProblemField seen_from(const SurfaceMesh& mesh, const ProblemSolution& solution,
                       const std::vector<Vec3d>& points, Side side) {
  return problem_field(mesh, solution, 0, points, {.side = side});
}

/// The points are in a region, and the field is that at a small distance from the surface, where
/// solid angles say which region it is.
void check_beside(const SurfaceMesh& mesh, const ProblemSolution& solution, const PointsOn& points,
                  const ProblemField& field, double towards, int region) {
  constexpr double distance = 1e-7;  // some 1e-6 of a panel's edge, by which E changes there
  std::vector<Vec3d> beside = points.x;
  for (std::size_t i = 0; i < beside.size(); ++i)
    beside[i] += towards * distance * points.normal[i];
  const ProblemField near = problem_field(mesh, solution, 0, beside);
  double largest = 0, apart = 0, apart_in_potential = 0;
  for (std::size_t i = 0; i < beside.size(); ++i) {
    CHECK(field.region[i] == region);
    CHECK(near.region[i] == region);
    largest = larger_error(largest, norm(near.e[i]));
    apart = larger_error(apart, norm(field.e[i] - near.e[i]));
    apart_in_potential =
        larger_error(apart_in_potential, std::abs(field.potential[i] - near.potential[i]));
  }
  CHECK(apart < 1e-5 * largest);
  CHECK(apart_in_potential < 10 * distance * largest);
}

void check_nowhere(const ProblemField& field) {
  for (std::size_t i = 0; i < field.region.size(); ++i) {
    CHECK(field.region[i] == -1);
    CHECK(std::isnan(field.potential[i]));
    CHECK(std::isnan(field.e[i].x));
  }
}

}  // namespace

TEST_CASE("walls are seen from where there is a region") {
  SurfaceMesh mesh = sphere_of_halves(2);
  for (Vec3d& v : mesh.vertices) v = v + Vec3d{0.3, -1.7, 5.1};  // coordinates are rounded
  const auto z = [](const SurfacePoint& at) { return at.x.z; };
  for (const auto formulation : {ProblemFormulation::single, ProblemFormulation::direct}) {
    CAPTURE(static_cast<int>(formulation));
    BoundaryProblem problem{.regions = {{"air", 2}}, .outside = "", .formulation = formulation};
    problem.groups = {in("air", dirichlet("upper", z)), in("air", dirichlet("lower", z))};
    if (formulation == ProblemFormulation::single)
      problem.groups[1] =
          in("air",
             neumann("lower", [](const SurfacePoint& at) { return 2 * epsilon_0 * at.normal.z; }));
    const ProblemSolution solution = solve_problem(mesh, problem, tight);
    for (const char* const group : {"upper", "lower"}) {
      CAPTURE(group);
      const PointsOn points = centroids(mesh, group);
      for (const Side side : {Side::mean, Side::negative})
        check_beside(mesh, solution, points, seen_from(mesh, solution, points.x, side), -1, 0);
      check_nowhere(seen_from(mesh, solution, points.x, Side::positive));
    }
  }
}

TEST_CASE("interfaces are seen from either side, and conductors from outside") {
  SurfaceMesh mesh;
  add_ellipsoid(mesh, "core", 1, {1, 0.9, 1.1}, {0.1, 0.2, 0.3});
  add_ellipsoid(mesh, "coat", 2, {2, 2.2, 1.9}, {0.1, 0.2, 0.3});
  mesh.closed = true;
  BoundaryProblem problem{.regions = {{"air", 1}, {"oil", 4}}, .outside = "air"};
  problem.groups = {around("oil", at_potential("core", 1)), between("coat", "oil", "air")};
  const ProblemSolution solution = solve_problem(mesh, problem, tight);

  const PointsOn core = centroids(mesh, "core");
  for (const Side side : {Side::mean, Side::positive})
    check_beside(mesh, solution, core, seen_from(mesh, solution, core.x, side), 1, 1);
  check_nowhere(seen_from(mesh, solution, core.x, Side::negative));

  const PointsOn coat = centroids(mesh, "coat");
  const ProblemField inside = seen_from(mesh, solution, coat.x, Side::negative),
                     outside = seen_from(mesh, solution, coat.x, Side::positive),
                     mean = seen_from(mesh, solution, coat.x, Side::mean);
  check_beside(mesh, solution, coat, inside, -1, 1);
  check_beside(mesh, solution, coat, outside, 1, 0);
  CHECK(mean.region == inside.region);
  for (std::size_t i = 0; i < coat.x.size(); ++i)
    CHECK(norm(mean.e[i] - 0.5 * (inside.e[i] + outside.e[i])) < 1e-6 * norm(mean.e[i]));
}

TEST_CASE("vertices and edges of a wall are in its region, and images of it, too") {
  // The upper half of a ball of metal before a mirror, and points on what is before and beyond it.
  const SurfaceMesh mesh = part_above(sphere(2), 2);
  BoundaryProblem problem{.groups = {at_potential(mesh.groups[0].name.c_str(), 1)}};
  problem.planes.at[2] = SymmetryPlane{PlaneKind::mirror};
  const ProblemSolution solution = solve_problem(mesh, problem, tight);
  std::vector<Vec3d> points;
  for (const auto& [a, b, c] : mesh.triangles) {
    points.push_back(mesh.vertices[a]);
    points.push_back(0.5 * (mesh.vertices[b] + mesh.vertices[c]));
  }
  const ProblemField field = problem_field(mesh, solution, 0, points);
  for (std::size_t i = 0; i < points.size(); ++i) {
    CHECK(field.region[i] == 0);
    CHECK(field.potential[i] == Approx(1).epsilon(0.1));  // collocated at centroids
    CHECK(std::isnan(field.e[i].x));
  }
  CHECK(field.singular_points == points.size());
  for (Vec3d& x : points) x.z = -x.z - 1e-3;
  check_nowhere(problem_field(mesh, solution, 0, points));
}

}  // namespace fmbem::test::surface_points_tests
