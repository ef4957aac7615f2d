#pragma once

#include <span>
#include <string>

namespace fmbem {

// Libraries that read files may crash on bad ones, end the process or leave its memory damaged. So
// the program fmbem-reader does it, in a process of its own for each file. A memory file, number 3
// among its open files, brings it the request and takes the mesh back. A fork would not do: a
// process that runs MPI, CUDA or OpenMP has threads and memory that do not survive it.

constexpr int request_file = 3;

/// A file in memory, for two processes. Throws ResourceError where there is no memory for it.
class MemoryFile {
 public:
  MemoryFile();
  /// A memory file that is open already.
  explicit MemoryFile(int file) : file_(file) {}
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int number() const { return file_; }
  /// Replaces its content.
  void write(const std::string& bytes);
  /// Its content, valid until it is written or read again.
  std::span<const char> read();

 private:
  void unmap();

  int file_;
  std::span<char> map_;
};

}  // namespace fmbem
