#include "cli/field_from.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "cli/charge_report.hpp"
#include "cli/point_output.hpp"
#include "cli/provenance.hpp"
#include "fmbem/cuda/device.hpp"
#include "fmbem/fmm/base/machine.hpp"
#include "fmbem/fmm/base/timer.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/problems/solution_file.hpp"
#include "fmbem/problems/superpose.hpp"

namespace fmbem::cli {
namespace {

/// The voltages that are asked for, of a solution that was kept.
ProblemSolution at_voltages(const FieldFromOptions& options, ProblemSolution kept) {
  const std::vector<Voltage> given = parse_voltages(options.field);
  const bool has_units = has_unit_voltages(kept),
             has_others = std::any_of(
                 kept.results.begin(), kept.results.end(),
                 [](const ProblemResult&result) { return result.conductor_at_1_volt < 0; });
  if (has_units && !has_others) return superpose(kept, voltages_of(kept.conductors, given));
  if (given.empty()) return kept;
  FMBEM_REQUIRE(!kept.problem.has_losses(),
                options.solution << " has complex permittivities, whose solutions hold for their "
                                    "own voltages alone: leave out --voltage, and solve again");
  FMBEM_REQUIRE(has_units, options.solution
                               << " holds the solution of its own voltages alone: leave out "
                                  "--voltage, or keep one by fmbem capacitance or by fmbem solve "
                                  "--basis");
  std::vector<double> voltages = kept.potential[0];  // the others stay as they are
  for (const Voltage& voltage : given) {
    const auto only = voltages_of(kept.conductors, {{voltage.conductor, 1}});
    voltages[std::find(only.begin(), only.end(), 1) - only.begin()] = voltage.volts;
  }
  return superpose(kept, voltages);
}

ProblemSolution checked(ProblemSolution solution, const std::string& file) {
  FMBEM_REQUIRE(!solution.results.empty() || solution.sigma.size() == 1,
                file << " holds several solutions, and not one for each conductor at 1 V");
  return solution;
}

/// What conductors have in the first result, as fmbem field tells it; of currents, and of several
/// right-hand sides, nothing.
std::optional<ChargesOfLevels> charges_of(const SurfaceMesh& mesh,
                                          const ProblemSolution& solution) {
  if (solution.problem.conducts() || solution.conductors.empty()) return {};
  if (solution.results.size() > 1 && !has_unit_voltages(solution)) return {};
  ChargesOfLevels charges;
  charges.mesh = mesh;
  charges.solution = static_cast<const ConductorSolution&>(solution);  // what fields need
  charges.charges = solution.results.empty() ? conductor_charges(mesh, solution)[0]
                                             : solution.results[0].conductor_flux;
  return charges;
}

}  // namespace

ExitCode run_field_from(Context& context, const FieldFromOptions& options) {
  Console& console = context.console;
  console.set_quiet(options.output.quiet);
  ReportTarget target(console, options.output.json);
  PointOutput points(options.field, options.file, options.picture, context.is_repeated);
  points.require_points();
  std::vector<std::pair<std::string, std::string>> inputs = points.inputs();
  inputs.emplace_back("solution", options.solution);
  auto outputs = points.outputs();
  outputs.emplace_back("--json", options.output.json);
  refuse_overwriting(outputs, inputs);
  const int threads = options.threads.value_or(default_threads());
  set_threads(threads);

  const Timer total;
  const KeptSolution kept = load_solution(options.solution);
  Json report = continued_report("field", context.arguments, kept.report, options.solution);
  for (const auto& [what, file] : inputs) report["run"]["inputs"].push_back(fingerprint(file));
  add_surroundings(report["run"], threads, false);
  ProblemSolution solution = checked(at_voltages(options, kept.solution), options.solution);
  if (options.processor == Processor::gpu) require_cuda_device();
  if (options.processor)
    solution.op.processor = *options.processor;
  else if (report["backend"] == "cuda" && !cuda_devices().empty())
    solution.op.processor = Processor::gpu;
  console.print("solution  " + options.solution + ": " + kept.mesh.file + ", " +
                counted(kept.mesh.triangles.size(), "panel"));
  Json results = Json::object();
  if (const auto charges = charges_of(kept.mesh, solution)) {
    console.print_result(charges_text(*charges));
    results = charges_json(*charges);
  }
  const Timer timer;
  results.update(points.put_out(console, report, kept.mesh, solution));
  report["timings_s"]["stages"]["field"] = timer.seconds();
  report["timings_s"]["total"] = total.seconds();
  report["memory_bytes"] = peak_memory();
  report["results"] = std::move(results);
  const bool converged = report["status"] == "solved";
  if (!converged)
    warn(console, report,
         "the solution in " + options.solution + " had not converged when it was kept");
  target.write(report);
  points.draw(console);
  return converged ? ExitCode::solved : ExitCode::not_converged;
}

void refuse_options_of_solves(const CLI::App& app, const Arguments& arguments) {
  static const std::set<std::string> taken{
      "--from",    "--points",  "--line",  "--plane",           "--box",
      "--cut",     "--voltage", "--side",  "--field-tolerance", "--output",
      "--picture", "--json",    "--quiet", "--threads",         "--backend"};
  for (const CLI::Option* option : app.get_options())
    FMBEM_REQUIRE(option->count() == 0 || taken.count(option->get_name()) > 0,
                  "--from takes a solution that is there: leave out " << option->get_name());
  FMBEM_REQUIRE(arguments.petsc.empty(),
                "--from takes a solution that is there: leave out " << arguments.petsc.front());
}

}  // namespace fmbem::cli
