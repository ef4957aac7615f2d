#include "fmbem/meshes/output_file.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {
namespace {

/// The paths that a signal handler may unlink: static storage, since it must not touch the heap.
struct Slot {
  enum State : int { free, being_filled, in_use };
  std::atomic<int> state{free};
  std::array<char, PATH_MAX> path;
};
static_assert(std::atomic<int>::is_always_lock_free, "needed in a signal handler");
std::array<Slot, 16> slots;

int register_path(const std::string& path) {
  if (path.size() >= PATH_MAX) throw InputError("cannot write " + path + ": the path is too long");
  for (std::size_t i = 0; i < slots.size(); ++i) {
    int expected = Slot::free;
    if (!slots[i].state.compare_exchange_strong(expected, Slot::being_filled)) continue;
    std::memcpy(slots[i].path.data(), path.c_str(), path.size() + 1);
    slots[i].state.store(Slot::in_use);
    return static_cast<int>(i);
  }
  throw ResourceError("more than " + std::to_string(slots.size()) +
                      " output files are being written at once");
}

/// The path that is really written: behind symbolic links, and independent of a later change of
/// folder.
std::filesystem::path destination(const std::string& path) {
  namespace fs = std::filesystem;
  FMBEM_REQUIRE(!path.empty(), "an output file needs a name");
  std::error_code error;
  fs::path target = fs::weakly_canonical(fs::absolute(path), error);
  FMBEM_REQUIRE(!error, "cannot write '" << path << "': " << error.message());
  const fs::file_status status = fs::status(target, error);
  FMBEM_REQUIRE(!fs::is_directory(status), "cannot write " << path << ": it is a folder");
  FMBEM_REQUIRE(!fs::exists(status) || fs::is_regular_file(status),
                "cannot write " << path << ": it is not a regular file");
  // Renaming over a write-protected file is allowed, but is not what its owner wants.
  FMBEM_REQUIRE(!fs::exists(status) || access(target.c_str(), W_OK) == 0,
                "cannot write " << path << ": " << std::strerror(errno));
  return target;
}

}  // namespace

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
  const std::filesystem::path target = destination(path_);
  target_ = target.string();
  // Another process may have left a file of the same name, as process numbers are used again.
  for (int attempt = 0; attempt < 100; ++attempt) {
    const std::string name = ".fmbem-" + std::to_string(getpid()) + "-" + std::to_string(attempt) +
                             target.extension().string();
    partial_path_ = (target.parent_path() / name).string();
    if (access(partial_path_.c_str(), F_OK) == 0) continue;
    slot_ = register_path(partial_path_);
    const int file = open(partial_path_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    if (file >= 0) {
      // A file that is replaced keeps its permissions.
      struct stat former {};
      if (stat(target_.c_str(), &former) == 0) fchmod(file, former.st_mode & 07777);
      close(file);
      return;
    }
    const int error = errno;
    slots[slot_].state = Slot::free;
    if (error == EEXIST) continue;
    const std::string sentence = "cannot write " + path_ + ": " + std::strerror(error);
    if (error == ENOSPC || error == EDQUOT) throw ResourceError(sentence);
    throw InputError(sentence);
  }
  throw InputError("cannot write " + path_ + ": its folder is full of partial files .fmbem-…");
}

OutputFile::~OutputFile() {
  if (committed_) return;
  unlink(partial_path_.c_str());
  slots[slot_].state = Slot::free;
}

void OutputFile::commit() {
  if (std::rename(partial_path_.c_str(), target_.c_str()) != 0)
    throw ResourceError("cannot write " + path_ + ": " + std::strerror(errno));
  committed_ = true;
  slots[slot_].state = Slot::free;
}

void remove_partial_output() noexcept {
  const int error = errno;
  for (Slot& slot : slots)
    if (slot.state.load() == Slot::in_use) unlink(slot.path.data());
  errno = error;
}

}  // namespace fmbem
