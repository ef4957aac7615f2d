#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

#include <sys/mman.h>

namespace fmbem {

/// An array that is left uninitialised, in large pages where the system has them: reading operators
/// of hundreds of megabytes is otherwise slowed down by the lookup of pages.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  /// Throws std::bad_alloc.
  explicit Buffer(std::size_t size) : size_(size) {
    constexpr std::size_t page = std::size_t{2} << 20;
    const std::size_t alignment = size * sizeof(T) >= page ? page : 64;
    const std::size_t bytes = (size * sizeof(T) + alignment - 1) / alignment * alignment;
    data_.reset(static_cast<T*>(std::aligned_alloc(alignment, bytes)));
    if (!data_ && size > 0) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    if (alignment == page) madvise(data_.get(), bytes, MADV_HUGEPAGE);
#endif
  }

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
