#pragma once

#include <cstdint>
#include <exception>

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

}  // namespace fmbem
