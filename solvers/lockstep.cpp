#include "fmbem/solvers/lockstep.hpp"

#include <map>
#include <thread>
#include <utility>

namespace fmbem {

/// Passes the turn on and waits until it comes back.
void Lockstep::pass_turn(int from, int to) {
  std::unique_lock lock(mutex_);
  turn_ = to;
  changed_.notify_all();
  changed_.wait(lock, [&] { return turn_ == from; });
}

void Lockstep::keep_exception() {
  if (!exception_) exception_ = std::current_exception();
}

void Lockstep::work(int task, const std::function<void(int)>& body) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return turn_ == task; });
  }
  try {
    body(task);
  } catch (...) {
    keep_exception();
  }
  const std::lock_guard lock(mutex_);
  tasks_[task].state = State::ended;
  turn_ = caller;
  changed_.notify_all();
}

bool Lockstep::wait_for(int task, int kind) {
  tasks_[task] = {State::waiting, kind};
  pass_turn(task, caller);
  return !exception_;
}

/// The tasks that wait for one kind: that for which most of them wait.
std::vector<int> Lockstep::most_wanted() const {
  std::map<int, std::vector<int>> by_kind;
  for (int k = 0; k < static_cast<int>(tasks_.size()); ++k)
    if (tasks_[k].state == State::waiting) by_kind[tasks_[k].kind].push_back(k);
  std::vector<int> most;
  for (const auto& [kind, waiting] : by_kind)
    if (waiting.size() > most.size()) most = waiting;
  return most;
}

void Lockstep::run(int tasks, const std::function<void(int)>& body,
                   const std::function<void(int, std::span<const int>)>& serve) {
  tasks_.assign(tasks, {});
  exception_ = nullptr;
  std::vector<std::jthread> threads;
  for (int k = 0; k < tasks; ++k) threads.emplace_back([&, k] { work(k, body); });
  for (;;) {
    for (int k = 0; k < tasks; ++k)
      if (tasks_[k].state == State::ready) pass_turn(caller, k);
    const std::vector<int> served = most_wanted();
    if (served.empty()) break;
    try {
      if (!exception_) serve(tasks_[served.front()].kind, served);
    } catch (...) {
      keep_exception();
    }
    for (const int k : served) tasks_[k].state = State::ready;
  }
  threads.clear();
  if (exception_) std::rethrow_exception(std::exchange(exception_, nullptr));
}

}  // namespace fmbem
