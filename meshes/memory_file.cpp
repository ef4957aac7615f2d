#include "fmbem/meshes/memory_file.hpp"

#include <cerrno>
#include <cstring>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {
namespace {

[[noreturn]] void fail() {
  throw ResourceError(std::string("no memory to take a mesh from process to process: ") +
                      std::strerror(errno));
}

}  // namespace

MemoryFile::MemoryFile() : file_(memfd_create("fmbem-reader", MFD_CLOEXEC)) {
  if (file_ < 0) fail();
}

MemoryFile::~MemoryFile() {
  unmap();
  close(file_);
}

void MemoryFile::unmap() {
  if (!map_.empty()) munmap(map_.data(), map_.size());
  map_ = {};
}

void MemoryFile::write(const std::string& bytes) {
  unmap();
  if (ftruncate(file_, 0) != 0) fail();
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t n = pwrite(file_, bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
    if (n < 0 && errno != EINTR) fail();
    if (n > 0) at += static_cast<std::size_t>(n);
  }
}

std::span<const char> MemoryFile::read() {
  unmap();
  struct stat status {};
  if (fstat(file_, &status) != 0) fail();
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return {};
  void* const map = mmap(nullptr, size, PROT_READ, MAP_SHARED, file_, 0);
  if (map == MAP_FAILED) fail();
  map_ = {static_cast<char*>(map), size};
  return map_;
}

}  // namespace fmbem
