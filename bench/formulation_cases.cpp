#include <algorithm>
#include <cmath>

#include "bench/bodies.hpp"
#include "bench/problem_cases.hpp"
#include "fmbem/problems/region_dirichlet.hpp"
#include "fmbem/problems/solve_lossy.hpp"
#include "tests/unit/larger_error.hpp"
#include "tests/unit/layered_sphere.hpp"

namespace fmbem::bench {
namespace {

using namespace fmbem::test;

SolverOptions closely() {
  SolverOptions options;
  options.tolerance = 1e-8;
  return options;
}

Case dirichlet(const KnownBody& body, DirichletFormulation formulation, bool is_outside) {
  const auto at = [=](int level) {
    const SurfaceMesh mesh = body.mesh(level);
    const Panels panels = make_panels(mesh);
    const Harmonic& exact = body.solution[is_outside];
    std::vector<double> given, normal;
    for (std::size_t i = 0; i < panels.size(); ++i) {
      const Vec3d x = panels.centroid(i) + panels.origin;
      given.push_back(exact.potential(x));
      normal.push_back(dot(panels.triangle(i).normal, exact.gradient(x)));
    }
    const std::vector<RegionSide> side(panels.size(),
                                       is_outside ? RegionSide::ahead : RegionSide::behind);
    RegionDirichlet region(panels, side, {.formulation = formulation, .solver = closely()});
    const DirichletSolution solution = region.solve({given})[0];
    std::vector<double> known;
    for (const Vec3d& x : body.points[is_outside]) known.push_back(exact.potential(x));
    const Field field = dirichlet_field(panels, solution, body.points[is_outside]);
    Result result{panels.size(), solution.report.iterations, {}};
    result.errors.push_back({"φ", relative_error(field.potential, known)});
    if (!solution.normal_derivative.empty())
      result.errors.push_back(
          {"normal field", root_mean_square_error(solution.normal_derivative, normal)});
    return result;
  };
  return {std::string("Dirichlet ") + (is_outside ? "outside of a " : "inside of a ") + body.name +
              (formulation == DirichletFormulation::direct ? ", direct" : ", second kind"),
          at};
}

/// A core of radius 0.8 in a coat of 1, with losses, in a field.
Case coated_sphere() {
  const LayeredSphere exact{{0.8, 1}, {{50, -900}, {60, -4}, {78, -18}}};
  const auto at = [=](int level) {
    SurfaceMesh mesh;
    add_ellipsoid(mesh, "core", level, {0.8, 0.8, 0.8});
    add_ellipsoid(mesh, "coat", level, {1, 1, 1});
    const Panels panels = make_panels(mesh);
    LossyConditions conditions;
    for (std::size_t i = 0; i < panels.size(); ++i) {
      const int group = mesh.group_of[panels.input_index[i]];
      conditions.kind.push_back(PanelConditions::Kind::flux);
      conditions.behind.push_back(exact.permittivity[group]);
      conditions.ahead.push_back(exact.permittivity[group + 1]);
      conditions.conductor.push_back(-1);
    }
    LossySystem system(panels, conditions, {{.uniform = {0, 0, 1}}}, 1);
    LayerOptions options;
    options.solver = closely();
    const LossySolution solution =
        solve_lossy(system, {{std::vector<fmbem::Complex>(panels.size()), {}}}, options);
    std::vector<Vec3d> points;
    for (const Vec3d& x : sphere_points(50, 1))
      for (const double r : {0.5, 0.9, 1.5}) points.push_back(r * x);
    const ComplexField field = system.field(solution.sigma[0], points);
    double error = 0, largest = 0;
    for (std::size_t k = 0; k < points.size(); ++k) {
      const fmbem::Complex known = exact.in_uniform_field(points[k]);
      error = larger_error(error, std::abs(field.potential[k] - known));
      largest = std::max(largest, std::abs(known));
    }
    return Result{panels.size(), solution.solves[0].iterations, {{"φ", error / largest}}};
  };
  return {"coated sphere of complex permittivities in a field", at};
}

}  // namespace

std::vector<Case> formulation_cases() {
  std::vector<Case> cases;
  for (const KnownBody& body : {ball(), ring()})
    for (const bool is_outside : {false, true})
      for (const DirichletFormulation formulation :
           {DirichletFormulation::direct, DirichletFormulation::second_kind})
        cases.push_back(dirichlet(body, formulation, is_outside));
  cases.push_back(coated_sphere());
  return cases;
}

}  // namespace fmbem::bench
