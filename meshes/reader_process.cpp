#include <csignal>
#include <cstring>
#include <utility>
#include <vector>

#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/child_process.hpp"
#include "fmbem/meshes/load.hpp"
#include "fmbem/meshes/memory_file.hpp"
#include "fmbem/meshes/parcel.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem {
namespace {

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

/// What the reader answers: meshes or, if an array is named, its numbers.
template <class Answer>
Answer ask_reader(const std::string& file, const LoadOptions& options, int coarsest,
                  const std::optional<std::string>& array) {
  MemoryFile memory;
  ParcelWriter request;
  request.put(false);  // not an answer, by which it is known when the process crashes
  request.put(getpid());
  request.put(omp_get_max_threads());
  request.put(file);
  request.put(options);
  request.put(coarsest);
  request.put(array);
  memory.write(request.bytes());
  const std::string program =
      find_own_program("fmbem-reader", "FMBEM_READER", "the program that reads files");
  const int status =
      wait_for(start_silently(program, {{memory.number(), reader_file}}, "to read a file"));
  const std::span<const char> bytes = memory.read();
  ParcelReader answer(bytes);
  // A process that was killed may have written part of an answer.
  if (status != 0 || bytes.empty() || !answer.got<bool>()) explain(status, file);
  const auto code = answer.got<ExitCode>();
  if (code == ExitCode::solved) return answer.got<Answer>();
  const auto sentence = answer.got<std::string>();
  if (code == ExitCode::bad_input) throw InputError(sentence);
  if (code == ExitCode::out_of_resource) throw ResourceError(sentence);
  throw Error(code, sentence);
}

}  // namespace

std::vector<SurfaceMesh> load_mesh_levels(const std::string& file, const LoadOptions& options,
                                          int coarsest) {
  return ask_reader<std::vector<SurfaceMesh>>(file, options, coarsest, {});
}

std::vector<double> read_cell_data(const std::string& file, const std::string& array) {
  return ask_reader<std::vector<double>>(file, {}, 0, array);
}

SurfaceMesh load_mesh(const std::string& file, const LoadOptions& options) {
  return std::move(load_mesh_levels(file, options, options.refine).back());
}

}  // namespace fmbem
