#include <algorithm>
#include <array>
#include <cmath>
#include <iomanip>
#include <memory>
#include <sstream>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/nbody_options.hpp"
#include "cli/picture_options.hpp"
#include "cli/provenance.hpp"
#include "cli/report.hpp"
#include "fmbem/cuda/fmm_plan.hpp"
#include "fmbem/fmm/base/machine.hpp"
#include "fmbem/fmm/base/timer.hpp"
#include "fmbem/fmm/choice/policy.hpp"
#include "fmbem/fmm/operations.hpp"
#include "fmbem/fmm/sampled_errors.hpp"
#include "fmbem/meshes/npy_file.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/meshes/write_points.hpp"

namespace fmbem::cli {
namespace {

/// Results, and what the fastest evaluation took. On a GPU stages are of one more evaluation, in
/// which they go one after the other.
struct Evaluation {
  std::vector<double> potential;
  std::vector<Vec3d> gradient;
  double seconds = 0;
  fmm::Seconds stages;
};

Evaluation evaluate(const fmm::Plan& plan, const Bodies& bodies, const NbodyOptions& options) {
  const std::size_t n = bodies.points.size();
  Evaluation result;
  result.potential.resize(n);
  result.gradient.resize(options.potential_only ? 0 : n);
  for (int k = 0; k < options.repeats; ++k) {
    const Timer timer;
    plan.evaluate({.charges = bodies.charges}, {result.potential, result.gradient});
    const double seconds = timer.seconds();
    if (k > 0 && seconds >= result.seconds) continue;
    result.seconds = seconds;
    result.stages = plan.evaluate_seconds();
  }
  if (options.backend == Processor::gpu) {
    plan.evaluate_stages({.charges = bodies.charges}, {result.potential, result.gradient});
    result.stages = plan.evaluate_seconds();
  }
  return result;
}

std::vector<PointField> fields_of(const Bodies& bodies, const Evaluation& evaluation) {
  std::vector<PointField> fields{{"charge", "", bodies.charges},
                                 {"potential", "", evaluation.potential}};
  if (evaluation.gradient.empty()) return fields;
  PointField force{"force", "", {}, 3};
  for (const Vec3d& g : evaluation.gradient)
    force.values.insert(force.values.end(), {-g.x, -g.y, -g.z});
  fields.push_back(std::move(force));
  return fields;
}

void write(const std::string& path, const Bodies& bodies, const Evaluation& evaluation) {
  if (!path.ends_with(".npy"))
    return write_points(path, scattered_points(bodies.points), "", fields_of(bodies, evaluation));
  const std::size_t n = bodies.points.size(), columns = evaluation.gradient.empty() ? 1 : 4;
  NpyFile file = NpyFile::of<double>(path, {n, columns});
  for (std::size_t i = 0; i < n; ++i) {
    std::array<double, 4> row{evaluation.potential[i]};
    if (columns == 4)
      for (int axis = 0; axis < 3; ++axis) row[axis + 1] = -evaluation.gradient[i][axis];
    file.write(std::span<const double>(row.data(), columns));
  }
  file.close();
  file.commit();
}

/// Says where results are not finite, as those of points whose distance has no finite inverse.
void warn_of_infinite(Console& console, Json& report, const Bodies& bodies,
                      const Evaluation& evaluation) {
  std::size_t count = 0, first = 0;
  for (std::size_t i = bodies.points.size(); i-- > 0;) {
    const Vec3d force = evaluation.gradient.empty() ? Vec3d{} : evaluation.gradient[i];
    if (std::isfinite(evaluation.potential[i]) && std::isfinite(force.x) &&
        std::isfinite(force.y) && std::isfinite(force.z))
      continue;
    ++count;
    first = i;
  }
  if (count > 0)
    warn(console, report,
         "potentials or forces of " + counted(count, "point") +
             " are not finite, and inf or nan is written, the first at " +
             place(bodies.points[first]) +
             ": points are too close to each other, or numbers too "
             "large");
}

/// Gflop/s of the stages that have operations counted, as they are of Laplace's kernel.
Json rates_of(const fmm::PlanInfo& info, const Evaluation& evaluation,
              const NbodyOptions& options) {
  Json rates = Json::object();
  if (options.plan.kappa > 0) return rates;
  for (const auto& [stage, operations] :
       fmm::plan_operations(info, !options.potential_only, true, options.backend)) {
    const auto timed = evaluation.stages.find(stage);
    if (timed != evaluation.stages.end() && timed->second > 0)
      rates[stage] = 1e-9 * operations / timed->second;
  }
  return rates;
}

const char* name_of(fmm::Expansion expansion) {
  return expansion == fmm::Expansion::cartesian ? "cartesian" : "spherical";
}

Json error_json(const std::optional<double>& error) { return error ? Json(*error) : Json(); }

Json report_of(const fmm::Plan& plan, const Evaluation& evaluation,
               const fmm::SampledErrors& errors, const NbodyOptions& options, double plan_seconds) {
  const fmm::PlanInfo info = plan.info();
  const bool tree = info.method != fmm::Method::direct,
             has_theta = info.method == fmm::Method::treecode || info.method == fmm::Method::hybrid;
  Json json{{"points", plan.targets()},
            {"method", fmm::name_of(info.method)},
            {"backend", options.backend == Processor::gpu ? "cuda" : "cpu"},
            {"precision", info.precision == Precision::single_precision ? "single" : "double"},
            {"order", tree ? Json(info.order) : Json()},
            {"kappa", options.plan.kappa},
            {"theta", has_theta ? Json(options.plan.theta.value_or(fmm::default_theta(info.method)))
                                : Json()},
            {"expansion", has_theta ? Json(name_of(info.expansion)) : Json()},
            {"leaf", tree ? Json(info.max_leaf) : Json()},
            {"levels", info.levels},
            {"near_pairs", info.near_pairs},
            {"m2p_pairs", info.m2p_pairs},
            {"p2l_pairs", info.p2l_pairs},
            {"m2l_rows", info.m2l_rows},
            {"m2l_pairs", info.m2l_pairs},
            {"plan_s", plan_seconds},
            {"evaluate_s", evaluation.seconds},
            {"stages_s", evaluation.stages},
            {"gflops", rates_of(info, evaluation, options)},
            {"checked_targets", errors.targets},
            {"potential_error", error_json(errors.potential)},
            {"force_error", error_json(errors.gradient)}};
  return json;
}

std::string summary(const Json& nbody, bool has_force) {
  std::ostringstream out;
  out << std::setprecision(3);
  out << nbody["points"].get<std::size_t>() << " points by " << nbody["method"].get<std::string>();
  if (!nbody["order"].is_null()) out << ", order " << nbody["order"];
  if (nbody["kappa"] != 0) out << ", kappa " << nbody["kappa"].get<double>();
  if (!nbody["theta"].is_null()) out << ", theta " << nbody["theta"];
  if (!nbody["leaf"].is_null()) out << ", leaves of " << nbody["leaf"];
  out << ", " << nbody["precision"].get<std::string>() << " precision\n";
  const auto line = [&](const std::string& name) -> std::ostream& {
    return out << std::left << std::setw(20) << name;
  };
  line("plan") << nbody["plan_s"].get<double>() << " s\n";
  line("evaluation") << nbody["evaluate_s"].get<double>() << " s\n";
  for (const auto& [stage, seconds] : nbody["stages_s"].items()) {
    line("  " + stage) << seconds.get<double>() << " s";
    if (nbody["gflops"].contains(stage))
      out << ", " << nbody["gflops"][stage].get<double>() << " Gflop/s";
    out << '\n';
  }
  line("pairs") << nbody["near_pairs"].get<double>() << '\n';
  if (nbody["m2p_pairs"] != 0) line("boxes on points") << nbody["m2p_pairs"].get<double>() << '\n';
  if (nbody["p2l_pairs"] != 0) line("points on boxes") << nbody["p2l_pairs"].get<double>() << '\n';
  for (const char* what : {"potential", "force"}) {
    const Json& error = nbody[std::string(what) + "_error"];
    if (!error.is_null())
      line(std::string("error of ") + what)
          << error.get<double>() << ", at " << nbody["checked_targets"] << " points\n";
    else if (nbody["checked_targets"] > 0 && (has_force || what == std::string("potential")))
      line(std::string("error of ") + what) << "not known: all is zero, or not all is finite\n";
  }
  return out.str();
}

ExitCode run(Context& context, const NbodyOptions& options) {
  Console& console = context.console;
  console.set_quiet(options.output.quiet);
  check_nbody_options(options);
  ReportTarget target(console, options.output.json);
  set_threads(options.threads.value_or(default_threads()));
  std::vector<std::pair<std::string, std::string>> inputs;
  if (!parse_number(options.points)) inputs.emplace_back("points", options.points);
  refuse_overwriting(
      {{"--output", options.file}, {"--picture", options.picture}, {"--json", options.output.json}},
      inputs);
  const Bodies bodies = read_bodies(options);
  fmm::PlanOptions how = options.plan;
  how.gradient = !options.potential_only;
  console.begin_phase("making the plan");
  const Timer timer;
  const fmm::Plan plan = options.backend == Processor::gpu ? cuda::make_fmm_plan(bodies.points, how)
                                                           : fmm::Plan(bodies.points, how);
  const double plan_seconds = timer.seconds();
  console.begin_phase("evaluating");
  Evaluation evaluation = evaluate(plan, bodies, options);
  console.begin_phase("checking");
  const fmm::SampledErrors errors = fmm::sampled_errors(
      bodies.points, bodies.charges, {evaluation.potential, evaluation.gradient},
      static_cast<std::size_t>(options.check), how.kappa, how.softening);
  const Json nbody = report_of(plan, evaluation, errors, options, plan_seconds);
  console.print_result(summary(nbody, !options.potential_only));
  Json report = start_report("nbody", context.arguments);
  warn_of_infinite(console, report, bodies, evaluation);
  if (options.file) {
    write(*options.file, bodies, evaluation);
    console.print_wrote(*options.file);
  }
  for (const auto& [what, file] : inputs) report["run"]["inputs"].push_back(fingerprint(file));
  report["nbody"] = nbody;
  target.write(report);
  draw_result(console, options.picture, [&](const std::string& path) {
    return write_vtk_points(path, VtkFormat::vtu, scattered_points(bodies.points), "",
                            fields_of(bodies, evaluation), {});
  });
  return ExitCode::solved;
}

}  // namespace

Command add_nbody(CLI::App& program) {
  auto options = std::make_shared<NbodyOptions>();
  CLI::App* app = program.add_subcommand(
      "nbody", "Potentials and forces of points: direct sum, treecode, FMM, hybrid");
  app->footer(
      "Examples:\n  fmbem nbody --points 1e5 --distribution plummer --tolerance 1e-4"
      "\n  fmbem nbody --points 20000 --method treecode --theta 0.6 --order 6"
      "\nThe potential of charges q is the sum of q/(4 pi r), the force on a unit charge minus its "
      "gradient;\nwith --kappa K the potential is the sum of q exp(-K r)/(4 pi r). Points that "
      "coincide do not act\non each other.");
  add_nbody_options(*app, *options);
  return {app, [options](Context& context) { return run(context, *options); }};
}

}  // namespace fmbem::cli
