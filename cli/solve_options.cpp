#include "cli/solve_options.hpp"

#include <cmath>
#include <iomanip>
#include <sstream>
#include <vector>

#include "cli/common_options.hpp"
#include "fmbem/cuda/device.hpp"
#include "fmbem/fmm/base/error.hpp"

namespace fmbem::cli {
namespace {

using Choice = OperatorOptions::Choice;
using NearField = OperatorOptions::NearField;

/// GROUP,GROUP; within double quotes a comma is part of a group's name, and so is a doubled quote.
std::vector<std::string> parse_groups(const std::string& text) {
  std::vector<std::string> groups(1);
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quoted && text.substr(i, 2) == "\"\"")
      groups.back() += text[i++];
    else if (text[i] == '"')
      quoted = !quoted;
    else if (text[i] == ',' && !quoted)
      groups.emplace_back();
    else
      groups.back() += text[i];
  }
  FMBEM_REQUIRE(!quoted, "--conductor has an opening quote without a closing one in " << text);
  return groups;
}

/// NAME=GROUP,GROUP
Conductor parse_conductor(const std::string& text) {
  const std::size_t equals = text.find('=');
  FMBEM_REQUIRE(equals != std::string::npos && equals > 0 && equals + 1 < text.size(),
                "--conductor takes NAME=GROUP,GROUP, not \"" << text << "\"");
  return {text.substr(0, equals), parse_groups(text.substr(equals + 1))};
}

bool sets_the_fmm(const OperatorOptions& op) { return op.order || op.max_leaf || op.overhang; }

void add_operator_options(CLI::App& app, OperatorOptions& op) {
  app.add_option_function<double>(
      "--operator-tolerance",
      [&op](double tolerance) {
        FMBEM_REQUIRE(tolerance >= 1e-15 && tolerance <= 0.5,
                      "--operator-tolerance must be between 1e-15 and 0.5, not " << tolerance);
        op.tolerance = tolerance;
      },
      "relative error of the operator (default: a tenth of the solver's tolerance)");
  add_choice(app, "--operator", op.kind,
             {{"auto", Choice::automatic}, {"fmm", Choice::fmm}, {"dense", Choice::dense}},
             "how V is applied; auto: dense where that is faster");
  app.add_option("--order", op.order,
                 "degree of the FMM's expansions, 1 to 40 (default: by the operator's tolerance)")
      ->type_name("P");
  app.add_option("--max-leaf", op.max_leaf,
                 "panels in a leaf of the FMM's tree, at most (default: what is fastest)")
      ->type_name("N");
  app.add_option(
         "--overhang", op.overhang,
         "how far panels may stick out of their boxes in the FMM, in sides of the box, more "
         "than 0, up to 0.5 (default: 0.2, or 0.1 on lines and few panels); this, --order and "
         "--max-leaf ask for the FMM")
      ->type_name("X");
  add_choice(app, "--backend", op.processor,
             {{"auto", std::nullopt}, {"cpu", Processor::cpu}, {"cuda", Processor::gpu}},
             "where V is applied; auto: a GPU where there is one, but for few panels");
  add_choice(
      app, "--near-field", op.near_field,
      {{"auto", NearField::automatic}, {"stored", NearField::stored}, {"lean", NearField::lean}},
      "on a GPU: stored entries, or lean: integrated in every product, for meshes that "
      "would not fit; auto: stored where there is room");
  add_choice(app, "--precision", op.precision,
             {{"auto", std::nullopt},
              {"double", Precision::double_precision},
              {"single", Precision::single_precision}},
             "of stored entries; auto: by the tolerance");
}

}  // namespace

void add_conductor_option(CLI::App& app, SolveOptions& options) {
  ConductorOptions& problem = options.problem;
  app.add_option_function<std::vector<std::string>>(
         "--conductor",
         [&problem](const std::vector<std::string>& texts) {
           for (const std::string& text : texts)
             problem.conductors.push_back(parse_conductor(text));
         },
         "join groups to one conductor; every other group is one by itself. A name with a "
         "comma stands in double quotes")
      ->type_name("NAME=GROUP,...")
      ->allow_extra_args(false);
}

void add_solve_options(CLI::App& app, SolveOptions& options) {
  ConductorOptions& problem = options.problem;
  app.add_option("--tolerance", problem.solver.tolerance,
                 "relative residual of the solve, 1e-13 to 0.5; -ksp_rtol takes its place")
      ->capture_default_str();
  add_operator_options(app, problem.op);
  app.add_option("--threads", options.threads, "default: the cores that the process may use");
}

void check_operator_options(const OperatorOptions& op) {
  const bool dense = op.kind == Choice::dense;
  FMBEM_REQUIRE(!dense || !sets_the_fmm(op),
                "the dense operator has no --order, --max-leaf and --overhang: leave them out, or "
                "use --operator fmm");
  if (op.processor == Processor::gpu) {
    require_cuda_device();
    FMBEM_REQUIRE(!dense,
                  "the dense operator runs on the CPU: use --backend cpu, or --operator fmm");
  }
  if (op.near_field == NearField::lean) {
    FMBEM_REQUIRE(op.processor != Processor::cpu && !dense,
                  "--near-field lean is for the FMM on a GPU: leave it out on the CPU");
    require_cuda_device();
  }
}

ConductorOptions conductor_options(const SolveOptions& options, Console& console) {
  ConductorOptions result = options.problem;
  if (sets_the_fmm(result.op)) result.op.kind = Choice::fmm;  // whatever is faster
  if (result.op.near_field == NearField::lean) result.op.processor = Processor::gpu;  // the same
  result.op.progress = [&console](double fraction) {
    console.progress("assembling V, " + std::to_string(int(100 * fraction)) + " %", fraction);
  };
  const double log_tolerance = std::log(result.solver.tolerance);
  result.solver.monitor = [&console, log_tolerance](int iteration, double residual) {
    std::ostringstream line;
    line << "solving, iteration " << iteration << ", residual " << std::setprecision(2) << residual;
    // Residuals fall by the same factor in each iteration, more or less.
    console.progress(line.str(), residual < 1 ? std::log(residual) / log_tolerance : 0);
  };
  return result;
}

}  // namespace fmbem::cli
