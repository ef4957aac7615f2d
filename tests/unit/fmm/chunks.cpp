#include "fmbem/fmm/base/chunks.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "fmbem/fmm/base/machine.hpp"
#include "tests/unit/catch.hpp"

namespace fmbem::test::chunks_tests {

namespace {

/// Groups in no order, of which some are empty; enough numbers for several chunks.
struct Grouped {
  Grouped(std::int64_t n, int groups) : group(n), value(n) {
    std::mt19937 random(7);
    for (std::int64_t i = 0; i < n; ++i) {
      group[i] = static_cast<int>(random() % groups) / 2 * 2;  // even ones alone
      value[i] = std::ldexp(static_cast<double>(random()), -32) - 0.5;
    }
  }
  std::vector<int> group;
  std::vector<double> value;
};

}  // namespace

TEST_CASE("chunks cover all numbers once, and are few where much is kept of each", "[threads]") {
  for (const std::int64_t n : {0, 1, 16384, 16385, 5'000'000})
    for (const std::int64_t groups : {1, 100, 40000}) {
      const Chunks chunks(n, groups);
      std::vector<int> seen(n, 0);
      chunks.for_each([&](std::int64_t chunk, std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) seen[i] += i / chunks.size == chunk ? 1 : 2;
      });
      CHECK(std::count(seen.begin(), seen.end(), 1) == n);
      CHECK(chunks.count() <= 256);
      CHECK(chunks.count() * groups <= n + groups);
    }
}

TEST_CASE("sums of numbers and of groups are the same bits for any number of threads",
          "[threads]") {
  constexpr std::int64_t n = 200'000;
  constexpr int groups = 21;
  const Grouped all(n, groups);
  const auto group_of = [&](std::int64_t i) { return all.group[i]; };
  const auto value_of = [&](std::int64_t i) { return all.value[i]; };
  std::vector<long double> exact(groups, 0);
  for (std::int64_t i = 0; i < n; ++i) exact[all.group[i]] += all.value[i];
  std::vector<double> of_one;
  double sum_of_one = 0;
  for (const int count : {1, 3, 4}) {
    set_threads(count);
    const auto sums = sums_of_groups<double>(n, groups, group_of, value_of);
    const double sum = sum_of(n, value_of);
    if (count == 1) {
      of_one = sums;
      sum_of_one = sum;
    }
    CHECK(sums == of_one);
    CHECK(sum == sum_of_one);
    // Terms are at most 1/2: rounding is at most n ε times the sum of n of them.
    for (int g = 0; g < groups; ++g)
      CHECK(std::abs(static_cast<double>(sums[g] - exact[g])) < n * 0x1p-53 * (0.5 * n));
  }
  set_threads(available_cores());
}

TEST_CASE("numbers are sorted by their groups, ascending in each", "[threads]") {
  constexpr std::int64_t n = 100'000;
  constexpr int groups = 9;
  const Grouped all(n, groups);
  const GroupOrder order = sort_by_group(n, groups, [&](std::int64_t i) { return all.group[i]; });
  std::vector<std::int32_t> expected(n);
  std::iota(expected.begin(), expected.end(), 0);
  std::stable_sort(expected.begin(), expected.end(),
                   [&](std::int32_t i, std::int32_t j) { return all.group[i] < all.group[j]; });
  CHECK(std::equal(expected.begin(), expected.end(), order.number.begin(), order.number.end()));
  REQUIRE(order.begin.size() == groups + 1);
  for (int g = 0; g < groups; ++g) {
    CHECK(order[g].size() ==
          static_cast<std::size_t>(std::count(all.group.begin(), all.group.end(), g)));
    CHECK(std::all_of(order[g].begin(), order[g].end(),
                      [&](std::int32_t i) { return all.group[i] == g; }));
  }
}

TEST_CASE("numbers are chosen in their order, and extremes are found", "[threads]") {
  constexpr std::int64_t n = 70'000;
  const Grouped all(n, 30);
  std::vector<std::int32_t> expected;
  for (std::int64_t i = 0; i < n; ++i)
    if (all.group[i] == 4) expected.push_back(static_cast<std::int32_t>(i));
  CHECK(numbers_where(n, [&](std::int64_t i) { return all.group[i] == 4; }) == expected);
  CHECK(numbers_where(0, [](std::int64_t) { return true; }).empty());
  const auto extremes = extremes_of<double>(all.value);
  CHECK(extremes.least == *std::min_element(all.value.begin(), all.value.end()));
  CHECK(extremes.most == *std::max_element(all.value.begin(), all.value.end()));
}

TEST_CASE("what chunks find comes one after the other", "[threads]") {
  for (const std::int64_t n : {0, 1, 10, 11, 3000}) {
    const Chunks chunks = Chunks::of_size(10, n);
    CHECK(chunks.count() == (n + chunks.size - 1) / chunks.size);
    CHECK(chunks.size == (n == 3000 ? 12 : 10));
    std::vector<std::int64_t> expected;  // each multiple of 3, twice
    for (std::int64_t i = 0; i < n; i += 3) expected.insert(expected.end(), 2, i);
    const auto found = found_in_chunks<std::int64_t>(
        chunks, [](std::int64_t first, std::int64_t last, std::vector<std::int64_t>& to) {
          for (std::int64_t i = first; i < last; ++i)
            if (i % 3 == 0) to.insert(to.end(), 2, i);
        });
    CHECK(std::equal(expected.begin(), expected.end(), found.begin(), found.end()));
  }
}

}  // namespace fmbem::test::chunks_tests
