#include "fmbem/solvers/lockstep.hpp"

#include <array>
#include <stdexcept>
#include <string>

#include "fmbem/solvers/fiber.hpp"
#include "tests/unit/catch.hpp"

namespace fmbem::test::lockstep_tests {

namespace {

/// Adds up numbers on its stack, far down in calls, and pauses at the bottom.
double deep(Fiber& fiber, int depth, double number) {
  std::array<double, 64> on_stack;
  on_stack.fill(number);
  if (depth == 0)
    fiber.pause();
  else
    number += deep(fiber, depth - 1, number + 1);
  for (const double value : on_stack) number += value;
  return number;
}

}  // namespace

TEST_CASE("a fiber goes on where it paused, with its stack as it was") {
  double sums[2] = {};
  Fiber* running[2] = {};
  Fiber first([&] { sums[0] = deep(*running[0], 1000, 1); });
  Fiber second([&] {
    try {
      running[1]->pause();
      throw std::runtime_error("thrown in a fiber");
    } catch (const std::runtime_error&) {
      sums[1] = 1;
    }
  });
  running[0] = &first;
  running[1] = &second;
  first.resume();
  second.resume();
  CHECK_FALSE(first.has_ended());
  CHECK_FALSE(second.has_ended());
  first.resume();
  second.resume();
  CHECK(first.has_ended());
  CHECK(second.has_ended());
  double expected = 0;
  for (int depth = 1000; depth >= 0; --depth) expected += 65.0 * (1 + depth);
  CHECK(sums[0] == expected);
  CHECK(sums[1] == 1);
}

TEST_CASE("tasks in step are served together, those of the kind that most wait for first") {
  Lockstep lockstep;
  std::string order;
  lockstep.run(
      3,
      [&](int task) {
        order += std::to_string(task);
        CHECK(lockstep.wait_for(task, task == 1 ? 1 : 0));
        order += std::to_string(task);
        if (task == 2) CHECK(lockstep.wait_for(task, 1));
      },
      [&](int kind, std::span<const int> tasks) {
        order += kind == 0 ? 'a' : 'b';
        for (const int task : tasks) order += std::to_string(task);
      });
  CHECK(order == "012a0202b121");
}

TEST_CASE("what a task or a service throws ends all tasks in step") {
  Lockstep lockstep;
  int ended = 0;
  const auto body = [&](int task) {
    if (task == 1 && !lockstep.wait_for(task, 2)) ++ended;
    if (task == 2) throw std::runtime_error("a task");
    if (!lockstep.wait_for(task, 1)) ++ended;
  };
  CHECK_THROWS_WITH(lockstep.run(3, body, [](int, std::span<const int>) {}), "a task");
  CHECK(ended == 3);
  ended = 0;
  const auto waits = [&](int task) { ended += !lockstep.wait_for(task, 0); };
  CHECK_THROWS_WITH(
      lockstep.run(2, waits,
                   [](int, std::span<const int>) { throw std::runtime_error("a service"); }),
      "a service");
  CHECK(ended == 2);
}

}  // namespace fmbem::test::lockstep_tests
