// Step 9: the fast multipole method. Moments go up (P2M, M2M), act on boxes at their level (M2L),
// local expansions go down (L2L, L2P), and boxes that touch are summed directly (P2P). On each
// level a box receives only what its parent could not: children of the parent's neighbours. So each
// box has at most 189 M2L and 27 P2P, whatever N: O(N).
#include <omp.h>

#include "uniform_fmm.hpp"

int main() {
  omp_set_num_threads(1);
  const Charges c = charges_in_cube(8000, {0, 0, 0}, 1, 1);
  bool good = true;
  for (const auto& [p, bound] : {std::pair{2, 3e-2}, {5, 1e-3}}) {
    std::map<std::string, double> stages;
    UniformFmm fmm(c, 3, p);
    const double start = now();
    const std::vector<double> u = fmm.run(stages);
    const double seconds = now() - start;
    for (const auto& [stage, time] : stages) std::printf("  %-12s %.4f s\n", stage.c_str(), time);
    const double error = error_of(u, fmm.tree.sorted.x, fmm.tree.sorted);
    good = tell("FMM, order " + std::to_string(p), error, bound, seconds) && good;
  }
  return !good;
}
