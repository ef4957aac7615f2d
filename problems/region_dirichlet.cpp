#include "fmbem/problems/region_dirichlet.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fmbem/bem/layer/double_layer_field.hpp"
#include "fmbem/problems/given_tolerance.hpp"

namespace fmbem {

struct RegionDirichlet::Impl {
  Impl(const Panels& all_panels, std::span<const RegionSide> side, const DirichletOptions& options)
      : panels(all_panels), solver(options.solver), equations(panels, side, options.formulation) {
    OperatorOptions op = options.op;
    if (op.tolerance == 0) op.tolerance = 0.1 * solver.tolerance();
    solved_with = made_to_tolerance(options.op.tolerance, solver.tolerance(),
                                    [&] { return equations.make_operator(op); });
    solver.set_operator(solved_with, panels.leaf_begin);
  }

  Panels panels;
  LinearSolver solver;
  DirichletEquations equations;
  std::shared_ptr<const BoundaryOperator> solved_with;
};

RegionDirichlet::RegionDirichlet(const Panels& panels, std::span<const RegionSide> side,
                                 const DirichletOptions& options)
    : impl_(std::make_unique<Impl>(panels, side, options)) {}
RegionDirichlet::~RegionDirichlet() = default;

std::vector<DirichletSolution> RegionDirichlet::solve(
    const std::vector<std::vector<double>>& values) {
  const std::size_t n = impl_->panels.size();
  std::vector<double> b, x(n * values.size());
  for (const std::vector<double>& g : values) {
    const std::vector<double> of_g = impl_->equations.right_hand_side(g);
    b.insert(b.end(), of_g.begin(), of_g.end());
  }
  std::vector<DirichletSolution> result;
  if (values.empty()) return result;
  auto reports = impl_->solver.solve(b, x, static_cast<int>(values.size()));
  for (std::size_t k = 0; k < values.size(); ++k)
    result.push_back(
        {impl_->equations.densities(values[k], {x.begin() + k * n, x.begin() + (k + 1) * n}),
         std::move(reports[k])});
  return result;
}

std::size_t RegionDirichlet::completed() const { return impl_->equations.completed(); }

OperatorInfo RegionDirichlet::info() const { return impl_->solved_with->info(); }

Field dirichlet_field(const Panels& panels, const DirichletDensities& solution,
                      std::span<const Vec3d> points, const FieldOptions& options) {
  FieldOptions of_mu = options;
  if (of_mu.tolerance > 0) of_mu.tolerance = std::max(of_mu.tolerance, tightest_of_dipoles);
  Field field = evaluate_double_layer(panels, solution.mu, points, of_mu);
  if (std::all_of(solution.sigma.begin(), solution.sigma.end(), [](double s) { return s == 0; }))
    return field;
  const Field of_sigma = evaluate_field(panels, solution.sigma, points, options);
  for (std::size_t i = 0; i < points.size(); ++i) {
    field.potential[i] += of_sigma.potential[i];
    field.e[i] += of_sigma.e[i];
  }
  field.count_singular();
  return field;
}

}  // namespace fmbem
