#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>
#include <utility>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/problems/compatible_data.hpp"
#include "fmbem/problems/contrast.hpp"
#include "fmbem/problems/domain_constants.hpp"
#include "fmbem/problems/problem_equations.hpp"
#include "fmbem/problems/problem_results.hpp"
#include "fmbem/problems/solve_dense.hpp"

namespace fmbem {
namespace {

constexpr double tolerance_in_regions = 1e-8;

template <class T>
class LayerEquations final : public ProblemEquations {
 public:
  LayerEquations(const ProblemParts& parts, LayerSolver& solver, ProblemSolution& solution)
      : parts_(parts),
        solver_(solver),
        solution_(solution),
        conditions_(conditions_of<T>(parts)),
        system_(parts.panels, conditions_.panels, applied(), parts.mesh.scale_to_m,
                solver.operator_options()) {
    for (std::size_t c = 0; c < conditions_.driven.size(); ++c) {
      if (!conditions_.driven[c]) continue;
      driven_.push_back(static_cast<int>(c));
      FMBEM_REQUIRE(!system_.is_grounded(c), "the conductor \""
                                                 << conditions_.panels.names[c]
                                                 << "\" floats and touches a ground plane: it is "
                                                    "at 0 V");
    }
    solver_.set_up([&](const OperatorOptions& op) { return system_.make_operator(op); });
    for (std::string& sentence :
         leaky_piece_warnings(parts, conditions_.panels, solution.solver_tolerance))
      solution.notices.push_back(std::move(sentence));
  }

  bool gives_flux(std::size_t i) const override { return conditions_.panels.gives_flux(i); }
  bool has_charge_given(std::size_t i) const override {
    return conditions_.panels.is_floating(i) || is_driven(i);
  }

  void solve(const std::vector<std::string>& names, const std::vector<PanelData>& data) override {
    std::vector<std::vector<double>> rhs;
    std::vector<BasicPanelData<T>> all;
    for (const PanelData& of_problem : data) {
      check_compatible(
          parts_, of_problem, [&](std::size_t i) { return gives_flux(i); },
          [&](std::size_t i) { return has_charge_given(i); }, solution_.notices);
      all.push_back({{of_problem.given.begin(), of_problem.given.end()},
                     {of_problem.charge.begin(), of_problem.charge.end()},
                     of_problem.applied});
      rhs.push_back(system_.right_hand_side(all.back()));
    }
    solution_.solve_names.insert(solution_.solve_names.end(), names.begin(), names.end());
    const bool needs_units = units_.size() < driven_.size();
    if (needs_units) add_right_hand_sides_of_units(rhs);
    const std::vector<std::vector<double>> x = solver_.solve(rhs);
    if (needs_units) add_units({x.begin() + static_cast<std::ptrdiff_t>(data.size()), x.end()});
    for (std::size_t k = 0; k < data.size(); ++k) {
      std::vector<T> sigma = values_of<T>(x[k]);
      drive(names[k], all[k], sigma);
      add_result(names[k], all[k], std::move(sigma));
    }
  }

 private:
  typename BasicMediaSystem<T>::Applied applied() {
    if constexpr (BasicMediaSystem<T>::is_complex) {
      LossyField both = lossy_field(parts_.problem, parts_.region_of_source, solution_.applied);
      solution_.applied = both.real;
      solution_.imaginary_applied = both.imaginary;
      return both;
    } else {
      return solution_.applied;
    }
  }

  bool is_driven(std::size_t i) const {
    const int conductor = conditions_.panels.conductor[i];
    return conductor >= 0 && conditions_.driven[conductor];
  }

  void add_right_hand_sides_of_units(std::vector<std::vector<double>>& rhs) {
    for (const int c : driven_) {
      BasicPanelData<T> unit{std::vector<T>(parts_.panels.size(), T(0)),
                             std::vector<T>(conditions_.driven.size(), T(0)), false};
      for (std::size_t i = 0; i < unit.given.size(); ++i)
        if (conditions_.panels.conductor[i] == c) unit.given[i] = 1;
      rhs.push_back(system_.right_hand_side(unit));
    }
  }

  /// Their solves are not among those of the problems.
  void add_units(const std::vector<std::vector<double>>& x) {
    for (const std::vector<double>& numbers : x) {
      Unit unit{values_of<T>(numbers), {}};
      unit.charge = charges_of(unit.sigma, false);
      units_.push_back(std::move(unit));
    }
    auto& solves = solution_.solves;
    const auto first = solves.end() - static_cast<std::ptrdiff_t>(x.size());
    solution_.driven = driven_;
    solution_.driven_solves.assign(first, solves.end());
    solves.erase(first, solves.end());
  }

  /// [driven]: C, or A.
  std::vector<T> charges_of(const std::vector<T>& sigma, bool is_applied,
                            std::span<const T> given = {}) const {
    const std::vector<T> density = system_.free_charge(sigma, is_applied, given);
    std::vector<T> all(conditions_.driven.size(), T(0)), result;
    for (std::size_t i = 0; i < density.size(); ++i)
      if (is_driven(i)) all[conditions_.panels.conductor[i]] += parts_.area[i] * density[i];
    for (const int c : driven_)
      result.push_back(parts_.problem.unit() * parts_.mesh.scale_to_m * all[c]);
    return result;
  }

  /// [driven]: whether its potential stays 0: one of each domain where nothing says what φ is, as
  /// its charge is what the others leave.
  std::vector<bool> reference_conductors() const {
    std::vector<bool> result(driven_.size(), false), has_one(parts_.domains.fixes.size(), false);
    for (std::size_t k = 0; k < driven_.size(); ++k)
      for (std::size_t i = 0; i < parts_.panels.size(); ++i) {
        if (conditions_.panels.conductor[i] != driven_[k]) continue;
        const int d = domain_of_panel(parts_, i);
        if (!parts_.domains.fixes[d] && !has_one[d]) has_one[d] = result[k] = true;
        break;
      }
    return result;
  }

  /// Puts driven conductors, at 0 V in σ, to the potentials that give their charges.
  void drive(const std::string& name, BasicPanelData<T>& data, std::vector<T>& sigma) const {
    if (driven_.empty()) return;
    const std::vector<bool> is_reference = reference_conductors();
    std::vector<std::size_t> unknown;
    for (std::size_t k = 0; k < driven_.size(); ++k)
      if (!is_reference[k]) unknown.push_back(k);
    std::vector<T> charge = charges_of(sigma, data.applied, data.given);
    std::vector<T> matrix, rest;
    for (const std::size_t k : unknown) {
      for (const std::size_t l : unknown) matrix.push_back(units_[l].charge[k]);
      rest.push_back(data.charge[driven_[k]] - charge[k]);
    }
    const std::vector<T> volts = solve_dense(matrix, std::move(rest));
    for (std::size_t u = 0; u < unknown.size(); ++u) {
      const auto& [of_unit, charges] = units_[unknown[u]];
      for (std::size_t i = 0; i < sigma.size(); ++i) {
        sigma[i] += volts[u] * of_unit[i];
        if (conditions_.panels.conductor[i] == driven_[unknown[u]]) data.given[i] = volts[u];
      }
      for (std::size_t k = 0; k < charge.size(); ++k) charge[k] += volts[u] * charges[k];
    }
    check_charges(name, data, charge);
  }

  /// One charge is what the others leave, and so has the solver's errors of all of them.
  void check_charges(const std::string& name, const BasicPanelData<T>& data,
                     const std::vector<T>& charge) const {
    constexpr double worth_telling = 0.01;
    double largest = 0;
    for (const int c : driven_) largest = std::max(largest, std::abs(data.charge[c]));
    const std::string unit = parts_.problem.conducts() ? " A" : " C";
    for (std::size_t k = 0; k < driven_.size(); ++k) {
      const double off = std::abs(charge[k] - data.charge[driven_[k]]);
      if (off <= worth_telling * largest) continue;
      std::ostringstream sentence;
      sentence << "the conductor \"" << conditions_.panels.names[driven_[k]] << "\" gives off "
               << decimal(off) << unit << " more or less than is given in " << name
               << ", by the solver's error: ask for a smaller --tolerance, or refine the mesh";
      solution_.notices.push_back(sentence.str());
    }
  }

  void add_result(const std::string& name, const BasicPanelData<T>& data, std::vector<T> sigma) {
    FoundValues<T> found;
    found.sigma = std::move(sigma);
    found.applied = system_.applied();
    found.field = [&](std::span<const Vec3d> places) {
      return system_.field(found.sigma, places, {.tolerance = tolerance_in_regions}, false);
    };
    find_conductor_potentials(data, found);
    find_surface_values(data, found);
    for (std::string& sentence : contrast_warnings(parts_, found, name))
      solution_.notices.push_back(std::move(sentence));
    // As MediaSystem::free_charge() has it.
    auto results = results_of(parts_, conditions_.panels, name, data, found);
    std::vector<T> density = found.sigma;
    for (std::size_t i = 0; i < density.size(); ++i)
      if (!conditions_.panels.is_interface(i)) density[i] = found.inside[i] + found.outside[i];
    for (std::size_t part = 0; part < results.size(); ++part) {
      for (std::string& sentence : constant_warnings(parts_, results[part]))
        solution_.notices.push_back(std::move(sentence));
      const auto of = [part](const std::vector<T>& values) {
        const std::vector<double> numbers = numbers_of(std::span<const T>(values));
        const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(part * values.size());
        return std::vector<double>(first, first + static_cast<std::ptrdiff_t>(values.size()));
      };
      solution_.results.push_back(std::move(results[part]));
      solution_.sigma.push_back(of(found.sigma));
      solution_.potential.push_back(of(found.conductor_potential));
      solution_.charge_density.push_back(parts_.panels.to_input_order(
          of(density), parts_.problem.unit() / parts_.mesh.scale_to_m));
      solution_.residual_weight.push_back(system_.residual_weight(density));
    }
  }

  void find_conductor_potentials(const BasicPanelData<T>& data, FoundValues<T>& found) const {
    found.conductor_potential.assign(conditions_.driven.size(), T(0));
    set_conductor_potentials(conditions_.panels.conductor, data.given, found);
    system_.find_potentials(found.sigma, data.applied, found.conductor_potential);
  }

  /// Whether the flux is ahead alone: behind is metal.
  bool is_solid(std::size_t i) const {
    return !gives_flux(i) && parts_.sides.inside[i] == no_region && !system_.has_two_sides(i) &&
           conditions_.panels.behind[i] == conditions_.panels.ahead[i];
  }

  void find_surface_values(const BasicPanelData<T>& data, FoundValues<T>& found) const {
    const std::size_t n = parts_.panels.size();
    std::vector<T> mean = system_.mean_flux(found.sigma, data.applied, data.given);
    const auto is_known = [&](std::size_t i) { return !std::isnan(std::real(mean[i])); };
    found.potential.resize(n);
    std::vector<std::size_t> asked;
    std::vector<Vec3d> places;
    for (std::size_t i = 0; i < n; ++i) {
      if (!gives_flux(i))
        found.potential[i] = conditions_.panels.is_floating(i)
                                 ? found.conductor_potential[conditions_.panels.conductor[i]]
                                 : data.given[i];
      if (!gives_flux(i) && (is_solid(i) || is_known(i))) continue;
      asked.push_back(i);
      places.push_back(parts_.panels.centroid(i) + parts_.panels.origin);
    }
    const LayerField<T> field =
        system_.field(found.sigma, places, {.tolerance = tolerance_in_regions}, data.applied);
    for (std::size_t k = 0; k < asked.size(); ++k) {
      const std::size_t i = asked[k];
      if (gives_flux(i)) found.potential[i] = field.potential[k];
      if (is_known(i)) continue;
      const Vec3d normal = parts_.panels.triangle(i).normal;
      mean[i] = 0;
      for (int axis = 0; axis < 3; ++axis)
        mean[i] -= parts_.mesh.scale_to_m * normal[axis] * field.e[k][axis];
    }
    set_fluxes(data, mean, found);
  }

  void set_fluxes(const BasicPanelData<T>& data, const std::vector<T>& mean,
                  FoundValues<T>& found) const {
    const BasicPanelConditions<T>& conditions = conditions_.panels;
    found.inside.assign(mean.size(), T(0));
    found.outside.assign(mean.size(), T(0));
    for (std::size_t i = 0; i < mean.size(); ++i) {
      const T behind = coefficient_in<T>(parts_.problem, parts_.sides.inside[i]),
              ahead = coefficient_in<T>(parts_.problem, parts_.sides.outside[i]);
      if (is_solid(i)) {
        found.outside[i] = ahead * found.sigma[i];
      } else if (gives_flux(i) && !conditions.is_interface(i) && !conditions.has_admittance(i)) {
        (behind != T(0) ? found.inside : found.outside)[i] = data.given[i];
      } else {
        found.inside[i] = behind * (0.5 * found.sigma[i] + mean[i]);
        found.outside[i] = ahead * (0.5 * found.sigma[i] - mean[i]);
        if (!conditions.is_interface(i)) continue;
        // What it gives off is given, and the larger coefficient's flux has the larger error.
        if (std::abs(behind) < std::abs(ahead))
          found.outside[i] = data.given[i] - found.inside[i];
        else
          found.inside[i] = data.given[i] - found.outside[i];
      }
    }
  }

  /// A driven conductor at 1 V, with all else at 0.
  struct Unit {
    std::vector<T> sigma, charge;  ///< [n panels], [driven]
  };

  const ProblemParts& parts_;
  LayerSolver& solver_;
  ProblemSolution& solution_;
  ProblemConditions<T> conditions_;
  BasicMediaSystem<T> system_;
  std::vector<int> driven_;  ///< conductors
  std::vector<Unit> units_;  ///< [driven], after the first solve
};

}  // namespace

std::unique_ptr<ProblemEquations> make_layer_equations(const ProblemParts& parts,
                                                       LayerSolver& solver,
                                                       ProblemSolution& solution) {
  if (parts.problem.has_losses())
    return std::make_unique<LayerEquations<Complex>>(parts, solver, solution);
  return std::make_unique<LayerEquations<double>>(parts, solver, solution);
}

}  // namespace fmbem
