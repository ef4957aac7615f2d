#include "fmbem/fmm/tree/unions.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "tests/unit/catch.hpp"

namespace fmbem::test::unions_tests {

namespace {

using Pairs = std::vector<std::pair<std::int32_t, std::int32_t>>;

/// The least number that each hangs together with, by passing it on until nothing changes.
std::vector<std::int32_t> least_of_each(std::int32_t n, const Pairs& pairs) {
  std::vector<std::int32_t> least(n);
  std::iota(least.begin(), least.end(), 0);
  for (bool changes = true; changes;) {
    changes = false;
    for (const auto& [i, j] : pairs) {
      changes = changes || least[i] != least[j];
      least[i] = least[j] = std::min(least[i], least[j]);
    }
  }
  return least;
}

}  // namespace

TEST_CASE("what any number of threads joins hangs together, with its least number as the root",
          "[threads]") {
  constexpr std::int32_t n = 3000;
  std::mt19937 random(3);
  std::uniform_int_distribution<std::int32_t> any(0, n - 1);
  for (const int joins : {0, n / 2, n, 3 * n}) {
    Pairs pairs;
    for (int k = 0; k < joins; ++k) pairs.emplace_back(any(random), any(random));
    const std::vector<std::int32_t> wanted = least_of_each(n, pairs);
    for (const int threads : {1, 4}) {
      Unions unions(n);
      std::vector<std::int32_t> roots(n);
#pragma omp parallel num_threads(threads)
      {
#pragma omp for schedule(dynamic, 1)
        for (int k = 0; k < joins; ++k) unions.join(pairs[k].first, pairs[k].second);
#pragma omp for schedule(static)
        for (std::int32_t i = 0; i < n; ++i) roots[i] = unions.root(i);
      }
      CAPTURE(joins, threads);
      CHECK(roots == wanted);
    }
  }
}

}  // namespace fmbem::test::unions_tests
