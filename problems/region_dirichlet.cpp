#include "fmbem/problems/region_dirichlet.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fmbem/bem/geometry/panel_images.hpp"
#include "fmbem/bem/layer/double_layer_field.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/problems/enclosures.hpp"
#include "fmbem/problems/second_kind_operator.hpp"

namespace fmbem {
namespace {

std::vector<double> times(std::vector<double> a, const std::vector<double>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] *= b[i];
  return a;
}

/// Throws InputError for parts that are open, or of which the region is on both sides.
Enclosures closed_parts(const Panels& panels, const std::vector<double>& jump) {
  Enclosures parts = find_enclosures(panels, std::vector<int>(panels.size(), 0));
  for (const Enclosure& part : parts.parts)
    FMBEM_REQUIRE(part.closed, "the surface at "
                                   << place(panels.centroid(part.first) + panels.origin)
                                   << " is not closed: of a region all of the boundary is needed");
  for (std::size_t i = 0; i < panels.size(); ++i)
    FMBEM_REQUIRE(jump[i] == jump[parts.parts[parts.of[i]].first],
                  "the surface at " << place(panels.centroid(i) + panels.origin)
                                    << " has the region on both of its sides");
  return parts;
}

}  // namespace

struct RegionDirichlet::Impl {
  Impl(const Panels& all_panels, std::span<const RegionSide> side, const DirichletOptions& options)
      : panels(all_panels), solver(options.solver) {
    FMBEM_REQUIRE(side.size() == panels.size(),
                  "there are " << panels.size() << " panels, but " << side.size() << " sides");
    for (const RegionSide s : side) jump.push_back(static_cast<double>(s));
    const Enclosures parts = closed_parts(panels, jump);
    OperatorOptions op = options.op;
    op.processor = Processor::cpu;
    if (op.tolerance == 0) op.tolerance = 0.1 * solver.tolerance();
    k = make_boundary_operator(panels, double_layer, op);
    if (options.formulation == Formulation::second_kind)
      solved_with = second_kind =
          std::make_shared<SecondKindOperator>(panels, k, jump, charges_of(parts, op));
    else
      solved_with = make_single_layer(panels, op);
    solver.set_operator(solved_with, panels.leaf_begin);
  }

  /// Of the surfaces that the region lies outside of. What touches a ground plane needs none: its
  /// image has the opposite density.
  std::vector<SecondKindOperator::Charge> charges_of(const Enclosures& parts,
                                                     const OperatorOptions& op) const {
    std::vector<SecondKindOperator::Charge> result;
    std::shared_ptr<const BoundaryOperator> v;
    const std::size_t n = panels.size();
    for (std::size_t p = 0; p < parts.parts.size(); ++p) {
      const Enclosure& part = parts.parts[p];
      if (part.grounded || jump[part.first] * part.volume > 0) continue;
      SecondKindOperator::Charge charge{{}, 0, 0, std::vector<double>(n)};
      std::vector<double> density(n, 0.0);
      double potential = 0;
      for (std::size_t i = 0; i < n; ++i) {
        if (parts.of[i] != static_cast<std::int32_t>(p)) continue;
        charge.panels.push_back(static_cast<std::int32_t>(i));
        charge.area += panels.area(i);
        density[i] = 1;
      }
      if (!v) v = make_single_layer(panels, op);
      v->apply(density.data(), charge.potential.data());
      for (const std::int32_t i : charge.panels) potential += panels.area(i) * charge.potential[i];
      charge.density = charge.area / potential;
      for (double& value : charge.potential) value *= charge.density;
      result.push_back(std::move(charge));
    }
    return result;
  }

  std::vector<double> right_hand_side(const std::vector<double>& g) const {
    FMBEM_REQUIRE(g.size() == panels.size(),
                  "there are " << panels.size() << " panels, but " << g.size() << " potentials");
    if (second_kind) return g;
    std::vector<double> b(g.size());
    k->apply(times(g, jump).data(), b.data(), {.tolerance = k->accurate_tolerance()});
    for (std::size_t i = 0; i < g.size(); ++i) b[i] += 0.5 * g[i];
    return b;
  }

  DirichletSolution solution(const std::vector<double>& g, std::vector<double> x,
                             SolveReport report) const {
    DirichletSolution result;
    result.report = std::move(report);
    if (!second_kind) {
      result.normal_derivative = times(x, jump);
      result.sigma = std::move(x);
      result.mu = times(g, jump);
      for (double& mu : result.mu) mu = -mu;
      return result;
    }
    result.sigma.assign(g.size(), 0.0);
    for (const SecondKindOperator::Charge& charge : second_kind->charges())
      for (const std::int32_t i : charge.panels)
        result.sigma[i] = charge.density * second_kind->mean(charge, x.data());
    result.mu = std::move(x);
    return result;
  }

  Panels panels;
  LinearSolver solver;
  std::vector<double> jump;  ///< s
  std::shared_ptr<const BoundaryOperator> k;
  std::shared_ptr<const SecondKindOperator> second_kind;  ///< or null
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
    const std::vector<double> of_g = impl_->right_hand_side(g);
    b.insert(b.end(), of_g.begin(), of_g.end());
  }
  std::vector<DirichletSolution> result;
  if (values.empty()) return result;
  auto reports = impl_->solver.solve(b, x, static_cast<int>(values.size()));
  for (std::size_t k = 0; k < values.size(); ++k)
    result.push_back(impl_->solution(values[k], {x.begin() + k * n, x.begin() + (k + 1) * n},
                                     std::move(reports[k])));
  return result;
}

std::size_t RegionDirichlet::completed() const {
  return impl_->second_kind ? impl_->second_kind->charges().size() : 0;
}

OperatorInfo RegionDirichlet::info() const { return impl_->solved_with->info(); }

Field dirichlet_field(const Panels& panels, const DirichletSolution& solution,
                      std::span<const Vec3d> points, const FieldOptions& options) {
  Field field = evaluate_double_layer(panels, solution.mu, points, options);
  if (std::all_of(solution.sigma.begin(), solution.sigma.end(), [](double s) { return s == 0; }))
    return field;
  const Field of_sigma = evaluate_field(panels, solution.sigma, points, options);
  for (std::size_t i = 0; i < points.size(); ++i) {
    field.potential[i] += of_sigma.potential[i];
    field.e[i] += of_sigma.e[i];
  }
  field.singular_points =
      std::count_if(field.e.begin(), field.e.end(), [](Vec3d e) { return std::isnan(norm2(e)); });
  return field;
}

}  // namespace fmbem
