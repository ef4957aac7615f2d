#include "fmbem/problems/solve_conductors.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <span>

#include "fmbem/cuda/device.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/timer.hpp"
#include "fmbem/problems/media_system.hpp"
#include "fmbem/solvers/norm.hpp"

namespace fmbem {
namespace {

void check(const ConductorOptions& options) {
  FMBEM_REQUIRE(options.permittivity > 0 && std::isfinite(options.permittivity),
                "the relative permittivity must be positive, not " << options.permittivity);
  FMBEM_REQUIRE(options.op.tolerance >= 0 && options.op.tolerance <= 0.5,
                "the operator's tolerance must be between 0 and 0.5, not " << options.op.tolerance);
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

/// V σ = φ, or the equations of MediaSystem.
class System {
 public:
  System(const SurfaceMesh& mesh, const ConductorOptions& options, ConductorSolution& result)
      : result_(result),
        conductor_of_(conductor_of_panels(mesh, result.panels, result.conductors)),
        area_(areas_of(result.panels)),
        permittivity_(options.permittivity) {
    if (!is_homogeneous(options))
      media_.emplace(mesh, result.panels, result.conductors, conductor_of_, options);
  }

  std::shared_ptr<const BoundaryOperator> make_operator(const OperatorOptions& options) {
    if (media_) return media_->make_operator(options);
    return make_single_layer(result_.panels, options);
  }

  std::vector<double> right_hand_side(std::span<const double> given) const {
    if (media_) return media_->right_hand_side(given);
    std::vector<double> potential;
    potential.reserve(conductor_of_.size());
    for (const int conductor : conductor_of_) potential.push_back(given[conductor]);
    return potential;
  }

  /// Of the problem that was given so.
  void add_solution(std::span<const double> sigma, const std::vector<double>& given) {
    std::vector<double> density(sigma.begin(), sigma.end());
    if (media_)
      density = media_->free_charge(sigma);
    else
      for (double& value : density) value *= permittivity_;
    result_.residual_weight.push_back(media_ ? media_->residual_weight(density)
                                             : residual_weight(density));
    result_.charge_density.push_back(result_.panels.to_input_order(density));
    for (double& value : result_.charge_density.back()) value *= epsilon_0 / result_.scale_to_m;
    result_.sigma.emplace_back(sigma.begin(), sigma.end());
    result_.potential.push_back(given);
    if (media_) media_->find_potentials(sigma, result_.potential.back());
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
  std::optional<MediaSystem> media_;  ///< none of a single medium
};

}  // namespace

ConductorSolution solve_conductors(const SurfaceMesh& mesh, const ConductorOptions& options,
                                   const std::vector<std::vector<double>>& given) {
  check(options);
  ConductorSolution result;
  result.scale_to_m = mesh.scale_to_m;
  result.conductors = make_conductors(mesh, options.conductors, options.interfaces);
  check(given, result.conductors.size());

  LinearSolver solver(options.solver);
  result.solver_tolerance = solver.tolerance();
  OperatorOptions operator_options = options.op;
  if (options.op.tolerance == 0) operator_options.tolerance = 0.1 * solver.tolerance();
  result.operator_tolerance = operator_options.tolerance;
  result.ksp_type = solver.ksp_type();

  const Timer setup;
  if (options.planes.empty()) {
    operator_options.processor =
        options.op.processor.value_or(faster_processor(mesh.triangles.size(), operator_options));
    result.panels = make_panels(mesh, *operator_options.processor, options.block_panels);
  } else {
    result.panels = make_panels(mesh, options.planes, options.block_panels);
  }
  result.applied = with_images(options.applied, result.panels);
  System system(mesh, options, result);
  const Timer assembly;
  const auto op = system.make_operator(operator_options);
  result.assembly_seconds = assembly.seconds();
  result.leaves = result.panels.leaves();
  const Timer preconditioner;
  solver.set_operator(op, result.panels.leaf_begin);
  result.preconditioner_seconds = preconditioner.seconds();
  result.pc_type = solver.pc_type();
  result.preconditioner_bytes = solver.preconditioner_bytes();
  result.setup_seconds = setup.seconds();

  const Timer solve;
  const std::size_t n = result.panels.size();
  std::vector<double> rhs, sigma(n * given.size());
  for (const std::vector<double>& of_problem : given) {
    const std::vector<double> b = system.right_hand_side(of_problem);
    result.rhs_norm.push_back(norm_of(b));
    rhs.insert(rhs.end(), b.begin(), b.end());
  }
  result.solves = solver.solve(rhs, sigma, static_cast<int>(given.size()));
  result.solve_seconds = solve.seconds();
  result.op = op->info();
  if (op->processor() == Processor::gpu) result.device_bytes = peak_device_memory();
  result.product_median_seconds = solver.median_product_seconds();
  result.converged = std::all_of(result.solves.begin(), result.solves.end(),
                                 [](const SolveReport& report) { return report.converged; });
  for (std::size_t k = 0; k < given.size(); ++k)
    system.add_solution(std::span(sigma).subspan(k * n, n), given[k]);
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
