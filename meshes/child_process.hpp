#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

namespace fmbem {

/// Where fmbem's own programs are looked for: beside the running one, in PATH, where they were to
/// be installed and where they were built. What runs in the build folder looks there first, and
/// does not take an older one that is installed.
std::vector<std::filesystem::path> folders_of_own_programs(const std::filesystem::path& beside);

/// The path of one of fmbem's own programs: what the environment's `variable` names, or else `name`
/// in the first of those folders that has it. Throws InputError with `purpose`, such as "the
/// program that reads files", if it is nowhere.
std::string find_own_program(const std::string& name, const char* variable,
                             const std::string& purpose);

/// A file that a child process gets under a number of its own.
struct HandedFile {
  int here, there;
};

/// Starts a program that neither reads nor prints anything, with some of the files that are open
/// here; signals are as usual there. Throws ResourceError with `purpose`, such as "to read a file".
pid_t start_silently(const std::string& program, const std::vector<HandedFile>& files,
                     const std::string& purpose);

/// Waits for its end and returns its status, as waitpid() does; 0 where the caller's program
/// collects or ignores its children itself.
int wait_for(pid_t process);

/// The exit code of a child process whose threads could not start.
inline constexpr int no_room_for_threads = 125;

/// Throws ResourceError where the process ended without a fault of its own: it was killed,
/// interrupted or terminated, or had no room for threads. `deed` is such as "read cube.geo", in the
/// past.
void require_not_ended(int status, const std::string& deed);

/// Kills the process that was started last, if it still runs, and waits until it is gone, so that
/// it writes no more. Safe to call from a signal handler, for a program that starts one process at
/// a time.
void end_child() noexcept;

}  // namespace fmbem
