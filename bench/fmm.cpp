// Prints the tables of docs/performance.md on the fast multipole method: times, measured errors and
// rates for every combination of points, distributions and tolerances (--help tells of the
// options).
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/fmm_problem.hpp"
#include "bench/fmm_run.hpp"
#include "bench/main.hpp"
#include "fmbem/cuda/device.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/machine.hpp"
#include "fmbem/fmm/base/processor.hpp"
#include "fmbem/fmm/choice/cost.hpp"
#include "fmbem/fmm/choice/rates.hpp"
#include "fmbem/fmm/cpu/kernels.hpp"
#include "fmbem/fmm/expansion/m2l_blocks.hpp"
#include "fmbem/fmm/operations.hpp"
#include "fmbem/fmm/plan.hpp"
#include "fmbem/meshes/output_file.hpp"
#include "fmbem/meshes/read_file.hpp"
#include "fmbem/meshes/text.hpp"
#include "tests/unit/points.hpp"

using namespace fmbem;
using bench::Errors;
using bench::Evaluation;
using bench::Problem;
using bench::Reference;
using bench::Results;
using Json = nlohmann::ordered_json;

namespace {

/// The gathers of M2L are a stage of their own on the GPU.
constexpr std::array<const char*, 10> all_stages{"P2M", "M2M", "gather", "M2L", "L2L",
                                                 "L2P", "P2P", "M2P",    "P2L", "sort"};

// ---- Options

struct Options {
  std::optional<std::string> points;  // lists, split at commas
  std::string distributions = "cube", tolerances = "1e-6", kappas = "0";
  std::string outputs = "potential", precision = "auto", backend = "cpu", method = "fmm",
              construction = "sort", third_law = "auto";
  std::optional<std::string> json;
  std::optional<std::string> max_leaves;
  std::optional<int> threads, order;
  std::optional<double> inflation, theta;
  std::optional<std::int64_t> targets;
  int plans = 1, repeat = 3, check = 1000;
  std::int64_t seed = 1;

  bool potential() const { return outputs != "gradient"; }
  bool gradient() const { return outputs != "potential"; }
  Processor processor() const { return backend == "cuda" ? Processor::gpu : Processor::cpu; }
  bool hessian() const { return outputs == "all"; }
  bench::Outputs computed() const { return {potential(), gradient(), hessian()}; }
  fmm::PlanOptions plan_options(double for_tolerance, double kappa,
                                std::optional<int> max_leaf) const {
    fmm::PlanOptions options;
    options.tolerance = for_tolerance;
    options.kappa = kappa;
    if (precision == "single") options.precision = Precision::single_precision;
    if (precision == "double") options.precision = Precision::double_precision;
    options.gradient = gradient();
    options.hessian = hessian();
    options.order = order;
    options.max_leaf = max_leaf;
    options.inflation = inflation;
    if (construction == "histogram") options.construction = fmm::Construction::histogram;
    if (third_law == "on") options.third_law = fmm::ThirdLaw::always;
    if (third_law == "off") options.third_law = fmm::ThirdLaw::never;
    for (const fmm::MethodName& known : fmm::method_names)
      if (method == known.name) options.method = known.method;
    options.theta = theta;
    return options;
  }
  std::vector<const char*> stages() const {
    std::vector<const char*> names(all_stages.begin(), all_stages.end());
    if (backend == "cpu") std::erase(names, all_stages[2]);
    return names;
  }
};

void add_options(CLI::App& app, Options& o) {
  app.add_option("--points", o.points, "how many points (default 100000; a file has its own)")
      ->type_name("N,...");
  app.add_option("--distribution", o.distributions,
                 "cube, sphere, plummer, ellipsoid or a file FILE.xyz with lines x y z [q]")
      ->type_name("NAME,...")
      ->capture_default_str();
  app.add_option("--targets", o.targets,
                 "the first so many points alone are targets (default: all are); direct sums of "
                 "many points are timed so")
      ->type_name("M");
  app.add_option("--tolerance", o.tolerances, "relative L2 error that the plan is to meet")
      ->type_name("E,...")
      ->capture_default_str();
  app.add_option("--outputs", o.outputs, "what is computed (all: second derivatives, too)")
      ->capture_default_str()
      ->check(CLI::IsMember({"potential", "gradient", "both", "all"}));
  app.add_option("--precision", o.precision,
                 "what the plan computes in (auto: single where the tolerance allows it)")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "double", "single"}));
  app.add_option("--backend", o.backend, "where it computes")
      ->capture_default_str()
      ->check(CLI::IsMember({"cpu", "cuda"}));
  std::vector<std::string> methods;
  for (const fmm::MethodName& known : fmm::method_names) methods.push_back(known.name);
  app.add_option("--method", o.method, "how the sums are done")
      ->capture_default_str()
      ->check(CLI::IsMember(methods));
  app.add_option("--theta", o.theta, "of a treecode or a hybrid (default: the method's)");
  app.add_option("--threads", o.threads, "default: the cores that the process may use");
  app.add_option("--plans", o.plans, "plans that are made, of which the fastest is reported")
      ->capture_default_str();
  app.add_option(
         "--repeat", o.repeat,
         "evaluations, of which the median is reported; 0, with --check 0, makes plans alone")
      ->capture_default_str();
  app.add_option("--seed", o.seed, "of points, charges and checked targets")->capture_default_str();
  app.add_option("--order", o.order, "degree of the expansions (default: the plan's choice)");
  app.add_option("--max-leaf", o.max_leaves,
                 "most points of a leaf; the FMM's, in the mean of a box and its colleagues "
                 "(default: the plan's choice)")
      ->type_name("N,...");
  app.add_option("--construction", o.construction, "of the tree: sort or histogram")
      ->check(CLI::IsMember({"sort", "histogram"}));
  app.add_option("--third-law", o.third_law,
                 "each pair of leaves once on a GPU: auto, on or off (auto: as measured)")
      ->check(CLI::IsMember({"auto", "on", "off"}));
  app.add_option("--inflation", o.inflation,
                 "side of the root over the bounding cube's (default: the plan's choice)");
  app.add_option(
         "--kappa", o.kappas,
         "of Yukawa's kernel exp(-kappa r)/(4 pi r), over the side of the points' cube; 0 is "
         "Laplace's")
      ->type_name("K,...")
      ->capture_default_str();
  app.add_option("--check", o.check, "targets of the direct sum; 0 measures no errors")
      ->capture_default_str();
  app.add_option("--json", o.json,
                 "write the rows, to standard output if FILE is - (and the table to the error "
                 "output)")
      ->type_name("FILE");
}

std::vector<std::string> split(const std::string& list, const char* option) {
  std::vector<std::string> words;
  for (std::size_t start = 0; start <= list.size();) {
    const std::size_t end = std::min(list.find(',', start), list.size());
    FMBEM_REQUIRE(end > start, option << " has an empty entry: \"" << list << "\"");
    words.push_back(list.substr(start, end - start));
    start = end + 1;
  }
  FMBEM_REQUIRE(!words.empty(), option << " has an empty entry: \"\"");
  return words;
}

std::vector<double> numbers(const std::string& list, const char* option) {
  std::vector<double> values;
  for (const std::string& word : split(list, option)) {
    const std::optional<double> value = parse_number(word);
    FMBEM_REQUIRE(value, option << " takes finite numbers, not \"" << word << "\"");
    values.push_back(*value);
  }
  return values;
}

std::vector<std::size_t> point_counts(const std::string& list) {
  std::vector<std::size_t> counts;
  for (const double n : numbers(list, "--points")) {
    FMBEM_REQUIRE(n >= 1 && n <= 1e12 && n == std::floor(n),
                  "--points takes whole numbers from 1 to 1e12, not " << n);
    counts.push_back(static_cast<std::size_t>(n));
  }
  return counts;
}

/// None where the plan is to choose.
std::vector<std::optional<int>> leaves_asked_for(const Options& o) {
  if (!o.max_leaves) return {std::nullopt};
  std::vector<std::optional<int>> leaves;
  for (const double leaf : numbers(*o.max_leaves, "--max-leaf")) {
    FMBEM_REQUIRE(leaf >= 1 && leaf <= 1e9 && leaf == std::floor(leaf),
                  "--max-leaf takes whole numbers from 1 to 1e9, not " << leaf);
    leaves.push_back(static_cast<int>(leaf));
  }
  return leaves;
}

bool is_file(const std::string& distribution) { return ending(distribution) == "xyz"; }

/// Refuses bad options before anything is computed.
void check_options(const Options& o) {
  if (o.backend == "cuda") require_cuda_device();
  FMBEM_REQUIRE(o.plans >= 1, "--plans must be at least 1, not " << o.plans);
  FMBEM_REQUIRE(o.repeat >= 1 || (o.repeat == 0 && o.check == 0),
                "--repeat must be at least 1, or 0 with --check 0, not " << o.repeat);
  FMBEM_REQUIRE(!o.targets || *o.targets >= 1,
                "--targets must be at least 1, not " << o.targets.value_or(0));
  FMBEM_REQUIRE(o.check >= 0, "--check must be at least 0, not " << o.check);
  FMBEM_REQUIRE(o.seed >= 0, "--seed must be at least 0, not " << o.seed);
  numbers(o.tolerances, "--tolerance");
  for (const double kappa : numbers(o.kappas, "--kappa"))
    FMBEM_REQUIRE(kappa >= 0, "--kappa must be at least 0, not " << kappa);
  leaves_asked_for(o);
  if (o.points) point_counts(*o.points);
  bool all_files = true;
  for (const std::string& name : split(o.distributions, "--distribution")) {
    all_files = all_files && is_file(name);
    if (!is_file(name)) {
      test::points_by_name(name, 1, o.seed);
      continue;
    }
    check_readable(name);
    std::error_code error;  // of a report that does not exist yet
    FMBEM_REQUIRE(!o.json || !std::filesystem::equivalent(name, *o.json, error),
                  "the report " << *o.json << " would overwrite the points");
  }
  FMBEM_REQUIRE(!o.points || !all_files,
                "--points does not go with " << o.distributions << ": a file has its own points");
  FMBEM_REQUIRE(!o.json || !o.json->empty(), "--json needs the name of a file");
  if (o.json && *o.json != "-") OutputFile probe(*o.json);
}

// ---- Measurements

struct Row {
  std::string distribution;
  std::size_t points, targets;
  int vectors;
  double tolerance, kappa;  ///< the latter over the side of the points' cube
  std::optional<int> asked_leaf;
  fmm::PlanInfo info;
  double plan_seconds;
  fmm::Seconds plan_stages;
  Evaluation evaluation;
  Errors errors;
  std::int64_t peak_memory;

  bool same() const { return targets == points; }
  /// On the CPU.
  double m2l_operations_per_second() const {
    if (info.m2l_rows == 0) return NAN;
    return fmm::m2l_row_operations(info.order, fmm::m2l_orders(same())) *
           static_cast<double>(info.m2l_rows) / evaluation.of_stage("M2L");
  }
  double near_pairs_per_second() const {
    return static_cast<double>(info.near_pairs) / evaluation.of_stage("P2P");
  }
};

/// Times plans and measures the errors of the last one. The reference, which all plans for a
/// problem share, is made after the first plan, so that options that cannot be met are refused
/// before.
Row measure(const Problem& problem, double tolerance, double kappa, std::optional<int> leaf,
            std::optional<Reference>& reference, const Options& o) {
  const double side = test::extent(problem.points), kappa_here = side > 0 ? kappa / side : 0;
  std::unique_ptr<bench::FmmRun> plan;
  double plan_seconds = INFINITY;
  fmm::Seconds plan_stages;
  for (int k = 0; k < o.plans; ++k) {
    plan = bench::make_run(o.backend, problem.points, problem.targets(),
                           o.plan_options(tolerance, kappa_here, leaf));
    if (plan->plan_seconds() >= plan_seconds) continue;
    plan_seconds = plan->plan_seconds();
    plan_stages = plan->plan_stages();
  }
  const std::vector<double> charges = problem.charges(0, 1);
  Results results(problem.targets().size(), o.computed());
  Evaluation evaluation{.seconds = NAN, .stages = {}};
  if (o.repeat > 0) evaluation = plan->median({charges, {}, 1}, results.fields(), o.repeat);
  Row row{.distribution = problem.distribution,
          .points = problem.points.size(),
          .targets = problem.targets().size(),
          .vectors = problem.vectors(),
          .tolerance = tolerance,
          .kappa = kappa,
          .asked_leaf = leaf,
          .info = plan->info(),
          .plan_seconds = plan_seconds,
          .plan_stages = plan_stages,
          .evaluation = evaluation,
          .errors = {},
          .peak_memory = peak_memory()};  // before this row's errors are measured
  if (!reference)
    reference = bench::reference_of(problem, o.computed(), o.check, o.seed, kappa_here);
  row.errors = bench::measure_errors(*plan, problem, *reference, o.computed());
  return row;
}

// ---- What is printed

/// Decimal digits that mean something; a dash for what is no number.
std::string significant(double x, int digits = 3) {
  if (!std::isfinite(x)) return "–";
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, x);
  return text;
}

std::string megabytes(std::int64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", static_cast<double>(bytes) / 1e6);
  return text;
}

std::string percent(double fraction) {
  return std::isfinite(fraction) ? std::to_string(std::lround(100 * fraction)) + " %" : "–";
}

const char* name_of(Precision precision) {
  return precision == Precision::single_precision ? "single" : "double";
}

using Cells = std::vector<std::string>;

void print_cells(std::FILE* out, const Cells& cells) {
  for (const std::string& cell : cells) std::fprintf(out, "| %s ", cell.c_str());
  std::fprintf(out, "|\n");
  std::fflush(out);
}

void print_header(std::FILE* out, const Cells& titles) {
  print_cells(out, titles);
  for (std::size_t k = 0; k < titles.size(); ++k) std::fprintf(out, "|---");
  std::fprintf(out, "|\n");
}

std::string processor(const Options& o) {
  if (o.backend == "cuda") return cuda_devices().front().name;
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

void print_conditions(std::FILE* out, const Options& o, int threads) {
  const char* outputs = o.outputs == "both"  ? "potential and gradient"
                        : o.outputs == "all" ? "potential, gradient and second derivatives"
                                             : o.outputs.c_str();
  std::fprintf(out,
               "%s (%s), %s, %s, %s, %s%s, seed %lld, median of %s, errors at %s of "
               "direct sums.\n\n",
               processor(o).c_str(), fmm::cpu_kernels<double>().name, o.backend.c_str(),
               counted(threads, "thread").c_str(), outputs,
               o.theta ? ("theta " + decimal(*o.theta)).c_str() : "default theta",
               o.targets ? (", at most " + counted(*o.targets, "target")).c_str() : "",
               static_cast<long long>(o.seed), counted(o.repeat, "evaluation").c_str(),
               counted(o.check, "target").c_str());
}

Cells titles(const Options& o) {
  Cells cells{"points",
              "distribution",
              "method",
              "kappa",
              "tolerance",
              "precision",
              "order",
              "levels",
              "inflation",
              "max leaf",
              "near pairs per target"};
  if (o.potential()) cells.push_back("error of potential");
  if (o.gradient()) cells.push_back("error of gradient");
  if (o.hessian()) cells.push_back("error of second derivatives");
  cells.insert(cells.end(), {"plan s", "evaluate s"});
  for (const char* stage : o.stages()) cells.push_back(stage);
  cells.insert(cells.end(), {"points/s", "memory MB", "operators MB"});
  return cells;
}

Cells cells_of(const Row& row, const Options& o) {
  const double n = static_cast<double>(row.points), m = static_cast<double>(row.targets);
  Cells cells{std::to_string(row.points),
              row.distribution,
              fmm::name_of(row.info.method),
              significant(row.kappa),
              significant(row.tolerance),
              name_of(row.info.precision),
              std::to_string(row.info.order),
              std::to_string(row.info.levels),
              significant(row.info.inflation, 4),
              std::to_string(row.info.max_leaf),
              significant(static_cast<double>(row.info.near_pairs) / m, 4)};
  if (o.potential()) cells.push_back(significant(row.errors.potential.value_or(NAN)));
  if (o.gradient()) cells.push_back(significant(row.errors.gradient.value_or(NAN)));
  if (o.hessian()) cells.push_back(significant(row.errors.hessian.value_or(NAN)));
  cells.push_back(significant(row.plan_seconds));
  cells.push_back(significant(row.evaluation.seconds));
  for (const char* stage : o.stages()) cells.push_back(significant(row.evaluation.of_stage(stage)));
  cells.push_back(significant(n / row.evaluation.seconds));
  cells.push_back(megabytes(row.info.memory_bytes));
  cells.push_back(megabytes(row.info.operator_bytes));
  return cells;
}

/// Rates of near field and M2L over those of their kernels alone on all threads (by the table of
/// fmbem tune), and the share of each stage.
void print_rates(std::FILE* out, const std::vector<Row>& rows, const Options& o, int threads) {
  std::fprintf(out, "\nRates, beside those of the kernels alone (fmbem tune), and shares.\n\n");
  Cells header{"points",        "distribution", "kappa",       "tolerance",
               "near Gpairs/s", "the kernel",   "M2L GFLOP/s", "the kernel"};
  for (const char* stage : o.stages()) header.push_back(stage);
  print_header(out, header);
  for (const Row& row : rows) {
    const fmm::ThreadRates& kernel = fmm::machine_rates().of(row.info.precision);
    const double near = fmm::near_pairs_per_second(
        o.plan_options(row.tolerance, row.kappa, row.asked_leaf), row.same());
    Cells cells{std::to_string(row.points),
                row.distribution,
                significant(row.kappa),
                significant(row.tolerance),
                significant(row.near_pairs_per_second() / 1e9),
                significant(threads * near / 1e9),
                significant(row.m2l_operations_per_second() / 1e9),
                significant(threads * kernel.product_at(row.info.order) / 1e9)};
    for (const char* stage : o.stages())
      cells.push_back(percent(row.evaluation.of_stage(stage) / row.evaluation.seconds));
    print_cells(out, cells);
  }
}

// ---- The report

/// The number, or null where there is none.
Json number(std::optional<double> value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

Json json_of(const Row& row, const Options& o, int threads) {
  Json stage_seconds = Json::object();
  for (const char* stage : o.stages()) stage_seconds[stage] = row.evaluation.of_stage(stage);
  auto operations = fmm::plan_operations(row.info, o.gradient(), row.same(), o.processor());
  if (o.hessian()) operations.erase("P2P");  // which does not count second derivatives
  return {{"points", row.points},
          {"targets", row.targets},
          {"distribution", row.distribution},
          {"method", fmm::name_of(row.info.method)},
          {"tolerance", row.tolerance},
          {"outputs", o.outputs},
          {"kappa", row.kappa},
          {"theta", number(o.theta)},
          {"precision", name_of(row.info.precision)},
          {"backend", o.backend},
          {"threads", threads},
          {"seed", o.seed},
          {"construction", o.construction},
          {"plans", o.plans},
          {"repeat", o.repeat},
          {"check", o.check},
          {"charge_vectors", row.vectors},
          {"order", row.info.order},
          {"levels", row.info.levels},
          {"inflation", row.info.inflation},
          {"asked_leaf", row.asked_leaf ? Json(*row.asked_leaf) : Json()},
          {"max_leaf", row.info.max_leaf},
          {"boxes", row.info.boxes},
          {"leaves", row.info.leaves},
          {"near_pairs", row.info.near_pairs},
          {"third_law", row.info.third_law},
          {"m2p_pairs", row.info.m2p_pairs},
          {"p2l_pairs", row.info.p2l_pairs},
          {"m2l_rows", row.info.m2l_rows},
          {"operations", operations},
          {"error_potential", number(row.errors.potential)},
          {"error_gradient", number(row.errors.gradient)},
          {"error_hessian", number(row.errors.hessian)},
          {"seconds",
           {{"plan", row.plan_seconds},
            {"plan_stages", row.plan_stages},
            {"evaluate", row.evaluation.seconds},
            {"stages", stage_seconds}}},
          {"memory_bytes", row.info.memory_bytes},
          {"operator_bytes", row.info.operator_bytes},
          {"peak_memory_bytes", row.peak_memory}};
}

/// What was printed must have reached its reader.
void require_written(std::FILE* out) {
  if (std::fflush(out) != 0 || std::ferror(out))
    throw ResourceError("cannot write the output: is the disk full?");
}

void write_report(const std::string& path, const Json& report) {
  const std::string text = report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  if (path == "-") {
    std::fputs(text.c_str(), stdout);
    return require_written(stdout);
  }
  OutputFile file(path);
  std::ofstream stream(file.partial_path());
  stream << text;
  stream.close();
  if (!stream) throw ResourceError("cannot write " + path + ": is the disk full?");
  file.commit();
}

// ---- The program

/// Measures a problem with every kernel, at every tolerance and leaf size, and prints each row when
/// it is done; the first comes with the heading.
void add_rows(std::vector<Row>& rows, const Problem& problem, const Options& o, int threads,
              std::FILE* out) {
  for (const double kappa : numbers(o.kappas, "--kappa")) {
    std::optional<Reference> reference;
    for (const double tolerance : numbers(o.tolerances, "--tolerance"))
      for (const std::optional<int> leaf : leaves_asked_for(o)) {
        rows.push_back(measure(problem, tolerance, kappa, leaf, reference, o));
        if (rows.size() == 1) {
          print_conditions(out, o, threads);
          print_header(out, titles(o));
        }
        print_cells(out, cells_of(rows.back(), o));
      }
  }
}

void run(const Options& o) {
  check_options(o);
  const int threads = o.threads ? *o.threads : default_threads();
  set_threads(threads);
  std::FILE* out = o.json == "-" ? stderr : stdout;
  std::vector<Row> rows;
  for (const std::string& name : split(o.distributions, "--distribution")) {
    const auto add = [&](Problem problem) {
      if (o.targets) problem.most_targets = static_cast<std::size_t>(*o.targets);
      add_rows(rows, problem, o, threads, out);
    };
    if (is_file(name)) {
      add(bench::problem_of_file(name, o.seed));
      continue;
    }
    for (const std::size_t n : point_counts(o.points.value_or("100000")))
      add(bench::seeded_problem(name, n, o.seed));
  }
  if (o.backend == "cpu") print_rates(out, rows, o, threads);
  require_written(out);
  if (!o.json) return;
  Json report = Json::array();
  for (const Row& row : rows) report.push_back(json_of(row, o, threads));
  write_report(*o.json, report);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Times the fast multipole method and measures its errors");
  add_options(app, options);
  return bench::run_main(app, argc, argv, [&] { run(options); });
}
