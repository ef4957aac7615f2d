#include "fmbem/meshes/reader_process.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include <fcntl.h>
#include <omp.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/load_here.hpp"
#include "fmbem/meshes/parcel.hpp"

extern char** environ;

namespace fmbem {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& what) {
  throw ResourceError("cannot start a process to read files: " + what + ": " +
                      std::strerror(errno));
}

/// A file in memory.
class MemoryFile {
 public:
  MemoryFile() : file_(memfd_create("fmbem-reader", MFD_CLOEXEC)) {
    if (file_ < 0) fail("a file in memory");
  }
  explicit MemoryFile(int file) : file_(file) {}
  ~MemoryFile() {
    if (map_ != MAP_FAILED) munmap(map_, size_);
    close(file_);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int number() const { return file_; }

  /// Replaces what it holds.
  void write(const std::string& bytes) {
    if (ftruncate(file_, 0) != 0) fail("a file in memory");
    for (std::size_t at = 0; at < bytes.size();) {
      const ssize_t n = pwrite(file_, bytes.data() + at, bytes.size() - at, off_t(at));
      if (n < 0 && errno != EINTR) fail("a file in memory");
      if (n > 0) at += std::size_t(n);
    }
  }

  /// What it holds; once.
  std::span<const char> read() {
    struct stat status {};
    if (fstat(file_, &status) != 0) fail("a file in memory");
    size_ = std::size_t(status.st_size);
    if (size_ == 0) return {};
    map_ = mmap(nullptr, size_, PROT_READ, MAP_SHARED, file_, 0);
    if (map_ == MAP_FAILED) fail("a file in memory");
    return {static_cast<const char*>(map_), size_};
  }

 private:
  int file_;
  void* map_ = MAP_FAILED;
  std::size_t size_ = 0;
};

/// FMBEM_READER, or what is beside the running program, in PATH, or where it was built or
/// installed.
std::string find_reader() {
  if (const char* named = std::getenv("FMBEM_READER"); named && *named) return named;
  std::error_code error;
  std::vector<fs::path> folders{fs::read_symlink("/proc/self/exe", error).parent_path()};
  const char* const path = std::getenv("PATH");
  std::istringstream words(path ? path : "");
  for (std::string word; std::getline(words, word, ':');)
    if (!word.empty()) folders.emplace_back(word);
  folders.insert(folders.end(), {FMBEM_READER_BUILT, FMBEM_READER_INSTALLED});
  for (const fs::path& folder : folders)
    if (const fs::path program = folder / "fmbem-reader"; access(program.c_str(), X_OK) == 0)
      return program;
  throw InputError(
      "there is no fmbem-reader, the program that reads files, beside the running program or in "
      "PATH; put it there or name it in FMBEM_READER");
}

/// Starts the reader, silent, with the memory file; signals are as usual there.
pid_t start(const std::string& program, const MemoryFile& memory) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, memory.number(), reader_file);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDWR, 0);
  for (const int output : {1, 2}) posix_spawn_file_actions_adddup2(&files, 0, output);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  char* arguments[] = {const_cast<char*>(program.c_str()), nullptr};
  pid_t process = 0;
  errno = posix_spawn(&process, program.c_str(), &files, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (errno != 0) fail(program);
  return process;
}

/// Why a process ended that has not answered.
[[noreturn]] void explain(int status, const std::string& file) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
    throw ResourceError("the process that read " + file +
                        " was killed, as the system does where memory runs out");
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    throw InputError("reading " + file + " ended the process: does the .geo file hold Exit? " +
                     "Remove it");
  const std::string how =
      WIFSIGNALED(status) ? std::string(" (") + strsignal(WTERMSIG(status)) + ")" : "";
  throw InputError("the library that reads " + file + " crashed" + how +
                   ": the file is damaged or of a kind that the library cannot cope with; write "
                   "it anew or in another format");
}

}  // namespace

SurfaceMesh load_mesh_there(const std::string& file, const LoadOptions& options) {
  MemoryFile memory;
  ParcelWriter request;
  request.put(getpid());
  request.put(omp_get_max_threads());
  request.put(file);
  request.put(options);
  memory.write(request.bytes());
  const pid_t process = start(find_reader(), memory);
  int status = 0;
  // Where the caller's program collects or ignores its children itself, there is no status.
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  const std::span<const char> bytes = memory.read();
  ParcelReader answer(bytes);
  if (bytes.empty()) explain(status, file);
  const auto code = answer.got<ExitCode>();
  if (code == ExitCode::solved) return answer.got<SurfaceMesh>();
  const auto sentence = answer.got<std::string>();
  if (code == ExitCode::bad_input) throw InputError(sentence);
  if (code == ExitCode::out_of_resource) throw ResourceError(sentence);
  throw Error(code, sentence);
}

int answer_request() {
  MemoryFile memory(reader_file);
  ParcelReader request(memory.read());
  const auto parent = request.got<pid_t>();
  // Who interrupts the program does not want this process either.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) return static_cast<int>(ExitCode::interrupted);
  omp_set_num_threads(request.got<int>());
  const auto file = request.got<std::string>();
  const auto options = request.got<LoadOptions>();
  memory.write("");  // an answer of no bytes is no answer
  ParcelWriter answer;
  const auto refuse = [&](ExitCode code, const std::string& sentence) {
    answer = {};
    answer.put(code);
    answer.put(sentence);
  };
  try {
    const SurfaceMesh mesh = load_mesh_here(file, options);
    answer.put(ExitCode::solved);
    answer.put(mesh);
  } catch (const Error& e) {
    refuse(e.code(), e.what());
  } catch (const std::bad_alloc&) {
    refuse(ExitCode::out_of_resource, "not enough memory to read " + file);
  } catch (const std::exception& e) {
    refuse(ExitCode::internal_error, "internal error while reading " + file + ": " + e.what());
  }
  memory.write(answer.bytes());
  return 0;
}

}  // namespace fmbem
