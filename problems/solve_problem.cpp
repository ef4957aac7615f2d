#include "fmbem/problems/solve_problem.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/problems/images.hpp"
#include "fmbem/problems/media_system.hpp"
#include "fmbem/problems/problem_conditions.hpp"
#include "fmbem/problems/problem_regions.hpp"
#include "fmbem/problems/problem_results.hpp"

namespace fmbem {
namespace {

/// Of what enters and leaves a domain, what may be left by the discretization of data.
constexpr double most_left = 1e-2, least_told = 1e-6;

std::vector<std::string> names_of(const std::vector<Conductor>& conductors) {
  std::vector<std::string> names;
  for (const Conductor& conductor : conductors) names.push_back(conductor.name);
  return names;
}

LayerOptions with_planes(LayerOptions options, const SymmetryPlanes& planes) {
  options.planes = planes;
  return options;
}

}  // namespace

/// In the order in which each needs those before it.
struct ProblemSolver::Impl {
  Impl(const SurfaceMesh& the_mesh, const BoundaryProblem& problem, const LayerOptions& options)
      : mesh(the_mesh),
        groups(resolve_groups(mesh, start(problem))),
        is_grounded(check_regions_closed(mesh, problem, groups)),
        solver(mesh, with_planes(options, problem.planes), solution),
        panels(solution.panels),
        sides(sides_of_panels(mesh, panels, groups)),
        finder(problem, panels, sides),
        region_of_source(regions_of_sources(problem, panels, finder, solution.notices)),
        conductors(conductors_of(mesh, panels, groups)),
        domains(find_domains(problem, groups, is_grounded)),
        conditions(panel_conditions(mesh, panels, problem, groups, sides, conductors, domains)),
        area(areas_of(panels)) {
    solution.applied = with_images(applied_field(problem, region_of_source), panels);
    solution.conductors = conductors.all;
    for (const Group& group : mesh.groups) solution.groups.push_back(group.name);
    system.emplace(panels, conditions, solution.applied, mesh.scale_to_m, names_of(conductors.all));
    solver.set_up([&](const OperatorOptions& op) { return system->make_operator(op); });
  }

  const BoundaryProblem& start(const BoundaryProblem& problem) {
    return solution.problem = problem;
  }

  /// Solves for data, whose names are those of the results.
  void solve(std::vector<std::string> names, const std::vector<PanelData>& data) {
    std::vector<std::vector<double>> rhs;
    for (const PanelData& of_problem : data) {
      check_compatible(of_problem);
      rhs.push_back(system->right_hand_side(of_problem));
    }
    std::vector<std::vector<double>> sigma = solver.solve(rhs);
    const ProblemParts parts{mesh,    groups,     panels, sides,   region_of_source,
                             domains, conditions, area,   *system, is_grounded};
    for (std::size_t k = 0; k < data.size(); ++k)
      add_result(parts, std::move(names[k]), data[k], std::move(sigma[k]), solution);
  }

  /// What enters a domain has to add up to 0 where nothing says what φ is.
  void check_compatible(const PanelData& data) {
    const double to_si = solution.problem.unit() * mesh.scale_to_m;
    for (std::size_t d = 0; d < domains.fixes.size(); ++d) {
      if (domains.fixes[d]) continue;
      double sum = 0, size = 0;
      const auto add = [&](double flux) {
        sum += flux;
        size += std::abs(flux);
      };
      const auto is_here = [&](int region) {
        return region != no_region && domains.of[region] == static_cast<int>(d);
      };
      std::vector<bool> has_conductor(data.charge.size(), false);
      for (std::size_t i = 0; i < panels.size(); ++i) {
        if (!is_here(sides.inside[i]) && !is_here(sides.outside[i])) continue;
        if (conditions.gives_flux(i)) add(to_si * area[i] * data.given[i]);
        if (conditions.is_floating(i)) has_conductor[conditions.conductor[i]] = true;
      }
      for (std::size_t c = 0; c < has_conductor.size(); ++c)
        if (has_conductor[c]) add(data.charge[c]);
      if (data.applied)
        for (std::size_t s = 0; s < region_of_source.size(); ++s)
          if (is_here(region_of_source[s])) add(solution.problem.sources[s].charge);
      if (std::abs(sum) <= least_told * size) continue;
      const std::string sentence =
          "what enters the region \"" + solution.problem.regions[domains.first[d]].name +
          "\", whose potential nothing fixes, adds up to " + decimal(sum) +
          (solution.problem.conducts() ? " A" : " C") + ", and should to 0";
      FMBEM_REQUIRE(std::abs(sum) <= most_left * size,
                    sentence << ": make the Neumann data compatible, or give the potential "
                                "somewhere");
      solution.notices.push_back(sentence + ": the difference is spread over the surface");
    }
  }

  PanelData problem_data() const {
    PanelData data{given_values(mesh, panels, solution.problem, groups), {}};
    for (const GroupCondition::OfConductor& given : conductors.given)
      data.charge.push_back(given.has_charge ? given.value : 0);
    return data;
  }

  PanelData without_data() const {
    return {std::vector<double>(panels.size(), 0.0),
            std::vector<double>(conductors.all.size(), 0.0), false};
  }

  const SurfaceMesh& mesh;
  ProblemSolution solution;
  std::vector<ResolvedGroup> groups;
  std::vector<bool> is_grounded;  ///< [regions]
  LayerSolver solver;
  const Panels& panels;
  PanelSides sides;
  RegionFinder finder;
  std::vector<int> region_of_source;
  ProblemConductors conductors;
  Domains domains;
  PanelConditions conditions;
  std::vector<double> area;
  std::optional<MediaSystem> system;
};

ProblemSolver::ProblemSolver(const SurfaceMesh& mesh, const BoundaryProblem& problem,
                             const LayerOptions& options)
    : impl_(std::make_unique<Impl>(mesh, problem, options)) {}
ProblemSolver::~ProblemSolver() = default;

void ProblemSolver::solve() { impl_->solve({"the problem"}, {impl_->problem_data()}); }

void ProblemSolver::solve_basis() {
  std::vector<std::string> names;
  std::vector<PanelData> data;
  for (std::size_t c = 0; c < impl_->conductors.all.size(); ++c) {
    const Conductor& conductor = impl_->conductors.all[c];
    FMBEM_REQUIRE(!impl_->conductors.given[c].has_charge,
                  "the conductor \"" << conductor.name
                                     << "\" floats: one solution for each conductor at 1 V is for "
                                        "conductors at potentials");
    names.push_back(conductor.name + " at 1 V");
    data.push_back(impl_->without_data());
    for (std::size_t i = 0; i < impl_->panels.size(); ++i)
      if (impl_->conductors.of_panel[i] == static_cast<int>(c)) data.back().given[i] = 1;
  }
  FMBEM_REQUIRE(!data.empty(), "there is no conductor to be at 1 V");
  impl_->solve(std::move(names), data);
  std::vector<ProblemResult>& results = impl_->solution.results;
  for (std::size_t c = 0; c < data.size(); ++c)
    results[results.size() - data.size() + c].conductor_at_1_volt = static_cast<int>(c);
}

void ProblemSolver::solve_for(const std::vector<std::vector<double>>& data) {
  const std::size_t n = impl_->panels.size();
  const double to_volts = impl_->mesh.scale_to_m / impl_->solution.problem.unit();
  std::vector<std::string> names;
  std::vector<PanelData> all;
  for (std::size_t k = 0; k < data.size(); ++k) {
    FMBEM_REQUIRE(data[k].size() == n, "right-hand side " << k << " has " << data[k].size()
                                                          << " values for " << n << " panels");
    names.push_back("right-hand side " + std::to_string(k));
    all.push_back(impl_->without_data());
    all.back().given = impl_->panels.from_input_order(data[k]);
    for (std::size_t i = 0; i < n; ++i) {
      double& value = all.back().given[i];
      FMBEM_REQUIRE(std::isfinite(value), "right-hand side "
                                              << k << " has a value that is not finite for panel "
                                              << impl_->panels.input_index[i]);
      if (impl_->conditions.gives_flux(i)) value *= to_volts;
      if (impl_->conditions.is_floating(i)) value = 0;
    }
  }
  impl_->solve(std::move(names), all);
}

const ProblemSolution& ProblemSolver::solution() const { return impl_->solution; }

ProblemSolution ProblemSolver::end(ProblemSolver&& solver) {
  const std::unique_ptr<Impl> impl = std::move(solver.impl_);
  ProblemSolution solution = std::move(impl->solution);
  solution.panels.on_device.reset();
  return solution;
}

ProblemSolution solve_problem(const SurfaceMesh& mesh, const BoundaryProblem& problem,
                              const LayerOptions& options) {
  ProblemSolver solver(mesh, problem, options);
  solver.solve();
  return ProblemSolver::end(std::move(solver));
}

SquareMatrix basis_matrix(const ProblemSolution& solution, std::size_t first) {
  const std::size_t n = solution.conductors.size();
  SquareMatrix matrix(n);
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i < n; ++i)
      matrix(i, j) = solution.results[first + j].conductor_flux[i];
  return matrix;
}

}  // namespace fmbem
