#include "cli/study_pictures.hpp"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "study_pictures_script.hpp"  // scripts/study_pictures.py

namespace fmbem::cli {
namespace {

/// Runs Python with a script and an argument; what it returns, or −1 if there is none. Standard
/// output goes to standard error, or nowhere.
int run_python(const std::string& python, const std::string& script, const std::string& argument,
               bool silent) {
  std::vector<std::string> words{python, "-c", script, argument};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  if (silent)
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO})
      posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, python.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (error != 0) return -1;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string find_python() {
  std::vector<std::string> candidates{"python3", "/usr/bin/python3"};
  if (const char* given = std::getenv("FMBEM_PYTHON")) candidates = {given};
  for (const std::string& python : candidates)
    if (run_python(python, "import matplotlib", "", true) == 0) return python;
  throw InputError(
      "pictures need a Python with matplotlib: install it (Debian: python3-matplotlib) or name one "
      "in FMBEM_PYTHON");
}

}  // namespace

ExitCode plot_study(Console& console, const std::string& folder) {
  FMBEM_REQUIRE(std::filesystem::exists(folder + "/runs.csv"),
                "there are no tables of a study in " << folder << ": run fmbem study --out "
                                                     << folder << " first");
  const int status = run_python(find_python(), study_pictures_script, folder, false);
  if (status != 0)
    throw Error(ExitCode::internal_error, "the pictures of " + folder + " could not be made");
  console.print("wrote the pictures in " + folder + " (.svg and .png)");
  return ExitCode::solved;
}

}  // namespace fmbem::cli
