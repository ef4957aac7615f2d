#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "fmbem/solvers/fiber.hpp"

namespace fmbem {

/// Tasks that run in step: what they ask for at the same time is served together. Each task has a
/// stack of its own, but all run in the thread of run()'s caller, by turns in a fixed order. So
/// tasks may share objects that are not made for threads, and every run goes the same way.
class Lockstep {
 public:
  /// Calls body(task) for tasks from 0 on. When each of them has ended or waits, calls serve(kind,
  /// tasks) for the kind that most of them wait for. Rethrows the first exception of a body or of
  /// serve().
  void run(int tasks, const std::function<void(int task)>& body,
           const std::function<void(int kind, std::span<const int> tasks)>& serve);

  /// To be called by a task: waits until it is served. Returns false if serving threw; then the
  /// task should end.
  bool wait_for(int task, int kind);

 private:
  struct Task {
    std::unique_ptr<Fiber> fiber;
    bool waits = false;
    int kind = 0;
  };

  std::vector<int> most_wanted() const;
  void keep_exception();

  std::vector<Task> tasks_;
  std::exception_ptr exception_;
};

}  // namespace fmbem
