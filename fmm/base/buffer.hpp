#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include <sys/mman.h>

namespace fmbem {

/// Memory to be released by std::free(). Large blocks are in large pages where the system has them:
/// with small pages the first touch of hundreds of megabytes, and reading them later, is slowed
/// down by looking up pages. Throws std::bad_alloc.
inline void* allocate_large(std::size_t size) {
  constexpr std::size_t page = std::size_t{2} << 20;
  const std::size_t alignment = size >= page ? page : 64;
  const std::size_t bytes = (size + alignment - 1) / alignment * alignment;
  void* const memory = std::aligned_alloc(alignment, bytes);
  if (!memory && size > 0) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  if (alignment == page) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  return memory;
}

/// An allocator of such memory for std::vector. resize() leaves the content uninitialised, so that
/// each page is touched first by the thread that fills it.
template <class T>
struct LargePages {
  using value_type = T;
  LargePages() = default;
  template <class U>
  LargePages(const LargePages<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(allocate_large(n * sizeof(T))); }
  void deallocate(T* p, std::size_t) { std::free(p); }
  template <class U>
  void construct(U*) noexcept {}
  template <class U, class... A>
  void construct(U* p, A&&... a) {
    ::new (static_cast<void*>(p)) U(std::forward<A>(a)...);
  }
  template <class U>
  bool operator==(const LargePages<U>&) const {
    return true;
  }
};

template <class T>
using LargeVector = std::vector<T, LargePages<T>>;

/// An array in such memory, uninitialised.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  /// Throws std::bad_alloc.
  explicit Buffer(std::size_t size)
      : size_(size), data_(static_cast<T*>(allocate_large(size * sizeof(T)))) {}

  T* data() const { return data_.get(); }
  std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  std::size_t size_ = 0;
  std::unique_ptr<T[], Free> data_;
};

}  // namespace fmbem
