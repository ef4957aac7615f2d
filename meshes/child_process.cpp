#include "fmbem/meshes/child_process.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/output_file.hpp"

namespace fmbem {
namespace {

/// Above every number that a child gets a file under.
constexpr int beyond_handed = 16;

/// What a signal handler may have to end; 0 is none.
std::atomic<pid_t> running_child{0};
static_assert(std::atomic<pid_t>::is_always_lock_free, "needed in a signal handler");

}  // namespace

std::vector<std::filesystem::path> folders_of_own_programs(const std::filesystem::path& beside) {
  namespace fs = std::filesystem;
  std::vector<fs::path> folders{beside};
  const char* const path = std::getenv("PATH");
  std::istringstream words(path ? path : "");
  for (std::string word; std::getline(words, word, ':');)
    if (!word.empty()) folders.emplace_back(word);
  const fs::path built = FMBEM_PROGRAMS_BUILT, installed = FMBEM_PROGRAMS_INSTALLED;
  std::error_code error;
  const fs::path from_build =
      beside.lexically_relative(fs::weakly_canonical(built.parent_path(), error));
  const bool is_installed = from_build.empty() || *from_build.begin() == "..";
  folders.push_back(is_installed ? installed : built);
  folders.push_back(is_installed ? built : installed);
  return folders;
}

std::string find_own_program(const std::string& name, const char* variable,
                             const std::string& purpose) {
  namespace fs = std::filesystem;
  if (const char* named = std::getenv(variable); named && *named) return named;
  std::error_code error;
  for (const fs::path& folder :
       folders_of_own_programs(fs::read_symlink("/proc/self/exe", error).parent_path()))
    if (const fs::path program = folder / name; access(program.c_str(), X_OK) == 0) return program;
  throw InputError("there is no " + name + ", " + purpose +
                   ", beside the running program or in PATH; put it there or name it in " +
                   variable);
}

pid_t start_silently(const std::string& program, const std::vector<HandedFile>& files,
                     const std::string& purpose) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  // Through copies: a number there may be that of another file here.
  std::vector<int> copies;
  for (const HandedFile& file : files) {
    copies.push_back(fcntl(file.here, F_DUPFD_CLOEXEC, beyond_handed));
    posix_spawn_file_actions_adddup2(&actions, copies.back(), file.there);
  }
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
  for (const int output : {1, 2}) posix_spawn_file_actions_adddup2(&actions, 0, output);
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
  const HeldInterrupts until_it_is_known;
  const int error =
      posix_spawn(&process, program.c_str(), &actions, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  for (const int copy : copies) close(copy);
  if (error != 0)
    throw ResourceError("cannot start " + program + " " + purpose + ": " + std::strerror(error));
  running_child = process;
  return process;
}

int wait_for(pid_t process) {
  // While nobody has collected it, no other process gets its number, and is killed in its place.
  siginfo_t end;
  while (waitid(P_PID, process, &end, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  running_child = 0;
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

void require_not_ended(int status, const std::string& deed) {
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (signal == SIGKILL)
    throw ResourceError("the process that " + deed +
                        " was killed, as the system does where memory runs out");
  if (signal == SIGTERM || signal == SIGINT || signal == SIGHUP)
    throw ResourceError("the process that " + deed + " was ended (" + strsignal(signal) + ")");
  if (WIFEXITED(status) && WEXITSTATUS(status) == no_room_for_threads)
    throw ResourceError("the process that " + deed +
                        " had no room for its threads: raise the limits, ulimit -u and -v, or use "
                        "fewer --threads");
}

void end_child() noexcept {
  const int error = errno;
  if (const pid_t process = running_child.load(); process > 0) {
    kill(process, SIGKILL);
    while (waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  errno = error;
}

}  // namespace fmbem
