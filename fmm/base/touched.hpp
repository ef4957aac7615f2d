#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <sys/mman.h>

namespace fmbem {

/// vector.resize(size), whose content is lost, in memory that all threads touch before, in large
/// pages: else one thread waits for the system at each page of what may be hundreds of megabytes.
template <class T>
void resize_touched(std::vector<T>& vector, std::size_t size) {
  vector.clear();
  vector.reserve(size);
  auto* const memory = reinterpret_cast<unsigned char*>(vector.data());
  constexpr std::int64_t large_page = std::int64_t{2} << 20, page = 4096;
  const auto bytes = static_cast<std::int64_t>(size * sizeof(T));
#ifdef MADV_HUGEPAGE
  const auto place = reinterpret_cast<std::intptr_t>(memory);
  const std::int64_t before = (large_page - place % large_page) % large_page;
  if (bytes > 2 * large_page)
    madvise(memory + before, (bytes - before) / large_page * large_page, MADV_HUGEPAGE);
#endif
#pragma omp parallel for schedule(static) if (bytes > 2 * large_page)
  for (std::int64_t first = 0; first < bytes; first += page) memory[first] = 0;
  vector.resize(size);
}

}  // namespace fmbem
