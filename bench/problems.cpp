// Prints the table of docs/accuracy.md of boundary value problems against closed forms, on finer
// and finer meshes, as rows of a .csv. fmbem-bench-problems [PANELS [WORD]]: up to this many panels
// (default 6,000) of the problems whose name has the word.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/problem_cases.hpp"

using namespace fmbem::bench;

int main(int argc, char** argv) {
  const std::size_t most = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 6'000;
  const std::string word = argc > 2 ? argv[2] : "";
  std::printf("problem,quantity,panels,iterations,error,order\n");
  for (const auto& cases : {harmonic_cases(), formulation_cases(), dielectric_cases(),
                            plane_cases(), current_cases(), force_cases()}) {
    for (const Case& one : cases) {
      if (one.problem.find(word) == std::string::npos) continue;
      std::vector<double> before;
      for (int level = one.first; level < 9; ++level) {
        const Result result = one.at(level);
        for (std::size_t k = 0; k < result.errors.size(); ++k) {
          const auto& [quantity, error] = result.errors[k];
          std::printf("\"%s\",%s,%zu,%d,%.2e,", one.problem.c_str(), quantity.c_str(),
                      result.panels, result.iterations, error);
          if (!before.empty()) std::printf("%.2f", std::log2(before[k] / error));
          std::printf("\n");
        }
        std::fflush(stdout);
        before.clear();
        for (const auto& [quantity, error] : result.errors) before.push_back(error);
        if (4 * result.panels > most) break;
      }
    }
  }
}
