#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

namespace fmbem {

/// Tasks that run in step: what they ask for at the same time is served together. Each task has a
/// thread, but only one thread works at a time, a task's or that of run()'s caller, and they take
/// turns in a fixed order. So tasks may share objects that are not made for threads, and every run
/// goes the same way.
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
  static constexpr int caller = -1;  ///< whose turn it is between those of the tasks
  enum class State { ready, waiting, ended };
  struct Task {
    State state = State::ready;
    int kind = 0;
  };

  void pass_turn(int from, int to);
  void work(int task, const std::function<void(int)>& body);
  std::vector<int> most_wanted() const;
  void keep_exception();

  std::vector<Task> tasks_;
  std::exception_ptr exception_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int turn_ = caller;
};

}  // namespace fmbem
