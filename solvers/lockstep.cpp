#include "fmbem/solvers/lockstep.hpp"

#include <map>
#include <utility>

namespace fmbem {

void Lockstep::keep_exception() {
  if (!exception_) exception_ = std::current_exception();
}

bool Lockstep::wait_for(int task, int kind) {
  tasks_[task].waits = true;
  tasks_[task].kind = kind;
  tasks_[task].fiber->pause();
  return !exception_;
}

/// The tasks that wait for one kind: that for which most of them wait.
std::vector<int> Lockstep::most_wanted() const {
  std::map<int, std::vector<int>> by_kind;
  for (int k = 0; k < static_cast<int>(tasks_.size()); ++k)
    if (tasks_[k].waits) by_kind[tasks_[k].kind].push_back(k);
  std::vector<int> most;
  for (const auto& [kind, waiting] : by_kind)
    if (waiting.size() > most.size()) most = waiting;
  return most;
}

void Lockstep::run(int tasks, const std::function<void(int)>& body,
                   const std::function<void(int, std::span<const int>)>& serve) {
  tasks_.clear();
  exception_ = nullptr;
  for (int k = 0; k < tasks; ++k)
    tasks_.push_back({std::make_unique<Fiber>([this, &body, k] {
      try {
        body(k);
      } catch (...) {
        keep_exception();
      }
    })});
  for (;;) {
    for (Task& task : tasks_)
      if (!task.waits && !task.fiber->has_ended()) task.fiber->resume();
    const std::vector<int> served = most_wanted();
    if (served.empty()) break;
    try {
      if (!exception_) serve(tasks_[served.front()].kind, served);
    } catch (...) {
      keep_exception();
    }
    for (const int k : served) tasks_[k].waits = false;
  }
  tasks_.clear();
  if (exception_) std::rethrow_exception(std::exchange(exception_, nullptr));
}

}  // namespace fmbem
