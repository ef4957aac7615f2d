#include "fmbem/problems/problem_results.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "fmbem/bem/layer/field.hpp"

namespace fmbem {
namespace {

constexpr double field_tolerance = 1e-8;

/// Makes one result; lengths are the mesh's, in the order of Panels, fluxes in relative
/// coefficients times V per length.
class Evaluation {
 public:
  Evaluation(const ProblemParts& parts, const ProblemSolution& solution, const PanelData& data,
             std::span<const double> sigma)
      : parts_(parts),
        problem_(solution.problem),
        applied_(solution.applied),
        scale_(solution.scale_to_m),
        data_(data),
        sigma_(sigma),
        n_(sigma.size()) {}

  ProblemResult result(std::string name) {
    result_.name = std::move(name);
    result_.applied = data_.applied;
    find_conductor_potentials();
    find_surface_values();
    fix_constants();
    add_up_fluxes();
    add_up_regions();
    result_.energy = energy();
    store_surface_values();
    return std::move(result_);
  }
  const std::vector<double>& conductor_potentials() const { return conductor_potential_; }
  /// As MediaSystem::free_charge() has it.
  std::vector<double> charge_density() const {
    std::vector<double> density(sigma_.begin(), sigma_.end());
    for (std::size_t i = 0; i < n_; ++i)
      if (!conditions().is_interface(i)) density[i] = inside_[i] + outside_[i];
    return density;
  }

 private:
  const PanelConditions& conditions() const { return parts_.conditions; }
  double coefficient(int region) const {
    return region == no_region ? 0 : problem_.regions[region].coefficient;
  }
  /// C or A of a flux through an area.
  double to_si() const { return problem_.unit() * scale_; }
  bool has_sources() const { return data_.applied && !problem_.sources.empty(); }

  void find_conductor_potentials() {
    conductor_potential_.assign(conditions().floats.size(), 0.0);
    for (std::size_t i = 0; i < n_; ++i)
      if (conditions().conductor[i] >= 0)
        conductor_potential_[conditions().conductor[i]] = data_.given[i];
    parts_.system.find_potentials(sigma_, data_.applied, conductor_potential_);
  }

  /// Whether the flux is ahead alone: behind is metal.
  bool is_solid(std::size_t i) const {
    return !conditions().gives_flux(i) && parts_.sides.inside[i] == no_region &&
           conditions().behind[i] == conditions().ahead[i];
  }

  void find_surface_values() {
    std::vector<double> mean = parts_.system.mean_flux(sigma_, data_.applied);
    potential_.resize(n_);
    std::vector<std::size_t> asked;
    std::vector<Vec3d> places;
    for (std::size_t i = 0; i < n_; ++i) {
      const bool has_potential = !conditions().gives_flux(i);
      if (has_potential)
        potential_[i] = conditions().is_floating(i)
                            ? conductor_potential_[conditions().conductor[i]]
                            : data_.given[i];
      if (has_potential && (is_solid(i) || !std::isnan(mean[i]))) continue;
      asked.push_back(i);
      places.push_back(parts_.panels.centroid(i) + parts_.panels.origin);
    }
    const Field field =
        evaluate_field(parts_.panels, sigma_, places, {.tolerance = field_tolerance});
    for (std::size_t k = 0; k < asked.size(); ++k) {
      const std::size_t i = asked[k];
      const bool applied = data_.applied && !applied_.empty();
      if (conditions().gives_flux(i))
        potential_[i] = field.potential[k] + (applied ? applied_.potential(places[k], scale_) : 0);
      if (!std::isnan(mean[i])) continue;
      const Vec3d normal = parts_.panels.triangle(i).normal;
      mean[i] = -dot(field.e[k], normal);
      if (applied) mean[i] -= scale_ * dot(applied_.field(places[k], scale_), normal);
    }
    set_fluxes(mean);
  }

  void set_fluxes(std::span<const double> mean) {
    inside_.resize(n_);
    outside_.resize(n_);
    for (std::size_t i = 0; i < n_; ++i) {
      const double behind = coefficient(parts_.sides.inside[i]),
                   ahead = coefficient(parts_.sides.outside[i]);
      if (is_solid(i)) {
        outside_[i] = ahead * sigma_[i];
      } else if (conditions().gives_flux(i) && !conditions().is_interface(i) &&
                 !conditions().has_admittance(i)) {
        (behind > 0 ? inside_ : outside_)[i] = data_.given[i];
      } else {
        inside_[i] = behind * (0.5 * sigma_[i] + mean[i]);
        outside_[i] = ahead * (0.5 * sigma_[i] - mean[i]);
      }
    }
  }

  /// Where φ is known up to a constant its mean over the Neumann surfaces becomes 0.
  void fix_constants() {
    result_.constant.assign(problem_.regions.size(), 0.0);
    if (conditions().unfixed.empty()) return;
    std::vector<double> sum(parts_.domains.fixes.size(), 0.0), area = sum;
    const auto domain = [&](std::size_t i) {
      const int region = std::max(parts_.sides.inside[i], parts_.sides.outside[i]);
      return parts_.domains.of[region];
    };
    for (std::size_t i = 0; i < n_; ++i) {
      if (conditions().unfixed[i] < 0) continue;
      sum[domain(i)] += parts_.area[i] * potential_[i];
      area[domain(i)] += parts_.area[i];
    }
    const auto constant = [&](int d) { return area[d] > 0 ? -sum[d] / area[d] : 0; };
    for (std::size_t r = 0; r < problem_.regions.size(); ++r)
      result_.constant[r] = constant(parts_.domains.of[r]);
    std::vector<bool> is_done(conductor_potential_.size(), false);
    for (std::size_t i = 0; i < n_; ++i) {
      potential_[i] += constant(domain(i));
      const int conductor = conditions().conductor[i];
      if (conductor < 0 || is_done[conductor]) continue;
      conductor_potential_[conductor] += constant(domain(i));
      is_done[conductor] = true;
    }
  }

  void add_up_fluxes() {
    result_.conductor_flux.assign(conditions().floats.size(), 0.0);
    result_.flux_inside.assign(parts_.groups.size(), 0.0);
    result_.flux_outside = result_.flux_inside;
    for (std::size_t i = 0; i < n_; ++i) {
      const int group = parts_.mesh.group_of[parts_.panels.input_index[i]],
                conductor = conditions().conductor[i];
      const double area = to_si() * parts_.area[i];
      result_.flux_inside[group] += area * inside_[i];
      result_.flux_outside[group] += area * outside_[i];
      if (conductor >= 0) result_.conductor_flux[conductor] += area * (inside_[i] + outside_[i]);
    }
  }

  void add_up_regions() {
    result_.imbalance.assign(problem_.regions.size(), 0.0);
    result_.throughput = result_.imbalance;
    const auto add = [&](int region, double flux) {
      if (region == no_region) return;
      result_.imbalance[region] += flux;
      result_.throughput[region] += std::abs(flux);
    };
    double to_infinity = 0;  // over the coefficient there
    for (std::size_t i = 0; i < n_; ++i) {
      const double area = to_si() * parts_.area[i];
      add(parts_.sides.inside[i], area * inside_[i]);
      add(parts_.sides.outside[i], area * outside_[i]);
      to_infinity += area * sigma_[i];
    }
    if (has_sources()) {
      for (std::size_t s = 0; s < problem_.sources.size(); ++s) {
        const double charge = problem_.sources[s].charge;
        add(parts_.region_of_source[s], charge);
        to_infinity += charge / coefficient(parts_.region_of_source[s]);
      }
    }
    const int outside = region_outside(problem_);
    if (outside != no_region) add(outside, -coefficient(outside) * to_infinity);
    // What goes into a ground plane is not known.
    for (std::size_t r = 0; r < problem_.regions.size(); ++r)
      if (parts_.is_grounded[r]) result_.imbalance[r] = std::numeric_limits<double>::quiet_NaN();
  }

  /// Of the panels ½ ∮ φ c ∂φ/∂n, and of sources what they have in the field of all else.
  double energy() const {
    if (data_.applied && norm2(problem_.field) > 0) return std::numeric_limits<double>::quiet_NaN();
    double sum = 0;
    for (std::size_t i = 0; i < n_; ++i)
      if (!conditions().is_interface(i))
        sum += to_si() * parts_.area[i] * (inside_[i] + outside_[i]) * potential_[i];
    if (has_sources()) sum += work_of_sources();
    return problem_.conducts() ? sum : 0.5 * sum;
  }

  double work_of_sources() const {
    double sum = 0;
    constexpr int pieces = 16;  // of a line
    for (std::size_t s = 0; s < problem_.sources.size(); ++s) {
      const ProblemSource& source = problem_.sources[s];
      AppliedField others = applied_;
      // Sources of each kind are in the problem's order.
      std::size_t before = 0;
      for (std::size_t t = 0; t < s; ++t) before += problem_.sources[t].kind == source.kind;
      const auto drop = [&](auto& all) { all.erase(all.begin() + before); };
      std::vector<Vec3d> places{source.at};
      switch (source.kind) {
        case ProblemSource::Kind::charge:
          drop(others.charges);
          break;
        case ProblemSource::Kind::dipole:
          drop(others.dipoles);
          break;
        case ProblemSource::Kind::line:
          drop(others.lines);
          places.clear();
          for (int k = 0; k < pieces; ++k)
            places.push_back(source.at + ((k + 0.5) / pieces) * (source.to - source.at));
      }
      const Field field =
          evaluate_field(parts_.panels, sigma_, places, {.tolerance = field_tolerance});
      const double constant = result_.constant[parts_.region_of_source[s]];
      for (std::size_t k = 0; k < places.size(); ++k) {
        const double part = 1.0 / double(places.size());
        sum += part * source.charge *
               (field.potential[k] + constant + others.potential(places[k], scale_));
        if (source.kind == ProblemSource::Kind::dipole)
          sum -= dot(source.moment, field.e[k] / scale_ + others.field(places[k], scale_));
      }
    }
    return sum;
  }

  void store_surface_values() {
    const double per_area = problem_.unit() / scale_;
    SurfaceValues& surface = result_.surface;
    surface.potential = parts_.panels.to_input_order(potential_);
    surface.inside = parts_.panels.to_input_order(inside_);
    surface.outside = parts_.panels.to_input_order(outside_);
    for (auto* values : {&surface.inside, &surface.outside})
      for (double& value : *values) value *= per_area;
  }

  const ProblemParts& parts_;
  const BoundaryProblem& problem_;
  const AppliedField& applied_;
  double scale_;
  const PanelData& data_;
  std::span<const double> sigma_;
  std::size_t n_;
  std::vector<double> potential_, inside_, outside_;  ///< [n panels]
  std::vector<double> conductor_potential_;           ///< [conductors]
  ProblemResult result_;
};

}  // namespace

void add_result(const ProblemParts& parts, std::string name, const PanelData& data,
                std::vector<double> sigma, ProblemSolution& solution) {
  Evaluation evaluation(parts, solution, data, sigma);
  ProblemResult result = evaluation.result(std::move(name));
  solution.potential.push_back(evaluation.conductor_potentials());
  const std::vector<double> density = evaluation.charge_density();
  solution.residual_weight.push_back(parts.system.residual_weight(density));
  solution.charge_density.push_back(parts.panels.to_input_order(density));
  for (double& value : solution.charge_density.back())
    value *= solution.problem.unit() / solution.scale_to_m;
  solution.results.push_back(std::move(result));
  solution.sigma.push_back(std::move(sigma));
}

}  // namespace fmbem
