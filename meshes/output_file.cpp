#include "fmbem/meshes/output_file.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <utility>

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
std::array<Slot, 128> slots;

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

/// The path that is really written.
std::filesystem::path destination(const std::string& path) {
  namespace fs = std::filesystem;
  FMBEM_REQUIRE(!path.empty(), "an output file needs a name");
  std::error_code error;
  fs::path target = behind_links(path, error);
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

std::filesystem::path behind_links(const std::string& path, std::error_code& error) {
  namespace fs = std::filesystem;
  fs::path target = fs::absolute(path, error);
  if (!error) target = fs::weakly_canonical(target, error);
  while (!error && fs::is_symlink(fs::symlink_status(target)))
    target = fs::weakly_canonical(target.parent_path() / fs::read_symlink(target, error), error);
  return target;
}

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

void write_whole(const std::string& path, const std::string& text) {
  OutputFile file(path);
  std::ofstream out(file.partial_path(), std::ios::binary);
  out << text;
  out.close();
  if (!out) throw ResourceError("cannot write " + path + ": is the disk full?");
  file.commit();
}

OutputFolder::OutputFolder(std::string path) : path_(std::move(path)) {
  namespace fs = std::filesystem;
  FMBEM_REQUIRE(!path_.empty(), "an output folder needs a name");
  std::error_code error;
  path_ = fs::absolute(path_, error).lexically_normal().string();
  const fs::file_status status = fs::status(path_, error);
  FMBEM_REQUIRE(!fs::exists(status) || fs::is_directory(status),
                "cannot write into " << path_ << ": it is not a folder");
  if (fs::exists(status)) return;
  slot_ = register_path(path_);
  if (mkdir(path_.c_str(), 0777) == 0) return;
  const int reason = errno;
  slots[std::exchange(slot_, -1)].state = Slot::free;
  if (reason == EEXIST && fs::is_directory(path_, error)) return;  // another process was faster
  const std::string sentence = "cannot make the folder " + path_ + ": " + std::strerror(reason);
  if (reason == ENOSPC || reason == EDQUOT) throw ResourceError(sentence);
  throw InputError(sentence);
}

OutputFolder::~OutputFolder() {
  if (slot_ < 0) return;
  rmdir(path_.c_str());
  slots[slot_].state = Slot::free;
}

void OutputFolder::commit() {
  if (slot_ >= 0) slots[slot_].state = Slot::free;
  slot_ = -1;
}

namespace {
std::atomic<int> holders{0}, waiting{0};
}  // namespace

HeldInterrupts::HeldInterrupts() { ++holders; }

HeldInterrupts::~HeldInterrupts() {
  if (--holders > 0) return;
  if (const int signal = waiting.exchange(0)) raise(signal);
}

bool hold_interrupt(int signal) noexcept {
  if (holders.load() == 0) return false;
  waiting.store(signal);
  return true;
}

void remove_partial_output() noexcept {
  const int error = errno;
  for (Slot& slot : slots)
    if (slot.state.load() == Slot::in_use) unlink(slot.path.data());
  for (Slot& slot : slots)  // what is no file
    if (slot.state.load() == Slot::in_use) rmdir(slot.path.data());
  errno = error;
}

}  // namespace fmbem
