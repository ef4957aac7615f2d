#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <omp.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/load.hpp"
#include "fmbem/meshes/memory_file.hpp"
#include "fmbem/meshes/parcel.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem {
namespace {

namespace fs = std::filesystem;

/// Where the reader is: FMBEM_READER, or beside the running program, in PATH, or where it was built
/// or installed.
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

/// Starts the reader, silent, with the memory file and default signal handling.
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
  if (errno != 0)
    throw ResourceError("cannot start " + program + " to read a file: " + std::strerror(errno));
  return process;
}

/// The reason why a process ended without an answer.
[[noreturn]] void explain(int status, const std::string& file) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
    throw ResourceError("the process that read " + file +
                        " was killed, as the system does where memory runs out");
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ)
    throw ResourceError("the mesh of " + file +
                        " is larger than the files that this process may write: raise that limit, "
                        "ulimit -f");
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
    throw ResourceError("fmbem-reader, which reads files, could not start; run it to see why");
  if (WIFEXITED(status) && ending(file) == "geo")
    throw InputError("reading " + file +
                     " ended the process: does the .geo file hold Exit? Remove it");
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
    throw InputError(
        "the library that reads " + file +
        " came to no end: the file is damaged, or it is geometry that Gmsh cannot "
        "mesh, such as the tip of a slender cone; blunt that, or try another mesh size");
  const std::string how =
      WIFSIGNALED(status) ? std::string(" (") + strsignal(WTERMSIG(status)) + ")" : "";
  throw InputError("the library that reads " + file + " crashed" + how +
                   ": the file is damaged or of a kind that the library cannot cope with; write "
                   "it anew or in another format");
}

}  // namespace

std::vector<SurfaceMesh> load_mesh_levels(const std::string& file, const LoadOptions& options,
                                          int coarsest) {
  MemoryFile memory;
  ParcelWriter request;
  request.put(false);  // not an answer, by which it is known when the process crashes
  request.put(getpid());
  request.put(omp_get_max_threads());
  request.put(file);
  request.put(options);
  request.put(coarsest);
  memory.write(request.bytes());
  const pid_t process = start(find_reader(), memory);
  int status = 0;
  // If the caller's program collects or ignores its child processes itself, there is no status.
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  const std::span<const char> bytes = memory.read();
  ParcelReader answer(bytes);
  // A process that was killed may have written part of an answer.
  if (status != 0 || bytes.empty() || !answer.got<bool>()) explain(status, file);
  const auto code = answer.got<ExitCode>();
  if (code == ExitCode::solved) return answer.got<std::vector<SurfaceMesh>>();
  const auto sentence = answer.got<std::string>();
  if (code == ExitCode::bad_input) throw InputError(sentence);
  if (code == ExitCode::out_of_resource) throw ResourceError(sentence);
  throw Error(code, sentence);
}

SurfaceMesh load_mesh(const std::string& file, const LoadOptions& options) {
  return std::move(load_mesh_levels(file, options, options.refine).back());
}

}  // namespace fmbem
