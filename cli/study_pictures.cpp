#include "cli/study_pictures.hpp"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "study_pictures_script.hpp"  // scripts/study_pictures.py

namespace fmbem::cli {
namespace {

/// What a script in Python has returned, −1 if there is no Python, and written.
struct Ended {
  int status = -1;
  std::string text{};
};

std::string read_all(int file) {
  std::string text;
  std::array<char, 4096> some{};
  for (ssize_t count = 0;;) {
    count = read(file, some.data(), some.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(some.data(), static_cast<std::size_t>(count));
  }
}

/// Runs a script with an argument. Modules are not those of the current folder, where any file may
/// have the name of one of Python's own.
Ended run_python(const std::string& python, const std::string& script,
                 const std::string& argument) {
  const std::string without_folder =
      "import sys\nsys.path[:] = [path for path in sys.path if path]\n";
  std::vector<std::string> words{python, "-c", without_folder + script, argument};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw ResourceError("there is no pipe left for Python");
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_adddup2(&actions, ends[1], stream);
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, python.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  Ended ended;
  if (error == 0) {
    ended.text = read_all(ends[0]);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    if (WIFEXITED(status)) ended.status = WEXITSTATUS(status);
  }
  close(ends[0]);
  return ended;
}

std::string find_python() {
  std::vector<std::string> candidates{"python3", "/usr/bin/python3"};
  if (const char* given = std::getenv("FMBEM_PYTHON")) candidates = {given};
  for (const std::string& python : candidates)
    if (run_python(python, "import matplotlib", "").status == 0) return python;
  throw InputError(
      "pictures need a Python with matplotlib: install it (Debian: python3-matplotlib) or name one "
      "in FMBEM_PYTHON");
}

}  // namespace

ExitCode plot_study(Console& console, const std::string& folder) {
  FMBEM_REQUIRE(std::filesystem::exists(folder + "/runs.csv"),
                "there are no tables of a study in " << folder << ": run fmbem study --out "
                                                     << folder << " first");
  const Ended ended = run_python(find_python(), study_pictures_script, folder);
  constexpr int is_damaged = 2;  // of the script, which has said how
  if (ended.status == is_damaged)
    throw InputError(ended.text.substr(0, ended.text.find_last_not_of('\n') + 1));
  std::cerr << ended.text;
  if (ended.status != 0)
    throw Error(ExitCode::internal_error, "the pictures of " + folder + " could not be made");
  console.print("wrote the pictures in " + folder + " (.svg and .png)");
  return ExitCode::solved;
}

}  // namespace fmbem::cli
