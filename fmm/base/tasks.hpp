#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <future>
#include <utility>

#include <omp.h>

namespace fmbem {

/// Calls body(k) for k = 0 … n − 1, each in one thread, some at a time; what takes all threads
/// otherwise takes that one alone then. A single one is called as it is, with all of them. Rethrows
/// the exception of the first k that threw one.
template <class Body>
void for_tasks(std::int64_t n, Body&& body) {
  // Within a parallel region, be it of one thread, every pass would start threads anew.
  if (n == 1) return body(std::int64_t{0});
  std::exception_ptr thrown;
  std::int64_t thrown_by = n;
#pragma omp parallel for schedule(dynamic)
  for (std::int64_t k = 0; k < n; ++k) {
    try {
      body(k);
    } catch (...) {
#pragma omp critical(fmbem_tasks)
      if (k < thrown_by) {
        thrown_by = k;
        thrown = std::current_exception();
      }
    }
  }
  if (thrown) std::rethrow_exception(thrown);
}

/// Resizes vectors, each by a thread: what std::vector sets to zero is touched by one.
template <class... Vector>
void resize_each(std::size_t n, Vector&... vectors) {
  for_tasks(sizeof...(vectors), [&](std::int64_t k) {
    std::int64_t number = 0;
    ((number++ == k ? vectors.resize(n) : void()), ...);
  });
}

/// Starts body() beside the thread that calls this, with as many threads as that one has: host work
/// that the GPU need not wait for. get() waits for it, and rethrows its exception. Where what the
/// caller does is the host's work, too, get() calls it: threads beyond the cores gain nothing, and
/// may find no memory.
template <class Body>
std::future<void> start_beside(bool gpu_works, Body body) {
  if (!gpu_works) return std::async(std::launch::deferred, std::move(body));
  return std::async(std::launch::async, [body = std::move(body), threads = omp_get_max_threads()] {
    omp_set_num_threads(threads);
    body();
  });
}

}  // namespace fmbem
