// Prints the table of docs/accuracy.md of boundary value problems against closed forms, on finer
// and finer meshes, as rows of a .csv. fmbem-bench-problems [PANELS [WORD]]: up to this many panels
// (default 6,000) of the problems whose name has the word.
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/main.hpp"
#include "bench/problem_cases.hpp"
#include "fmbem/fmm/base/error.hpp"

using namespace fmbem::bench;

namespace {

/// All whose names have the word.
std::vector<Case> cases_with(const std::string& word) {
  std::vector<Case> chosen;
  for (const auto& cases : {harmonic_cases(), formulation_cases(), dielectric_cases(),
                            plane_cases(), current_cases(), force_cases()})
    for (const Case& one : cases)
      if (one.problem.find(word) != std::string::npos) chosen.push_back(one);
  FMBEM_REQUIRE(!chosen.empty(),
                "no problem has \"" << word << "\" in its name: leave WORD out for all");
  return chosen;
}

void print_rows(const Case& one, std::size_t most) {
  std::vector<double> before;
  for (int level = one.first; level < 9; ++level) {
    const Result result = one.at(level);
    for (std::size_t k = 0; k < result.errors.size(); ++k) {
      const auto& [quantity, error] = result.errors[k];
      std::printf("\"%s\",%s,%zu,%d,%.2e,", one.problem.c_str(), quantity.c_str(), result.panels,
                  result.iterations, error);
      if (!before.empty()) std::printf("%.2f", std::log2(before[k] / error));
      std::printf("\n");
    }
    std::fflush(stdout);
    before.clear();
    for (const auto& [quantity, error] : result.errors) before.push_back(error);
    if (4 * result.panels > most) break;
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Boundary value problems against closed forms, on finer and finer meshes");
  std::size_t most = 6'000;
  std::string word;
  add_most_panels(app, most);
  app.add_option("WORD", word, "problems with this in their names (default: all)");
  return run_main(app, argc, argv, [&] {
    const std::vector<Case> chosen = cases_with(word);
    std::printf("problem,quantity,panels,iterations,error,order\n");
    for (const Case& one : chosen) print_rows(one, most);
  });
}
