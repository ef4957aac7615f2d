// The global operator new of fmbem's programs: large arrays, of std::vector too, are in large pages
// (allocate_large()). In small ones the first touch of 84 MB took 60 ms on a virtual machine, and a
// problem of ten million panels touches some twenty such arrays, one thread at a time. It is no
// part of the library, whose users have their own.
#include <cstdlib>
#include <new>

#include "fmbem/fmm/base/buffer.hpp"

void* operator new(std::size_t size) {
  constexpr std::size_t large = std::size_t{4} << 20;
  if (size >= large) return fmbem::allocate_large(size);
  if (void* const memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
