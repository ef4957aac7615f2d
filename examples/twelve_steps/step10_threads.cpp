// Step 10: threads. All boxes of a level are independent, and each result has one owner that writes
// it: no locks, no atomics, and the same bits for any number of threads. Only the levels wait for
// each other, and the coarse ones have few boxes.
#include <omp.h>

#include "uniform_fmm.hpp"

int main() {
  const Charges c = charges_in_cube(8000, {0, 0, 0}, 1, 1);
  std::vector<double> of_one;
  bool good = true;
  for (const int threads : {1, 2, 4}) {
    omp_set_num_threads(threads);
    std::map<std::string, double> stages;
    UniformFmm fmm(c, 3, 3);
    const double start = now();
    const std::vector<double> u = fmm.run(stages);
    const double seconds = now() - start;
    if (threads == 1) of_one = u;
    const double error = error_of(u, fmm.tree.sorted.x, fmm.tree.sorted);
    good = tell("FMM on threads: " + std::to_string(threads), error, 1e-2, seconds) &&
           u == of_one && good;
  }
  return !good;
}
