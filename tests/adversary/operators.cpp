// The adversary of the library: random surfaces and points of the kinds on which fast methods go
// wrong first, compared with the dense operator and with direct sums. Errors of operators are in
// their norm, by power iterations. Prints how many cases of each kind there were and how many
// failed; the exit code is 1 if any did.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "fmbem/bem/layer/dense_operator.hpp"
#include "fmbem/cuda/device.hpp"
#include "fmbem/cuda/fmm_plan.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/direct.hpp"
#include "fmbem/fmm/plan.hpp"
#include "tests/adversary/operator_errors.hpp"
#include "tests/adversary/points.hpp"
#include "tests/adversary/surfaces.hpp"
#include "tests/unit/fmm/results.hpp"

using namespace fmbem;
using namespace fmbem::test;

namespace {

std::string text(const char* form, auto... values) {
  char buffer[400];
  std::snprintf(buffer, sizeof buffer, form, values...);
  return buffer;
}

class Table {
 public:
  /// `ratio`: the error over the allowed one.
  void add(const std::string& kind, double ratio, const std::string& what) {
    Row& row = rows_[kind];
    ++row.cases;
    row.worst = larger_error(row.worst, ratio);
    if (!(ratio <= 1)) fail(row, text("%s: %.2g of the tolerance: ", kind.c_str(), ratio) + what);
  }

  /// Of a case that ended before there was an error to compare.
  void add_end(const std::string& kind, std::uint64_t seed, const std::string& reason) {
    Row& row = rows_[kind];
    ++row.cases;
    fail(row, kind + ": seed " + std::to_string(seed) + ": " + reason);
  }

  bool failed() const { return failed_; }
  void print() const {
    std::printf("| kind | cases | failures | largest error / tolerance |\n|---|---|---|---|\n");
    for (const auto& [kind, row] : rows_)
      std::printf("| %s | %d | %d | %.2g |\n", kind.c_str(), row.cases, row.failures, row.worst);
  }

 private:
  struct Row {
    int cases = 0, failures = 0;
    double worst = 0;
  };
  void fail(Row& row, const std::string& sentence) {
    ++row.failures;
    failed_ = true;
    std::printf("%s\n", sentence.c_str());
    std::fflush(stdout);
  }

  std::map<std::string, Row> rows_;
  bool failed_ = false;
};

double power_of_ten(Uniform& uniform, double low, double high) {
  return std::pow(10, uniform(low, high));
}

/// ‖Ã−A‖ over what the tolerance allows: by power iterations on the CPU, which has transposed
/// products, and elsewhere for a few random vectors.
double error_of(const BoundaryOperator& fast, const OperatorError& error_in, double allowed,
                double tolerance) {
  const std::size_t n = fast.size();
  const auto error = [&](const Vector& x, bool transposed) {
    return error_in(x, transposed, fast, tolerance);
  };
  if (fast.processor() == Processor::cpu) return two_norm(n, error, 8) / allowed;
  double worst = 0;
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Vector x = signed_charges(n, seed);
    worst = larger_error(worst, norm_of(error(x, false)) / norm_of(x));
  }
  return worst / allowed;
}

void try_operators(int n, std::uint64_t seed, const std::vector<Processor>& processors,
                   Table& table) {
  Uniform uniform(seed);
  auto all = adverse_surfaces(n, seed);
  const AdverseSurface& surface = all[static_cast<std::size_t>(uniform(0, all.size()))];
  const Layer layer = std::vector<Layer>{single_layer, single_layer, double_layer,
                                         adjoint_double_layer}[static_cast<int>(uniform(0, 4))];
  const Panels panels = make_panels(surface.mesh);
  // Exact entries with κ take half a millisecond where panels are 1e6 times as long as wide.
  const bool screens = uniform() < 0.3 && surface.name != "steep plate";
  const double kappa = screens ? power_of_ten(uniform, -1, 2.5) / panels.extent : 0;
  const auto dense = make_dense_operator(panels, layer, {.kappa = kappa});
  const double norm = reference_norm(*dense, layer);
  const OperatorError error(panels, layer, *dense);
  for (const Processor processor : processors) {
    OperatorOptions options{
        .kind = OperatorOptions::Choice::fmm, .processor = processor, .kappa = kappa};
    options.tolerance = power_of_ten(uniform, layer == single_layer ? -10.9 : -9.9, -1);
    if (uniform() < 0.7) options.max_leaf = static_cast<int>(uniform(8, 60));
    const auto fast = make_boundary_operator(panels, layer, options);
    for (const double tolerance : {options.tolerance, fast->accurate_tolerance()}) {
      table.add(layer.name() + (kappa > 0 ? " with κ, " : ", ") + surface.name,
                error_of(*fast, error, norm * tolerance, tolerance),
                text("seed %llu, %zu panels, tolerance %.3g, leaf %d, order %d, κ %.3g",
                     static_cast<unsigned long long>(seed), panels.size(), tolerance,
                     options.max_leaf.value_or(0), fast->info().order, kappa));
    }
  }
}

/// Any method, kernel, leaf size and opening that go together.
fmm::PlanOptions random_plan(Uniform& uniform, double side) {
  fmm::PlanOptions options{.tolerance = power_of_ten(uniform, -12, -1),
                           .gradient = uniform() < 0.5,
                           .dipoles = uniform() < 0.3};
  if (uniform() < 0.5) options.method = fmm::method_names[static_cast<int>(uniform(0, 5))].method;
  if (uniform() < 0.3) options.kappa = power_of_ten(uniform, -2, 3) / side;
  if (options.method != fmm::Method::direct && uniform() < 0.5)
    options.max_leaf = static_cast<int>(uniform(5, 100));
  const bool opens =
      options.method == fmm::Method::treecode || options.method == fmm::Method::hybrid;
  if (opens && uniform() < 0.5) options.theta = uniform(0.3, 0.6);
  options.hessian = !opens && uniform() < 0.15;
  return options;
}

/// Without targets the sources are the targets.
fmm::Plan make_plan(Processor processor, const std::vector<Vec3d>& sources,
                    const std::vector<Vec3d>* targets, const fmm::PlanOptions& options) {
  if (processor == Processor::gpu)
    return targets ? cuda::make_fmm_plan(sources, *targets, options)
                   : cuda::make_fmm_plan(sources, options);
  return targets ? fmm::Plan(sources, *targets, options) : fmm::Plan(sources, options);
}

/// Adds the relative L2 error of results; entries() calls its argument with each number of one.
template <class T, class Entries>
void add_error(Table& table, const std::string& kind, double tolerance, const std::vector<T>& found,
               const std::vector<T>& exact, const Entries& entries, const std::string& what) {
  double error = 0, size = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    entries(found[i] - exact[i], [&](double x) { error = std::hypot(error, x); });
    entries(exact[i], [&](double x) { size = std::hypot(size, x); });
  }
  // All may be too small for a double.
  if (!exact.empty()) table.add(kind, error == 0 ? 0 : error / size / tolerance, what);
}

/// Potentials, gradients and second derivatives of charges, and of charges and dipoles.
void try_points(std::uint64_t seed, const std::vector<Processor>& processors, Table& table) {
  Uniform uniform(seed);
  const auto size = static_cast<std::size_t>(power_of_ten(uniform, 2.5, 4));
  auto all = adverse_points(size, seed);
  const auto kind = static_cast<std::size_t>(uniform(0, all.size()));
  const auto& [name, sources] = all[kind];
  const bool apart = uniform() < 0.2;
  const std::vector<Vec3d> targets =
      apart ? adverse_points(size / 2, seed + 1)[kind].points : sources;
  const fmm::PlanOptions options = random_plan(uniform, extent(sources));
  const Vector q = signed_charges(sources.size(), seed);
  std::vector<Vec3d> d;
  if (options.dipoles) d = random_dipoles(sources.size(), seed + 1);
  const fmm::Strengths strengths{.charges = q, .dipoles = d};

  constexpr double unset = std::numeric_limits<double>::quiet_NaN();
  const std::size_t n = targets.size();
  Results exact(n, options.hessian);
  if (!options.gradient) exact.gradient.clear();
  direct_sum(sources, targets, strengths, exact.fields(), options.kappa);
  for (const Processor processor : processors) {
    const fmm::Plan plan = make_plan(processor, sources, apart ? &targets : nullptr, options);
    Results found = exact;
    std::ranges::fill(found.potential, unset);
    std::ranges::fill(found.gradient, Vec3d{unset, unset, unset});
    std::ranges::fill(found.hessian, Symmetric3d{unset, unset, unset, unset, unset, unset});
    plan.evaluate(strengths, found.fields());
    const std::string what = text(
        "seed %llu, %zu points%s, tolerance %.3g, %s, leaf %d, θ %.2f, order %d, κ · side %.3g%s",
        static_cast<unsigned long long>(seed), sources.size(), apart ? " and targets apart" : "",
        options.tolerance, fmm::name_of(plan.info().method), options.max_leaf.value_or(0),
        options.theta.value_or(0), plan.info().order, options.kappa * extent(sources),
        options.dipoles ? ", dipoles" : "");
    const std::string of = (options.kappa > 0 ? " with κ, " : ", ") + name;
    add_error(
        table, "potential" + of, options.tolerance, found.potential, exact.potential,
        [](double x, const auto& add) { add(x); }, what);
    add_error(
        table, "gradient" + of, options.tolerance, found.gradient, exact.gradient,
        [](const Vec3d& x, const auto& add) {
          for (int axis = 0; axis < 3; ++axis) add(x[axis]);  // squares may be 0
        },
        what);
    add_error(
        table, "second derivatives" + of, options.tolerance, found.hessian, exact.hessian,
        [](const Symmetric3d& x, const auto& add) {
          for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) add(x(i, j));
        },
        what);
  }
}

/// A case that ends with an error, as where memory is short, has failed, and others follow.
template <class Case>
void try_case(const char* kind, std::uint64_t seed, Table& table, const Case& one) {
  try {
    one();
  } catch (const Error& error) {
    // What no order meets is refused, and says so.
    if (std::string(error.what()).find("no order") == std::string::npos)
      table.add_end(kind, seed, error.what());
  } catch (const std::bad_alloc&) {
    table.add_end(kind, seed, "out of memory");
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Fast methods against direct ones where they are wrong first");
  double seconds = 60;
  std::uint64_t seed = 1, cases = std::numeric_limits<std::int64_t>::max();
  int panels = 1000;
  std::string only;
  app.add_option("--seconds", seconds, "no case starts after them")->capture_default_str();
  app.add_option("--cases", cases, "at most so many, the same on all machines");
  app.add_option("--seed", seed, "of the first case; each has the next one")->capture_default_str();
  app.add_option("--panels", panels, "some, of surfaces")->capture_default_str();
  app.add_option("--only", only, "operators or points")
      ->check(CLI::IsMember({"operators", "points"}));
  CLI11_PARSE(app, argc, argv);

  std::vector<Processor> processors{Processor::cpu};
  if (!cuda_devices().empty()) processors.push_back(Processor::gpu);
  Table table;
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  for (const std::uint64_t last = seed + cases; seed < last && Clock::now() < end; ++seed) {
    if (only != "points")
      try_case("operators", seed, table, [&] { try_operators(panels, seed, processors, table); });
    if (only != "operators")
      try_case("points", seed, table, [&] { try_points(seed, processors, table); });
  }
  table.print();
  return table.failed() ? 1 : 0;
}
