#include "fmbem/fmm/base/tasks.hpp"

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/catch.hpp"

namespace fmbem::test::tasks_tests {

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

TEST_CASE("vectors get their sizes", "[threads]") {
  std::vector<int> a(3, 1);
  std::vector<char> b;
  std::vector<double> c(7, 1.0);
  resize_each(5, a, b, c);
  CHECK(a == std::vector<int>{1, 1, 1, 0, 0});
  CHECK(b == std::vector<char>(5, 0));
  CHECK(c == std::vector<double>(5, 1.0));
}

TEST_CASE("work beside has as many threads, and its exception comes through", "[threads]") {
  static constexpr std::int64_t n = 100'000;
  std::vector<std::int64_t> here(n), there(n);
  const auto fill = [](std::vector<std::int64_t>& numbers) {
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < n; ++i) numbers[i] = i;
  };
  const int threads = omp_get_max_threads();
  omp_set_num_threads(3);
  int threads_there = 0;
  std::future<void> beside = start_beside(true, [&] {
    threads_there = omp_get_max_threads();
    fill(there);
  });
  fill(here);
  beside.get();
  omp_set_num_threads(threads);
  CHECK(threads_there == 3);
  CHECK(there == here);
  for (const bool gpu_works : {true, false}) {
    beside = start_beside(gpu_works, [] { throw std::runtime_error("there"); });
    CHECK_THROWS_AS(beside.get(), std::runtime_error);
  }
  std::thread::id called_by;
  beside = start_beside(false, [&] { called_by = std::this_thread::get_id(); });
  beside.get();
  CHECK(called_by == std::this_thread::get_id());
}

}  // namespace fmbem::test::tasks_tests
