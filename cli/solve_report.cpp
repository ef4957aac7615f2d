#include "cli/solve_report.hpp"

#include <algorithm>
#include <iomanip>
#include <sstream>

#include "cli/layout.hpp"
#include "fmbem/cuda/device.hpp"
#include "fmbem/fmm/base/machine.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem::cli {
namespace {

std::string precision_name(Precision precision) {
  return precision == Precision::single_precision ? "single" : "double";
}

Json operators_json(const LayerSolution& solution) {
  const OperatorInfo& op = solution.op;
  const bool dense = op.kind == OperatorKind::dense;
  Json json{{"name", op.name},
            {"kind", dense ? "dense" : "fmm"},
            {"leaves", solution.leaves},
            {"memory_bytes", op.memory_bytes}};
  if (!dense) {
    json["order"] = op.order;
    json["levels"] = op.levels;
    json["max_leaf"] = op.max_leaf;
    json["inflation"] = op.inflation;
    json["near_entries"] = op.near_entries;
    json["far_precision"] = precision_name(op.far_precision);
    json["near_field"] = op.near_field_stored ? "stored" : "lean";
    json["setup_s"] = op.setup_seconds;
    json["product_s"] = op.product_seconds;
  }
  return Json::array({json});
}

Json solver_json(const LayerSolution& solution) {
  const KrylovChoice& krylov = solution.krylov;
  Json json{{"ksp", krylov.type},
            {"restart", krylov.restart > 0 ? Json(krylov.restart) : Json(nullptr)},
            {"side", krylov.side},
            {"norm", krylov.norm},
            {"pc", solution.pc_type},
            {"pc_bytes", solution.preconditioner_bytes},
            {"iterations", Json::array()},
            {"reasons", Json::array()},
            {"relative_residuals", Json::array()},
            {"true_residuals", Json::array()},
            {"conditions", Json::array()},
            {"history", Json::array()},
            {"refinements", Json::array()}};
  for (const SolveReport& solve : solution.solves) {
    json["iterations"].push_back(solve.iterations);
    json["reasons"].push_back(solve.reason);
    json["relative_residuals"].push_back(number(solve.relative_residual));
    json["true_residuals"].push_back(number(solve.true_residual));
    json["conditions"].push_back(number(solve.condition));
    Json history = Json::array();
    for (const double residual : solve.history) history.push_back(number(residual));
    json["history"].push_back(history);
    Json refinements = Json::array();
    for (const RefinementStep& step : solve.refinements)
      refinements.push_back({{"iterations", step.iterations},
                             {"product_tolerance", step.product_tolerance},
                             {"true_residual", number(step.true_residual)}});
    json["refinements"].push_back(refinements);
  }
  return json;
}

/// Boxes of the first groups that the file has no names for, to tell them apart.
std::string unnamed_groups(const SurfaceMesh& mesh, const MeshReport& check) {
  constexpr std::size_t most = 20;
  std::string text;
  std::size_t listed = 0;
  if (mesh.groups.size() < 2) return text;
  for (std::size_t g = 0; g < mesh.groups.size() && listed < most; ++g) {
    if (mesh.groups[g].named) continue;
    text += "\n          " + group_text(check.groups[g], mesh.unit);
    ++listed;
  }
  return text + (listed < most ? "" : "\n          and more: see fmbem mesh-info");
}

/// PETSc's preconditioners know the blocks of the leaves alone.
std::string preconditioner_text(const LayerSolution& solution) {
  if (solution.pc_type == "none") return "not preconditioned";
  const bool is_own = solution.pc_type.find("inverse") != std::string::npos;
  std::string text = "preconditioned by " + (is_own ? "the " : std::string()) + solution.pc_type;
  if (!is_own) text += " of the blocks of " + counted(solution.leaves, "leaf", "leaves");
  return text;
}

}  // namespace

std::string problem_text(const LayerSolution& solution, const SurfaceMesh& mesh,
                         const MeshReport& check, int threads) {
  const OperatorInfo& op = solution.op;
  const bool dense = op.kind == OperatorKind::dense;
  std::ostringstream out;
  out << "mesh      " << mesh.file << ": " << mesh.triangles.size() << " panels, area "
      << check.area << ' ' << mesh.unit << "^2, " << (mesh.closed ? "closed" : "open") << ", unit "
      << mesh.unit;
  if (!mesh.sizes.empty()) out << "\nsizes     " << sizes_text(mesh);
  const std::string stored = precision_name(op.precision) + " precision";
  out << unnamed_groups(mesh, check) << "\noperator  " << op.name
      << (dense ? " as a dense matrix in " + stored : " by the FMM") << ", " << std::setprecision(3)
      << bytes_text(op.memory_bytes) << ", ";
  if (op.processor == Processor::gpu)
    out << "cuda on " << cuda_devices().front().name;
  else
    out << "cpu with " << threads << (threads == 1 ? " thread" : " threads");
  if (!dense)
    out << "\n          expansions of order " << op.order << " in "
        << precision_name(op.far_precision) << " precision, " << op.levels << " levels; "
        << double(op.near_entries) / double(mesh.triangles.size()) << " near entries a row, "
        << (op.near_field_stored ? "stored in " + stored : "integrated in every product");
  return out.str();
}

std::string solver_text(const LayerSolution& solution, const std::vector<std::string>& problems) {
  std::ostringstream out;
  out << "solver    " << solution.krylov.type << ", " << preconditioner_text(solution);
  out << ", tolerance " << solution.solver_tolerance;
  for (std::size_t j = 0; j < solution.solves.size(); ++j) {
    const SolveReport& solve = solution.solves[j];
    out << "\n          " << printable(problems[j]) << ": "
        << counted(static_cast<std::size_t>(solve.iterations), "iteration");
    if (!solve.refinements.empty()) {
      out << ", refined in " << solve.refinements.size()
          << (solve.refinements.size() == 1 ? " step of" : " steps of");
      for (const RefinementStep& step : solve.refinements) out << ' ' << step.iterations;
      out << " (condition " << std::setprecision(2) << solve.condition << std::setprecision(6)
          << ")";
    }
    out << ", true residual " << std::setprecision(2) << solve.true_residual << std::setprecision(6)
        << ", " << (solve.converged ? "converged" : "NOT CONVERGED") << " (" << solve.reason << ")";
  }
  return out.str();
}

void warn_of_solves(Console& console, Json& report, const LayerSolution& solution,
                    const std::vector<std::string>& problems) {
  for (std::size_t j = 0; j < solution.solves.size(); ++j) {
    const SolveReport& solve = solution.solves[j];
    const bool out_of_reach = solve.attainable_residual > 0;
    if (solve.converged && !out_of_reach) continue;
    std::ostringstream sentence;
    sentence << "the solve for " << problems[j]
             << (solve.converged ? " converged (" : " did not converge (") << solve.reason
             << ", true residual " << std::setprecision(2) << solve.true_residual << ")";
    // A residual below that may have come out by chance, of products that are not so accurate.
    if (out_of_reach)
      sentence << ": charges cancel so far that products know residuals to "
               << solve.attainable_residual << " only";
    if (out_of_reach && !solve.converged)
      sentence << ", so that no more than a residual of " << solve.attainable_residual
               << " can be attained for sure: loosen --tolerance to that";
    warn(console, report, sentence.str());
  }
  if (std::any_of(solution.solves.begin(), solution.solves.end(),
                  [](const SolveReport& solve) { return !solve.accurate_residual; }))
    warn(console, report,
         "there was no memory for the accurate product: the true residuals are those of the "
         "operator "
         "itself, which are accurate to its own tolerance only");
}

std::string no_estimate(bool is_one_level) {
  return std::string(is_one_level ? "without --refine " : "") +
         "there is no estimate of the discretization error";
}

void warn_of_coarser_level(Console& console, Json& report) {
  warn(console, report,
       "a solve on a coarser mesh did not converge: there is no estimate of the discretization "
       "error");
}

Json level_json(std::size_t panels, const LayerSolution& solution) {
  return {{"panels", panels},
          {"operators", operators_json(solution)},
          {"solver", solver_json(solution)},
          {"timings_s",
           {{"setup", solution.setup_seconds},
            {"solve", solution.solve_seconds},
            {"product_median", solution.product_median_seconds}}}};
}

std::string level_text(std::size_t panels, const LayerSolution& solution) {
  std::size_t iterations = 0;
  for (const SolveReport& solve : solution.solves)
    iterations = std::max(iterations, static_cast<std::size_t>(solve.iterations));
  std::ostringstream out;
  out << counted(panels, "panel") << ": " << counted(iterations, "iteration")
      << std::setprecision(2) << ", setup " << solution.setup_seconds << " s, solve "
      << solution.solve_seconds << " s";
  return out.str();
}

void add_conductors(Json& report, const ConductorSolution& solution) {
  Json conductors = Json::array();
  for (const Conductor& c : solution.conductors)
    conductors.push_back({{"name", c.name}, {"groups", c.groups}});
  report["conductors"] = conductors;
}

void add_solution(Json& report, const LayerSolution& solution, const SurfaceMesh& mesh,
                  const MeshReport& check) {
  report["mesh"] = mesh_summary(mesh, check);
  report["backend"] = solution.op.processor == Processor::gpu ? "cuda" : "cpu";
  report["precision"] = precision_name(solution.op.precision);
  report["tolerance"] = {{"solver", solution.solver_tolerance},
                         {"operator", solution.operator_tolerance}};
  report["operators"] = operators_json(solution);
  report["solver"] = solver_json(solution);
}

void account(Console& console, Json& report, const LayerSolution& solution,
             const Seconds& seconds) {
  Json stages{{"assembly", solution.assembly_seconds},
              {"preconditioner", solution.preconditioner_seconds}};
  std::ostringstream line;
  line << std::setprecision(3) << "\ntime      " << seconds.total << " s: mesh " << seconds.mesh
       << ", setup " << solution.setup_seconds << ", solve " << solution.solve_seconds
       << " (product " << solution.product_median_seconds << ")";
  if (seconds.field) {
    stages["field"] = *seconds.field;
    line << ", field " << *seconds.field;
  }
  line << "; memory " << bytes_text(peak_memory());
  if (solution.op.processor == Processor::gpu) {
    line << ", of the GPU " << bytes_text(solution.device_bytes);
    report["device_memory_bytes"] = solution.device_bytes;
  }
  report["timings_s"] = {{"mesh", seconds.mesh},
                         {"setup", solution.setup_seconds},
                         {"solve", solution.solve_seconds},
                         {"total", seconds.total},
                         {"product_median", solution.product_median_seconds},
                         {"stages", stages}};
  report["memory_bytes"] = peak_memory();
  console.print(line.str());
}

}  // namespace fmbem::cli
