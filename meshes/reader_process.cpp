#include "fmbem/meshes/reader_process.hpp"

#include <csignal>
#include <cstring>
#include <utility>
#include <vector>

#include <omp.h>
#include <sys/wait.h>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/child_request.hpp"
#include "fmbem/meshes/load.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem {
namespace {

/// The reason why a process ended without an answer.
[[noreturn]] void explain(int status, const std::string& file) {
  require_not_ended(status, "read " + file);
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

/// The reason why a process ended without having written the file.
[[noreturn]] void explain_unwritten(int status, const std::string& path) {
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  require_not_ended(status, "wrote " + path);
  if (signal == SIGXCPU)
    throw ResourceError("cannot write " + path +
                        ": it takes longer than this process may run: raise that limit, ulimit -t");
  if (signal == SIGXFSZ)
    throw ResourceError("cannot write " + path +
                        ": it is larger than the files that this process may write: raise that "
                        "limit, ulimit -f");
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
    throw ResourceError("fmbem-reader, which writes .msh, could not start; run it to see why");
  throw Error(ExitCode::internal_error,
              "internal error: Gmsh crashed" +
                  (signal ? std::string(" (") + strsignal(signal) + ")" : "") + " while writing " +
                  path);
}

/// A request: the task and its arguments, in the order in which fmbem-reader takes them.
template <class... Arguments>
ParcelWriter reader_request(ReaderTask task, const Arguments&... arguments) {
  ParcelWriter request;
  request.put(omp_get_max_threads());
  request.put(task);
  (request.put(arguments), ...);
  return request;
}

const ChildProgram reader{"fmbem-reader", "FMBEM_READER",
                          "the program that reads files and writes .msh",
                          "to read or to write a file"};

/// What the reader answers to a task on a file.
template <class Answer, class... Arguments>
Answer ask_reader(ReaderTask task, const std::string& file, const Arguments&... arguments) {
  Answer result;
  ask_child(
      reader, reader_request(task, file, arguments...), {},
      [&](int status) { explain(status, file); },
      [&](ParcelReader& answer) { answer.get(result); });
  return result;
}

}  // namespace

std::vector<SurfaceMesh> load_mesh_levels(const std::string& file, const LoadOptions& options,
                                          int coarsest) {
  return ask_reader<std::vector<SurfaceMesh>>(ReaderTask::meshes, file, options, coarsest);
}

std::vector<double> read_cell_data(const std::string& file, const std::string& array) {
  return ask_reader<std::vector<double>>(ReaderTask::cell_data, file, array);
}

std::vector<ElementData> read_element_data(const std::string& file) {
  return ask_reader<std::vector<ElementData>>(ReaderTask::element_data, file);
}

bool write_msh(const OutputFile& file, const SurfaceMesh& mesh,
               const std::vector<PanelField>& fields, const std::vector<VertexField>& at_vertices) {
  bool whole = false;
  ask_child(
      reader,
      reader_request(ReaderTask::write_msh, file.path(), file.partial_path(), mesh, fields,
                     at_vertices),
      {}, [&](int status) { explain_unwritten(status, file.path()); },
      [&](ParcelReader& answer) { answer.get(whole); });
  return whole;
}

std::string gmsh_version() {
  std::string version;
  try {
    ask_child(
        reader, reader_request(ReaderTask::gmsh_version), {},
        [](int) { throw Error(ExitCode::internal_error, "fmbem-reader ended without an answer"); },
        [&](ParcelReader& answer) { answer.get(version); });
  } catch (const Error&) {
    return "";
  }
  return version;
}

std::string cgal_version() { return FMBEM_CGAL_VERSION; }
std::string vtk_version() { return FMBEM_VTK_VERSION; }

SurfaceMesh load_mesh(const std::string& file, const LoadOptions& options) {
  return std::move(load_mesh_levels(file, options, options.refine).back());
}

}  // namespace fmbem
