#include "fmbem/problems/solve_conductors.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <span>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/problems/images.hpp"
#include "fmbem/problems/media_system.hpp"

namespace fmbem {
namespace {

void check(const ConductorOptions& options) {
  FMBEM_REQUIRE(options.permittivity > 0 && std::isfinite(options.permittivity),
                "the relative permittivity must be positive, not " << options.permittivity);
}

void check(const std::vector<std::vector<double>>& given, std::size_t conductors) {
  for (const std::vector<double>& values : given)
    FMBEM_REQUIRE(values.size() == conductors, "there are " << conductors << " conductors, but "
                                                            << values.size()
                                                            << " voltages or charges");
}

/// Whether V σ = φ is all that there is.
bool is_homogeneous(const ConductorOptions& options) {
  return options.interfaces.empty() && options.media.empty() && options.floating.empty() &&
         options.applied.empty() && options.planes.empty();
}

/// [groups]: the media of each, or null.
std::vector<const Media*> media_of_groups(const SurfaceMesh& mesh,
                                          const std::vector<Media>& all_media) {
  std::vector<const Media*> of_group(mesh.groups.size(), nullptr);
  for (const Media& media : all_media) {
    for (const double permittivity : {media.behind, media.ahead})
      FMBEM_REQUIRE(permittivity > 0 && std::isfinite(permittivity),
                    "the relative permittivities beside \""
                        << media.group << "\" must be positive, not " << permittivity);
    bool found = false;
    for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
      if (mesh.groups[g].name != media.group) continue;
      FMBEM_REQUIRE(!of_group[g],
                    "the media of the group \"" << media.group << "\" are given twice");
      of_group[g] = &media;
      found = true;
    }
    FMBEM_REQUIRE(found, "the mesh has no group \"" << media.group << "\", whose media are given");
  }
  return of_group;
}

/// Throws InputError for media of unknown or conducting groups, permittivities out of range and
/// floating conductors that are unknown.
PanelConditions conditions_of(const SurfaceMesh& mesh, const ConductorOptions& options,
                              const std::vector<Conductor>& conductors, const Panels& panels,
                              const std::vector<int>& conductor_of) {
  using Kind = PanelConditions::Kind;
  PanelConditions result{.conductor = conductor_of,
                         .floats = std::vector<bool>(conductors.size(), false)};
  const std::vector<const Media*> of_group = media_of_groups(mesh, options.media);
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const int group = mesh.group_of[panels.input_index[i]];
    const Media* media = of_group[group];
    FMBEM_REQUIRE(media || conductor_of[i] >= 0,
                  "the group \"" << mesh.groups[group].name
                                 << "\" is an interface, but the media on its sides are not given");
    result.kind.push_back(conductor_of[i] < 0 ? Kind::flux : Kind::potential);
    result.behind.push_back(media ? media->behind : options.permittivity);
    result.ahead.push_back(media ? media->ahead : options.permittivity);
  }
  for (const std::string& name : options.floating) {
    const auto conductor = std::find_if(conductors.begin(), conductors.end(),
                                        [&](const Conductor& c) { return c.name == name; });
    FMBEM_REQUIRE(conductor != conductors.end(),
                  "there is no conductor \"" << name << "\" to float");
    result.floats[conductor - conductors.begin()] = true;
  }
  return result;
}

/// V σ = φ, or the equations of MediaSystem.
class System {
 public:
  System(const SurfaceMesh& mesh, const ConductorOptions& options, ConductorSolution& result)
      : result_(result),
        conductor_of_(conductor_of_panels(mesh, result.panels, result.conductors)),
        area_(areas_of(result.panels)),
        permittivity_(options.permittivity) {
    if (is_homogeneous(options)) return;
    conditions_ = conditions_of(mesh, options, result.conductors, result.panels, conductor_of_);
    for (const Conductor& conductor : result.conductors)
      conditions_.names.push_back(conductor.name);
    media_.emplace(result.panels, conditions_, result.applied, mesh.scale_to_m);
  }

  std::shared_ptr<const BoundaryOperator> make_operator(const OperatorOptions& options) {
    if (media_) return media_->make_operator(options);
    return make_single_layer(result_.panels, options);
  }

  std::vector<double> right_hand_side(const std::vector<double>& given) const {
    std::vector<double> potential;
    potential.reserve(conductor_of_.size());
    for (std::size_t i = 0; i < conductor_of_.size(); ++i) {
      const bool is_known = conductor_of_[i] >= 0 && !(media_ && conditions_.is_floating(i));
      potential.push_back(is_known ? given[conductor_of_[i]] : 0);
    }
    if (!media_) return potential;
    return media_->right_hand_side({.given = std::move(potential), .charge = given});
  }

  /// Of the problem that was given so.
  void add_solution(std::vector<double> sigma, const std::vector<double>& given) {
    std::vector<double> density = sigma;
    if (media_)
      density = media_->free_charge(sigma);
    else
      for (double& value : density) value *= permittivity_;
    result_.residual_weight.push_back(media_ ? media_->residual_weight(density)
                                             : residual_weight(density));
    result_.charge_density.push_back(result_.panels.to_input_order(density));
    for (double& value : result_.charge_density.back()) value *= epsilon_0 / result_.scale_to_m;
    result_.potential.push_back(given);
    if (media_) media_->find_potentials(sigma, true, result_.potential.back());
    result_.sigma.push_back(std::move(sigma));
  }

 private:
  /// As MediaSystem has it.
  double residual_weight(std::span<const double> density) const {
    double squares = 0;
    for (std::size_t i = 0; i < density.size(); ++i) {
      const double charge = density[i] * area_[i];
      squares += charge * charge;
    }
    return epsilon_0 * result_.scale_to_m * std::sqrt(squares);
  }

  ConductorSolution& result_;
  std::vector<int> conductor_of_;
  std::vector<double> area_;
  double permittivity_;
  PanelConditions conditions_;
  std::optional<MediaSystem> media_;  ///< none of a single medium
};

}  // namespace

ConductorSolution solve_conductors(const SurfaceMesh& mesh, const ConductorOptions& options,
                                   const std::vector<std::vector<double>>& given) {
  check(options);
  ConductorSolution result;
  result.conductors = make_conductors(mesh, options.conductors, options.interfaces);
  check(given, result.conductors.size());

  LayerSolver solver(mesh, options, result);
  result.applied = with_images(options.applied, result.panels);
  System system(mesh, options, result);
  solver.set_up([&](const OperatorOptions& op) { return system.make_operator(op); });
  std::vector<std::vector<double>> rhs;
  for (const std::vector<double>& of_problem : given)
    rhs.push_back(system.right_hand_side(of_problem));
  std::vector<std::vector<double>> sigma = solver.solve(rhs);
  for (std::size_t k = 0; k < given.size(); ++k) system.add_solution(std::move(sigma[k]), given[k]);
  // The solution is for the host; who solves again needs the GPU's memory.
  result.panels.on_device.reset();
  return result;
}

std::vector<std::vector<double>> conductor_charges(const SurfaceMesh& mesh,
                                                   const ConductorSolution& solution) {
  const std::vector<int> conductor_of =
      conductor_of_panels(mesh, solution.panels, solution.conductors);
  const std::vector<double> area = areas_of(solution.panels);
  const double square_metres = solution.scale_to_m * solution.scale_to_m;
  std::vector<std::vector<double>> charges(solution.charge_density.size());
#pragma omp parallel for schedule(dynamic, 1)
  for (std::size_t j = 0; j < charges.size(); ++j) {
    charges[j].resize(solution.conductors.size());
    for (std::size_t k = 0; k < area.size(); ++k)
      if (conductor_of[k] >= 0)
        charges[j][conductor_of[k]] +=
            solution.charge_density[j][solution.panels.input_index[k]] * area[k];
    for (double& charge : charges[j]) charge *= square_metres;
  }
  return charges;
}

}  // namespace fmbem
