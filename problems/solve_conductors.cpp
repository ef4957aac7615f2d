#include "fmbem/problems/solve_conductors.hpp"

#include <algorithm>
#include <cmath>
#include <future>
#include <memory>
#include <optional>
#include <span>

#include "fmbem/fmm/base/chunks.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/tasks.hpp"
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
  PanelConditions result{.floats = std::vector<bool>(conductors.size(), false)};
  const std::vector<const Media*> of_group = media_of_groups(mesh, options.media);
  const auto n = static_cast<std::int64_t>(panels.size());
  resize_each(n, result.kind, result.behind, result.ahead, result.conductor);
  std::int64_t unknown = n;  // the first interface without media
#pragma omp parallel for schedule(static) reduction(min : unknown)
  for (std::int64_t i = 0; i < n; ++i) {
    const Media* const media = of_group[mesh.group_of[panels.input_index[i]]];
    if (!media && conductor_of[i] < 0) unknown = std::min(unknown, i);
    result.conductor[i] = conductor_of[i];
    result.kind[i] = conductor_of[i] < 0 ? Kind::flux : Kind::potential;
    result.behind[i] = media ? media->behind : options.permittivity;
    result.ahead[i] = media ? media->ahead : options.permittivity;
  }
  FMBEM_REQUIRE(unknown == n,
                "the group \"" << mesh.groups[mesh.group_of[panels.input_index[unknown]]].name
                               << "\" is an interface, but the media on its sides are not given");
  for (const std::string& name : options.floating) {
    const auto conductor = std::find_if(conductors.begin(), conductors.end(),
                                        [&](const Conductor& c) { return c.name == name; });
    FMBEM_REQUIRE(conductor != conductors.end(),
                  "there is no conductor \"" << name << "\" to float");
    result.floats[conductor - conductors.begin()] = true;
  }
  return result;
}

std::vector<double> times(std::vector<double> values, double factor) {
  const auto n = static_cast<std::int64_t>(values.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < n; ++i) values[i] *= factor;
  return values;
}

/// V σ = φ, or the equations of MediaSystem.
class System {
 public:
  System(const SurfaceMesh& mesh, const ConductorOptions& options, const OperatorOptions& op,
         ConductorSolution& result)
      : result_(result),
        conductor_of_(conductor_of_panels(mesh, result.panels, result.conductors)),
        permittivity_(options.permittivity) {
    if (is_homogeneous(options)) return;
    PanelConditions conditions =
        conditions_of(mesh, options, result.conductors, result.panels, conductor_of_);
    for (const Conductor& conductor : result.conductors) conditions.names.push_back(conductor.name);
    media_.emplace(result.panels, std::move(conditions), result.applied, mesh.scale_to_m, op);
  }

  std::shared_ptr<const BoundaryOperator> make_operator(const OperatorOptions& options) {
    if (media_) return media_->make_operator(options);
    return make_single_layer(result_.panels, options);
  }

  std::vector<double> right_hand_side(const std::vector<double>& given) const {
    const auto n = static_cast<std::int64_t>(conductor_of_.size());
    std::vector<double> potential(n);
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < n; ++i) {
      const bool is_known =
          conductor_of_[i] >= 0 && !(media_ && media_->conditions().is_floating(i));
      potential[i] = is_known ? given[conductor_of_[i]] : 0;
    }
    if (!media_) return potential;
    return media_->right_hand_side({.given = std::move(potential), .charge = given});
  }

  /// Of problems that were given so.
  void set_solutions(std::vector<std::vector<double>> sigma,
                     const std::vector<std::vector<double>>& given) {
    const auto n = static_cast<std::int64_t>(sigma.size());
    result_.residual_weight.resize(n);
    result_.charge_density.resize(n);
    const auto set_charges = [&](std::int64_t k) {
      const std::vector<double> density =
          media_ ? media_->free_charge(sigma[k]) : times(sigma[k], permittivity_);
      result_.residual_weight[k] =
          media_ ? media_->residual_weight(density) : residual_weight(density);
      result_.charge_density[k] =
          result_.panels.to_input_order(density, epsilon_0 / result_.scale_to_m);
    };
    if (media_ && media_->has_sheets())  // whose charges take products
      for (std::int64_t k = 0; k < n; ++k) set_charges(k);
    else
      for_tasks(n, set_charges);
    result_.potential = given;
    if (media_)
      for (std::int64_t k = 0; k < n; ++k)
        media_->find_potentials(sigma[k], true, result_.potential[k]);
    result_.sigma = std::move(sigma);
  }

 private:
  /// As MediaSystem has it.
  double residual_weight(std::span<const double> density) const {
    const double squares = sum_of(static_cast<std::int64_t>(density.size()), [&](std::int64_t i) {
      const double charge = density[i] * result_.panels.area(i);
      return charge * charge;
    });
    return epsilon_0 * result_.scale_to_m * std::sqrt(squares);
  }

  ConductorSolution& result_;
  std::vector<int> conductor_of_;
  double permittivity_;
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
  const OperatorOptions& op_options = solver.operator_options();
  System system(mesh, options, op_options, result);
  std::vector<std::vector<double>> rhs(given.size());
  // They need nothing of the operator.
  std::future<void> right_hand_sides = start_beside(op_options.processor == Processor::gpu, [&] {
    for_tasks(static_cast<std::int64_t>(given.size()),
              [&](std::int64_t k) { rhs[k] = system.right_hand_side(given[k]); });
  });
  solver.set_up([&](const OperatorOptions& op) { return system.make_operator(op); });
  right_hand_sides.get();
  system.set_solutions(solver.solve(rhs), given);
  // The solution is for the host; who solves again needs the GPU's memory.
  result.panels.on_device.reset();
  return result;
}

std::vector<std::vector<double>> conductor_charges(const SurfaceMesh& mesh,
                                                   const ConductorSolution& solution) {
  const std::vector<int> of_group = conductor_of_groups(mesh, solution.conductors);
  const Areas area = areas_of(solution.panels);
  const double square_metres = solution.scale_to_m * solution.scale_to_m;
  const auto n = static_cast<std::int64_t>(area->size());
  const std::size_t conductors = solution.conductors.size();
  LargeVector<double> size(n);  // in the mesh's order, which densities have
#pragma omp parallel for schedule(static)
  for (std::int64_t k = 0; k < n; ++k)
    size[solution.panels.input_index[k]] = square_metres * (*area)[k];
  std::vector<std::vector<double>> charges(solution.charge_density.size());
  for_tasks(static_cast<std::int64_t>(charges.size()), [&](std::int64_t k) {
    const std::vector<double>& density = solution.charge_density[k];
    charges[k] = sums_of_groups<double>(
        n, static_cast<std::int64_t>(conductors) + 1,
        [&](std::int64_t t) {
          const int conductor = of_group[mesh.group_of[t]];
          return conductor < 0 ? conductors : static_cast<std::size_t>(conductor);
        },
        [&](std::int64_t t) { return density[t] * size[t]; });
    charges[k].pop_back();
  });
  return charges;
}

}  // namespace fmbem
