#include "fmbem/problems/conductor_field.hpp"

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {

Field conductor_field(const ConductorSolution& solution, std::size_t problem,
                      std::span<const Vec3d> points, const FieldOptions& options) {
  FMBEM_REQUIRE(problem < solution.sigma.size(),
                "the solution has no problem " << problem << " (counted from 0)");
  FieldOptions how = options;
  if (!how.processor) how.processor = solution.op.processor;
  Field field = evaluate_field(solution.panels, solution.sigma[problem], points, how);
  const auto n = static_cast<std::int64_t>(field.e.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < n; ++i) field.e[i] = field.e[i] / solution.scale_to_m;
  for (Symmetric3d& gradient : field.gradient_of_e)
    gradient = 1 / (solution.scale_to_m * solution.scale_to_m) * gradient;
  if (solution.applied.empty()) return field;
  for (std::size_t i = 0; i < points.size(); ++i) {
    field.potential[i] += solution.applied.potential(points[i], solution.scale_to_m);
    field.e[i] += solution.applied.field(points[i], solution.scale_to_m);
    if (options.gradient_of_e)
      field.gradient_of_e[i] += solution.applied.gradient(points[i], solution.scale_to_m);
  }
  return field;
}

}  // namespace fmbem
