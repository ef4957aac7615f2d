#include "fmbem/fmm/base/tasks.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include "tests/unit/catch.hpp"

using namespace fmbem;

TEST_CASE("tasks are all done, and the first exception comes through", "[threads]") {
  for (const int n : {0, 1, 50}) {
    std::vector<int> done(n);
    for_tasks(n, [&](std::int64_t k) { ++done[k]; });
    CHECK(done == std::vector<int>(n, 1));
  }
  std::vector<int> done(50);
  try {
    for_tasks(50, [&](std::int64_t k) {
      ++done[k];
      if (k >= 7) throw std::runtime_error(std::to_string(k));
    });
    CHECK(false);
  } catch (const std::runtime_error& error) {
    CHECK(std::string(error.what()) == "7");
  }
  CHECK(done == std::vector<int>(50, 1));
}
