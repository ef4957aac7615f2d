// fmbem-reader: reads or writes one file for load_mesh() or write_mesh(), which starts it.
#include <string>
#include <utility>

#include "fmbem/meshes/child_request.hpp"
#include "fmbem/meshes/gmsh/write_msh.hpp"
#include "fmbem/meshes/load_here.hpp"
#include "fmbem/meshes/reader_process.hpp"

using namespace fmbem;

namespace {

/// Reads what reader_process.cpp has put into a request.
ChildTask task_of(ParcelReader& request, std::string& what) {
  start_threads(request.got<int>());
  const auto task = request.got<ReaderTask>();
  if (task == ReaderTask::gmsh_version) {
    what = "start Gmsh";
    return [](ParcelWriter& answer) { answer.put(gmsh_version_here()); };
  }
  const auto file = request.got<std::string>();
  what = (task == ReaderTask::write_msh ? "write " : "read ") + file;
  switch (task) {
    case ReaderTask::cell_data:
      return [file, array = request.got<std::string>()](ParcelWriter& answer) {
        answer.put(read_cell_data_here(file, array));
      };
    case ReaderTask::element_data:
      return [file](ParcelWriter& answer) { answer.put(read_element_data_here(file)); };
    case ReaderTask::write_msh: {
      const auto path = request.got<std::string>();
      auto mesh = request.got<SurfaceMesh>();
      auto fields = request.got<std::vector<PanelField>>();
      auto at_vertices = request.got<std::vector<VertexField>>();
      return [file, path, mesh = std::move(mesh), fields = std::move(fields),
              at_vertices = std::move(at_vertices)](ParcelWriter& answer) {
        answer.put(write_msh_here(path, file, mesh, fields, at_vertices));
      };
    }
    case ReaderTask::meshes:
    case ReaderTask::gmsh_version:
      break;
  }
  const auto options = request.got<LoadOptions>();
  const int coarsest = request.got<int>();
  return [=](ParcelWriter& answer) { answer.put(load_mesh_levels_here(file, options, coarsest)); };
}

}  // namespace

int main() { return answer_as_child("fmbem-reader", "read or write a file", task_of); }
