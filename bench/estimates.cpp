// Prints what --refine 1 and 2 estimate of the discretization error, beside the true errors, for
// all bodies of which the capacitances are known in closed form.
// fmbem-bench-estimates [PANELS]: meshes up to this many (default 13,000). The table is of meshes
// that begin with some hundred panels; the summary of all that fit.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <vector>

#include "bench/main.hpp"
#include "fmbem/problems/capacitance_levels.hpp"
#include "tests/unit/closed_forms.hpp"

using namespace fmbem;
using namespace fmbem::test;

namespace {

/// True errors over their estimates.
struct Ratios {
  std::vector<double> of_entries, of_extrapolated;

  void print(const char* what, std::vector<double> ratios) const {
    if (ratios.empty()) return;
    std::sort(ratios.begin(), ratios.end());
    const auto below =
        std::count_if(ratios.begin(), ratios.end(), [](double ratio) { return ratio <= 1; });
    std::printf("| %s | %zu | %.1f %% | %.2f | %.2f |\n", what, ratios.size(),
                100.0 * static_cast<double>(below) / static_cast<double>(ratios.size()),
                ratios[ratios.size() / 2], ratios.back());
  }
};

/// Both forms in 4πε₀ times the unit of length, with their errors.
struct Result {
  std::size_t panels;
  SquareMatrix values[2], errors[2];
  std::optional<SquareMatrix> extrapolated;  ///< Maxwell's form, of an observed order
};

std::optional<Result> solve(const ClosedForm& form, int first, int refine, std::size_t most) {
  if (form.mesh(first + refine).triangles.size() > most) return {};
  const CapacitanceOfLevels levels =
      solve_capacitance_levels([&](int level) { return form.mesh(first + level); }, refine, {});
  const double factor = 1 / natural_capacitance(1);
  Result result{levels.mesh.triangles.size(),
                {scaled(levels.solution.maxwell, factor),
                 scaled(mutual_capacitance(levels.solution.maxwell), factor)},
                {scaled(levels.error.maxwell, factor), scaled(levels.error.mutual, factor)},
                {}};
  if (levels.estimate.value().convergence.observed)
    result.extrapolated = scaled(levels.estimate->extrapolated, factor);
  return result;
}

void add(Ratios& ratios, const Result& result, const SquareMatrix& exact) {
  const SquareMatrix truth[2] = {exact, mutual_capacitance(exact)};
  for (int form = 0; form < (exact.n > 1 ? 2 : 1); ++form)
    for (std::size_t k = 0; k < exact.values.size(); ++k)
      ratios.of_entries.push_back(std::abs(result.values[form].values[k] - truth[form].values[k]) /
                                  result.errors[form].values[k]);
  if (!result.extrapolated) return;
  for (std::size_t k = 0; k < exact.values.size(); ++k)
    ratios.of_extrapolated.push_back(std::abs(result.extrapolated->values[k] - exact.values[k]) /
                                     result.errors[0].values[k]);
}

void print_cells(const std::optional<Result>& result, const SquareMatrix& exact, std::size_t i,
                 std::size_t j) {
  if (!result) return void(std::printf(" | | | |"));
  const double error = std::abs(result->values[0](i, j) - exact(i, j));
  std::printf(" %zu | %.1e | %.1e | %.2f |", result->panels, error, result->errors[0](i, j),
              error / result->errors[0](i, j));
}

void print_rows(const ClosedForm& form, const std::optional<Result>& once,
                const std::optional<Result>& twice) {
  for (std::size_t i = 0; i < form.exact.n; ++i)
    for (std::size_t j = i; j < form.exact.n; ++j) {
      std::printf("| %s | C%zu%zu | %.7g |", i + j == 0 ? form.name.c_str() : "", i + 1, j + 1,
                  form.exact(i, j));
      print_cells(once, form.exact, i, j);
      print_cells(twice, form.exact, i, j);
      std::printf("\n");
    }
  std::fflush(stdout);
}

void print_tables(std::size_t most) {
  Ratios ratios[2];
  std::printf(
      "| body | entry | closed form | panels | error | estimate | ratio | panels | error | "
      "estimate | ratio |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (const ClosedForm& form : closed_forms())
    for (int first = 0;; ++first) {
      const std::optional<Result> once = solve(form, first, 1, most),
                                  twice = solve(form, first, 2, most);
      if (first == 0) print_rows(form, once, twice);
      if (once) add(ratios[0], *once, form.exact);
      if (twice) add(ratios[1], *twice, form.exact);
      if (!once) break;
    }
  std::printf(
      "\n| true error over estimate | entries | up to 1 | median | largest "
      "|\n|---|---|---|---|---|\n");
  ratios[0].print("`--refine 1`", ratios[0].of_entries);
  ratios[1].print("`--refine 2`", ratios[1].of_entries);
  ratios[1].print("`--refine 2`, extrapolated", ratios[1].of_extrapolated);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Estimates of the discretization error beside the true errors");
  std::size_t most = 13'000;
  bench::add_most_panels(app, most);
  return bench::run_main(app, argc, argv, [&] { print_tables(most); });
}
