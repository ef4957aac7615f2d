#include <cmath>
#include <cstddef>
#include <vector>

#include "fmbem/problems/solve_conductors.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/surfaces.hpp"

using namespace fmbem;
using namespace fmbem::test;

namespace {

using Real = long double;
struct Point {
  Real x, y, z;
};
Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
Real dot(Point a, Point b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
Real norm(Point a) { return std::sqrt(dot(a, a)); }
Point real(Vec3d v) { return {v.x, v.y, v.z}; }

/// ∫ 1/|x − y| dS_y over a triangle in a plane of constant z, whose corners go round
/// anticlockwise: Σ over edges of p ln((r⁺+s⁺)/(r⁻+s⁻)) − |h| (atan … − atan …), p being the edge's
/// distance from the foot of x, h the height [Wilton et al. 1984].
Real integral(const Triangle& t, Point x) {
  Real sum = 0;
  const Real h = std::fabs(x.z - t.vertex[0].z);
  for (int k = 0; k < 3; ++k) {
    const Point a = real(t.vertex[k]), b = real(t.vertex[(k + 1) % 3]);
    const Real length = norm(b - a);
    const Point u = {(b.x - a.x) / length, (b.y - a.y) / length, 0};
    const Real p = (x.x - a.x) * -u.y + (x.y - a.y) * u.x;  // to the left: inside
    const Real s_minus = dot(a - x, u), s_plus = dot(b - x, u);
    const Real r_minus = norm(a - x), r_plus = norm(b - x), r0 = p * p + h * h;
    if (p == 0) continue;
    const Real log_ratio = s_minus >= 0 ? std::log((r_plus + s_plus) / (r_minus + s_minus))
                                        : std::log((r_plus + s_plus) * (r_minus - s_minus) / r0);
    sum += p * log_ratio;
    if (h > 0)
      sum -= h * (std::atan(p * s_plus / (r0 + h * r_plus)) -
                  std::atan(p * s_minus / (r0 + h * r_minus)));
  }
  return sum;
}

/// σ with V σ = φ in long double, by elimination with pivots.
std::vector<Real> solve(const Panels& panels, std::vector<Real> rhs) {
  const std::size_t n = panels.size();
  std::vector<std::vector<Real>> a(n, std::vector<Real>(n));
  const Real four_pi = 16 * std::atan(Real(1));
  for (std::size_t j = 0; j < n; ++j) {
    Triangle t = panels.triangle(j);
    if (t.normal.z < 0) std::swap(t.vertex[1], t.vertex[2]);
    for (std::size_t i = 0; i < n; ++i) a[i][j] = integral(t, real(panels.centroid(i))) / four_pi;
  }
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < n; ++i)
      if (std::fabs(a[i][k]) > std::fabs(a[pivot][k])) pivot = i;
    std::swap(a[k], a[pivot]);
    std::swap(rhs[k], rhs[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const Real f = a[i][k] / a[k][k];
      for (std::size_t j = k; j < n; ++j) a[i][j] -= f * a[k][j];
      rhs[i] -= f * rhs[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) rhs[k] -= a[k][j] * rhs[j];
    rhs[k] /= a[k][k];
  }
  return rhs;
}

/// Two unit squares of k x k cells.
SurfaceMesh plates(int k, double gap) {
  SurfaceMesh mesh;
  add_grid(mesh, add_group(mesh, "lower"), k, {0, 0, 0}, {1, 0, 0}, {0, 1, 0});
  add_grid(mesh, add_group(mesh, "upper"), k, {0, 0, gap}, {1, 0, 0}, {0, 1, 0});
  return mesh;
}

}  // namespace

TEST_CASE("sheets close to each other are solved to the tolerance, by either operator") {
  struct Case {
    double gap, tolerance;
    OperatorOptions op;
  };
  using Choice = OperatorOptions::Choice;
  for (const Case& c : {Case{1e-3, 1e-8, {.kind = Choice::fmm, .tolerance = 0}},
                        Case{1e-5, 1e-8, {.kind = Choice::dense, .tolerance = 0}},
                        Case{1e-5, 1e-8, {.kind = Choice::fmm, .tolerance = 0}},
                        Case{1e-7, 1e-6, {.kind = Choice::fmm, .tolerance = 0}}}) {
    CAPTURE(c.gap, c.tolerance, static_cast<int>(c.op.kind));
    const SurfaceMesh mesh = plates(8, c.gap);
    ConductorOptions options;
    options.op = c.op;
    options.op.max_leaf = 10;
    options.solver.tolerance = c.tolerance;
    const ConductorSolution solution = solve_conductors(mesh, options, {{1, 0}});
    const SolveReport& report = solution.solves.front();
    CHECK(report.converged);
    CHECK(report.true_residual <= c.tolerance);
    CHECK(report.condition > 0.2 / c.gap);
    CHECK(report.condition < 2 / c.gap);
    const Panels& panels = solution.panels;
    std::vector<Real> potential;
    for (std::size_t i = 0; i < panels.size(); ++i)
      potential.push_back(panels.centroid(i).z < 0 ? 1 : 0);  // less the origin
    const std::vector<Real> exact = solve(panels, potential);
    Real charge = 0, exact_charge = 0;
    for (std::size_t i = 0; i < panels.size(); ++i) {
      if (potential[i] == 0) continue;
      charge += panels.area(i) * solution.sigma[0][i];
      exact_charge += panels.area(i) * exact[i];
    }
    CHECK(std::fabs(double(charge / exact_charge - 1)) < c.tolerance * report.condition);
  }
}

TEST_CASE(
    "a tolerance that no product is accurate enough for is not met, and what could be is told") {
  ConductorOptions options;
  options.op.kind = OperatorOptions::Choice::fmm;
  options.op.max_leaf = 10;
  options.solver.tolerance = 1e-9;
  const ConductorSolution solution = solve_conductors(plates(8, 1e-7), options, {{1, 0}});
  const SolveReport& report = solution.solves.front();
  CHECK_FALSE(report.converged);
  CHECK(report.attainable_residual > 1e-9);
  CHECK(report.attainable_residual == Approx(1e-13 * report.condition));
}
