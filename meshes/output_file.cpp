#include "fmbem/meshes/output_file.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <unistd.h>

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {
namespace {

// Partial files by name, in storage that a signal handler can read at any time.
struct Slot {
  std::atomic<bool> in_use{false}, removable{false};
  char path[4096];
};
constexpr int n_slots = 16;
Slot slots[n_slots];

int take_slot(const std::string& path) {
  if (path.size() >= sizeof slots[0].path) return -1;
  for (int k = 0; k < n_slots; ++k) {
    if (slots[k].in_use.exchange(true)) continue;
    std::memcpy(slots[k].path, path.c_str(), path.size() + 1);
    slots[k].removable = true;
    return k;
  }
  return -1;
}

void free_slot(int slot) {
  if (slot < 0) return;
  slots[slot].removable = false;
  slots[slot].in_use = false;
}

std::string partial_name(const std::string& path) {
  const std::filesystem::path whole(path);
  std::string name = ".";
  name += whole.stem().string() + ".partial-" + std::to_string(getpid());
  return (whole.parent_path() / (name + whole.extension().string())).string();
}

}  // namespace

OutputFile::OutputFile(std::string path)
    : path_(std::move(path)), partial_path_(partial_name(path_)) {
  const std::filesystem::path whole(path_);
  FMBEM_REQUIRE(whole.has_filename() && !std::filesystem::is_directory(whole),
                "cannot write " << path_ << ": it is a folder");
  const int file = open(partial_path_.c_str(), O_CREAT | O_EXCL | O_WRONLY, 0666);
  FMBEM_REQUIRE(file >= 0, "cannot write " << path_ << ": " << std::strerror(errno));
  close(file);
  slot_ = take_slot(partial_path_);
}

OutputFile::~OutputFile() {
  if (!committed_) unlink(partial_path_.c_str());
  free_slot(slot_);
}

void OutputFile::commit() {
  if (std::rename(partial_path_.c_str(), path_.c_str()) != 0)
    throw ResourceError("cannot write " + path_ + ": " + std::strerror(errno));
  committed_ = true;
}

void remove_partial_output() noexcept {
  for (Slot& slot : slots)
    if (slot.removable) unlink(slot.path);
}

}  // namespace fmbem
