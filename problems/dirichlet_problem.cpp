#include <cmath>
#include <limits>
#include <utility>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/problems/problem_equations.hpp"
#include "fmbem/problems/problem_results.hpp"
#include "fmbem/problems/region_dirichlet.hpp"

namespace fmbem {
namespace {

using Kind = GroupCondition::Kind;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr double tolerance_in_region = 1e-8;

/// The region that all panels bound. Throws InputError for what these formulations cannot do.
int checked_region(const ProblemParts& parts) {
  const BoundaryProblem& problem = parts.problem;
  const std::string whose = std::string("the formulation \"") +
                            (problem.formulation == ProblemFormulation::direct ? "direct"
                                                                               : "second kind") +
                            "\" is for potentials on the whole boundary of one region",
                    instead = ": leave \"formulation\" out, for the single layer";
  FMBEM_REQUIRE(!problem.has_losses(), whose << ", and here permittivities are complex" << instead);
  int region = region_outside(problem);
  for (const ResolvedGroup& group : parts.groups) {
    const GroupCondition& condition = *group.condition;
    const std::string name = ", and the group \"" + condition.group + "\" ";
    FMBEM_REQUIRE(condition.kind == Kind::dirichlet || condition.kind == Kind::conductor,
                  whose << name << "has another condition" << instead);
    FMBEM_REQUIRE(!condition.floats(), whose << name << "is a conductor whose "
                                             << (problem.conducts() ? "current" : "charge")
                                             << " is given" << instead);
    FMBEM_REQUIRE(group.inside == no_region || group.outside == no_region,
                  whose << name
                        << "has regions on both sides: name the one that is solved for as its "
                           "\"inside\" or \"outside\"");
    const int here = std::max(group.inside, group.outside);
    if (region == no_region) region = here;
    FMBEM_REQUIRE(here == region, whose << name << "bounds the region \""
                                        << problem.regions[here].name << "\" besides \""
                                        << problem.regions[region].name << "\"" << instead);
  }
  return region;
}

std::vector<RegionSide> region_sides(const PanelSides& sides) {
  std::vector<RegionSide> result;
  for (const int inside : sides.inside)
    result.push_back(inside != no_region ? RegionSide::behind : RegionSide::ahead);
  return result;
}

class DirichletProblem final : public ProblemEquations {
 public:
  DirichletProblem(const ProblemParts& parts, LayerSolver& solver, ProblemSolution& solution)
      : parts_(parts),
        solver_(solver),
        solution_(solution),
        region_(checked_region(parts)),
        conditions_(conditions_of<double>(parts).panels),
        side_(region_sides(parts.sides)),
        equations_(parts.panels, side_,
                   parts.problem.formulation == ProblemFormulation::direct
                       ? DirichletFormulation::direct
                       : DirichletFormulation::second_kind) {
    solver_.set_up([&](const OperatorOptions& op) { return equations_.make_operator(op); });
  }

  bool gives_flux(std::size_t) const override { return false; }
  bool has_charge_given(std::size_t) const override { return false; }

  void solve(const std::vector<std::string>& names, const std::vector<PanelData>& data) override {
    std::vector<std::vector<double>> harmonic, rhs;
    for (const PanelData& of_problem : data) {
      harmonic.push_back(without_applied(of_problem));
      rhs.push_back(equations_.right_hand_side(harmonic.back()));
    }
    solution_.solve_names.insert(solution_.solve_names.end(), names.begin(), names.end());
    std::vector<std::vector<double>> x = solver_.solve(rhs);
    for (std::size_t k = 0; k < data.size(); ++k)
      add_result(names[k], data[k], equations_.densities(harmonic[k], std::move(x[k])));
  }

 private:
  double coefficient() const { return parts_.problem.regions[region_].coefficient; }

  /// What is left for the surfaces.
  std::vector<double> without_applied(const PanelData& data) const {
    std::vector<double> g = data.given;
    for (std::size_t i = 0; i < g.size() && data.applied; ++i)
      g[i] -= solution_.applied.potential(parts_.panels.centroid(i) + parts_.panels.origin,
                                          parts_.mesh.scale_to_m);
    return g;
  }

  void add_result(const std::string& name, const PanelData& data, DirichletDensities densities) {
    FoundValues<double> found;
    found.sigma = densities.sigma;
    found.potential = data.given;
    found.applied = solution_.applied;
    found.field = [&](std::span<const Vec3d> places) {
      Field field =
          dirichlet_field(parts_.panels, densities, places, {.tolerance = tolerance_in_region});
      for (Vec3d& e : field.e) e = e / parts_.mesh.scale_to_m;
      return LayerField<double>{std::move(field.potential), std::move(field.e)};
    };
    found.conductor_potential.assign(parts_.conductors.all.size(), 0.0);
    set_conductor_potentials(conditions_.conductor, data.given, found);
    set_fluxes(data, densities, found);
    ProblemResult result = std::move(results_of(parts_, conditions_, name, data, found)[0]);
    if (densities.normal_derivative.empty()) result.conductor_flux = charges_of(found.sigma);
    std::vector<double> density = found.inside;
    for (std::size_t i = 0; i < density.size(); ++i)
      density[i] = (density[i] + found.outside[i]) * parts_.problem.unit() / parts_.mesh.scale_to_m;
    solution_.results.push_back(std::move(result));
    solution_.sigma.push_back(std::move(densities.sigma));
    solution_.dipoles.push_back(std::move(densities.mu));
    solution_.potential.push_back(std::move(found.conductor_potential));
    solution_.charge_density.push_back(parts_.panels.to_input_order(density));
    solution_.residual_weight.push_back(unknown);
  }

  void set_fluxes(const PanelData& data, const DirichletDensities& densities,
                  FoundValues<double>& found) const {
    const std::size_t n = data.given.size();
    found.inside.assign(n, 0.0);
    found.outside.assign(n, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      double slope = densities.normal_derivative.empty() ? unknown : densities.normal_derivative[i];
      if (data.applied && !solution_.applied.empty())
        slope += solution_.applied.mean_flux(parts_.panels.triangle(i), parts_.panels.origin,
                                             parts_.mesh.scale_to_m);
      const bool is_behind = side_[i] == RegionSide::behind;
      (is_behind ? found.inside : found.outside)[i] = coefficient() * (is_behind ? slope : -slope);
    }
  }

  /// [conductors]: the charges of closed surfaces that the region lies outside of, C, by the second
  /// kind; NaN of others, and of conductors that are parts of surfaces.
  std::vector<double> charges_of(const std::vector<double>& sigma) const {
    const Enclosures& surfaces = equations_.parts();
    const std::size_t n = sigma.size();
    std::vector<bool> is_known(surfaces.parts.size());
    for (std::size_t p = 0; p < is_known.size(); ++p) {
      const Enclosure& part = surfaces.parts[p];
      is_known[p] = !part.grounded && double(side_[part.first]) * part.volume < 0;
    }
    for (std::size_t i = 0; i < n; ++i)
      if (conditions_.conductor[i] != conditions_.conductor[surfaces.parts[surfaces.of[i]].first])
        is_known[surfaces.of[i]] = false;
    std::vector<double> charge(parts_.conductors.all.size(), 0.0);
    const double to_si = parts_.problem.unit() * parts_.mesh.scale_to_m * coefficient();
    for (std::size_t i = 0; i < n; ++i)
      if (conditions_.conductor[i] >= 0)
        charge[conditions_.conductor[i]] +=
            is_known[surfaces.of[i]] ? to_si * parts_.area[i] * sigma[i] : unknown;
    return charge;
  }

  const ProblemParts& parts_;
  LayerSolver& solver_;
  ProblemSolution& solution_;
  int region_;
  PanelConditions conditions_;
  std::vector<RegionSide> side_;
  DirichletEquations equations_;
};

}  // namespace

std::unique_ptr<ProblemEquations> make_dirichlet_problem(const ProblemParts& parts,
                                                         LayerSolver& solver,
                                                         ProblemSolution& solution) {
  return std::make_unique<DirichletProblem>(parts, solver, solution);
}

}  // namespace fmbem
