#include "fmbem/problems/kept_problem.hpp"

#include <array>
#include <utility>

#include "fmbem/problems/problem_regions.hpp"

namespace fmbem {
namespace {

using Kind = GroupCondition::Kind;
constexpr std::array<std::pair<Kind, const char*>, 5> kinds{{{Kind::conductor, "conductor"},
                                                             {Kind::dirichlet, "dirichlet"},
                                                             {Kind::neumann, "neumann"},
                                                             {Kind::robin, "robin"},
                                                             {Kind::interface, "interface"}}};
constexpr std::array<std::pair<ProblemFormulation, const char*>, 3> formulations{
    {{ProblemFormulation::single, "single layer"},
     {ProblemFormulation::direct, "direct"},
     {ProblemFormulation::second_kind, "second kind"}}};
constexpr const char *permittivity = "permittivity", *conductivity = "conductivity";

template <class Named, class One>
const char* name_of(const Named& all, One wanted) {
  for (const auto& [one, name] : all)
    if (one == wanted) return name;
  return "";
}
template <class Named>
auto of_name(const KeptArrays& arrays, const Named& all, const std::string& name,
             const char* what) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.second == name; });
  arrays.require(found != all.end(), what);
  return found->first;
}

void add_regions(Hdf5Image& image, const BoundaryProblem& problem) {
  std::vector<std::string> names;
  std::vector<double> coefficients, losses;
  for (const Region& region : problem.regions) {
    names.push_back(region.name);
    coefficients.push_back(region.coefficient);
    losses.push_back(region.loss);
  }
  image.add_group("regions");
  image.add("regions/names", names);
  image.add("regions/coefficients", coefficients);
  image.add("regions/losses", losses);
  image.add("regions/coefficient",
            std::vector<std::string>{problem.conducts() ? conductivity : permittivity});
  image.add("regions/outside", std::vector<std::string>{problem.outside});
  image.add("regions/formulation",
            std::vector<std::string>{name_of(formulations, problem.formulation)});
}

/// Of each condition the sides that it means, whether or not it says so.
void add_groups(Hdf5Image& image, const SurfaceMesh& mesh, const BoundaryProblem& problem) {
  const std::vector<ResolvedGroup> resolved = resolve_groups(mesh, problem);
  std::vector<std::string> names, conditions, inside, outside;
  const auto region = [&](int number) {
    return number == no_region ? "" : problem.regions[number].name;
  };
  for (const GroupCondition& condition : problem.groups) {
    const auto group = std::find_if(resolved.begin(), resolved.end(), [&](const ResolvedGroup& g) {
      return g.condition == &condition;
    });
    names.push_back(condition.group);
    conditions.emplace_back(name_of(kinds, condition.kind));
    inside.push_back(region(group->inside));
    outside.push_back(region(group->outside));
  }
  image.add_group("groups");
  image.add("groups/names", names);
  image.add("groups/conditions", conditions);
  image.add("groups/inside", inside);
  image.add("groups/outside", outside);
}

BoundaryProblem read_regions(const KeptArrays& arrays) {
  BoundaryProblem problem;
  problem.regions.clear();
  const std::vector<std::string> names = arrays.texts("regions/names");
  const auto coefficients = arrays.read<double>("regions/coefficients", names.size());
  std::vector<double> losses(names.size(), 0.0);  // as those of version 2 are
  if (arrays.has("regions/losses")) {
    losses = arrays.read<double>("regions/losses", names.size());
    problem.formulation = of_name(arrays, formulations,
                                  arrays.read_one<std::string>("regions/formulation"), "regions");
  }
  for (std::size_t r = 0; r < names.size(); ++r)
    problem.regions.push_back({names[r], coefficients[r], losses[r]});
  const auto which = arrays.read_one<std::string>("regions/coefficient");
  arrays.require(which == conductivity || which == permittivity, "regions");
  problem.coefficient = which == conductivity ? BoundaryProblem::Coefficient::conductivity
                                              : BoundaryProblem::Coefficient::permittivity;
  problem.outside = arrays.read_one<std::string>("regions/outside");
  return problem;
}

void read_groups(const KeptArrays& arrays, BoundaryProblem& problem) {
  const std::vector<std::string> names = arrays.texts("groups/names"),
                                 conditions = arrays.texts("groups/conditions", names.size()),
                                 inside = arrays.texts("groups/inside", names.size()),
                                 outside = arrays.texts("groups/outside", names.size());
  for (std::size_t g = 0; g < names.size(); ++g) {
    GroupCondition condition;
    condition.group = names[g];
    condition.kind = of_name(arrays, kinds, conditions[g], "groups");
    condition.inside = inside[g];
    condition.outside = outside[g];
    problem.groups.push_back(std::move(condition));
  }
}

}  // namespace

void add_problem(Hdf5Image& image, const SurfaceMesh& mesh, const ProblemSolution& solution) {
  add_regions(image, solution.problem);
  add_groups(image, mesh, solution.problem);
  std::vector<std::string> names;
  std::vector<std::int32_t> applied, conductor, imaginary;
  std::vector<std::vector<double>> flux, constant, potential, inside, outside;
  for (const ProblemResult& result : solution.results) {
    names.push_back(result.name);
    applied.push_back(result.applied);
    conductor.push_back(result.conductor_at_1_volt);
    imaginary.push_back(result.is_imaginary);
    flux.push_back(result.conductor_flux);
    constant.push_back(result.constant);
    potential.push_back(result.surface.potential);
    inside.push_back(result.surface.inside);
    outside.push_back(result.surface.outside);
  }
  const std::size_t panels = mesh.triangles.size();
  image.add("problems/names", names);
  image.add("problems/applied", applied);
  image.add("problems/conductor_at_1_volt", conductor);
  image.add("problems/imaginary", imaginary);
  if (!solution.dipoles.empty()) {
    std::vector<std::vector<double>> dipoles;
    for (const std::vector<double>& mu : solution.dipoles)
      dipoles.push_back(solution.panels.to_input_order(mu));
    image.add("problems/dipoles", joined(dipoles), panels);
  }
  image.add("problems/conductor_flux", joined(flux), solution.conductors.size());
  image.add("problems/constant", joined(constant), solution.problem.regions.size());
  image.add("problems/surface_potential", joined(potential), panels);
  image.add("problems/flux_inside", joined(inside), panels);
  image.add("problems/flux_outside", joined(outside), panels);
}

void read_problem(const KeptArrays& arrays, const SurfaceMesh& mesh, ProblemSolution& solution) {
  const SymmetryPlanes planes = solution.problem.planes;
  solution.problem = read_regions(arrays);
  solution.problem.planes = planes;
  read_groups(arrays, solution.problem);
  for (const Group& group : mesh.groups) solution.groups.push_back(group.name);
  const std::size_t n = solution.sigma.size(), panels = mesh.triangles.size();
  const auto names = arrays.texts("problems/names", n);
  const auto applied = arrays.read<std::int32_t>("problems/applied", n),
             conductor = arrays.read<std::int32_t>("problems/conductor_at_1_volt", n);
  std::vector<std::int32_t> imaginary(n, 0);
  if (arrays.has("problems/imaginary"))
    imaginary = arrays.read<std::int32_t>("problems/imaginary", n);
  if (arrays.has("problems/dipoles"))
    for (const auto& mu : arrays.rows_of("problems/dipoles", n, panels))
      solution.dipoles.push_back(solution.panels.from_input_order(mu));
  arrays.require(
      solution.dipoles.empty() == (solution.problem.formulation == ProblemFormulation::single),
      "problems/dipoles");
  constexpr auto or_nan = KeptArrays::Values::or_nan;
  auto flux = arrays.rows_of("problems/conductor_flux", n, solution.conductors.size(), or_nan),
       constant = arrays.rows_of("problems/constant", n, solution.problem.regions.size()),
       potential = arrays.rows_of("problems/surface_potential", n, panels),
       inside = arrays.rows_of("problems/flux_inside", n, panels, or_nan),
       outside = arrays.rows_of("problems/flux_outside", n, panels, or_nan);
  for (std::size_t k = 0; k < n; ++k) {
    ProblemResult result;
    result.name = names[k];
    result.applied = applied[k] != 0;
    result.is_imaginary = imaginary[k] != 0;
    arrays.require(conductor[k] >= -1 && conductor[k] < int(solution.conductors.size()),
                   "conductors");
    result.conductor_at_1_volt = conductor[k];
    result.conductor_flux = std::move(flux[k]);
    result.constant = std::move(constant[k]);
    result.surface = {std::move(potential[k]), std::move(inside[k]), std::move(outside[k])};
    solution.results.push_back(std::move(result));
  }
}

}  // namespace fmbem
