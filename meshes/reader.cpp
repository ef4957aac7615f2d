// fmbem-reader: reads or writes one file for load_mesh() or write_mesh(), which starts it.
#include <string>

#include <omp.h>

#include "fmbem/meshes/child_request.hpp"
#include "fmbem/meshes/gmsh/write_msh.hpp"
#include "fmbem/meshes/load_here.hpp"
#include "fmbem/meshes/reader_process.hpp"

using namespace fmbem;

namespace {

/// Reads what reader_process.cpp has put into a request.
ChildTask task_of(ParcelReader& request) {
  omp_set_num_threads(request.got<int>());
  const auto task = request.got<ReaderTask>();
  const auto file = request.got<std::string>();
  switch (task) {
    case ReaderTask::cell_data: {
      const auto array = request.got<std::string>();
      return {"read " + file,
              [=](ParcelWriter& answer) { answer.put(read_cell_data_here(file, array)); }};
    }
    case ReaderTask::element_data:
      return {"read " + file,
              [=](ParcelWriter& answer) { answer.put(read_element_data_here(file)); }};
    case ReaderTask::write_msh: {
      const auto path = request.got<std::string>();
      const auto mesh = request.got<SurfaceMesh>();
      const auto fields = request.got<std::vector<PanelField>>();
      return {"write " + file,
              [=](ParcelWriter& answer) { answer.put(write_msh_here(path, file, mesh, fields)); }};
    }
    case ReaderTask::gmsh_version:
      return {"start Gmsh", [](ParcelWriter& answer) { answer.put(gmsh_version_here()); }};
    case ReaderTask::meshes:
      break;
  }
  const auto options = request.got<LoadOptions>();
  const int coarsest = request.got<int>();
  return {"read " + file, [=](ParcelWriter& answer) {
            answer.put(load_mesh_levels_here(file, options, coarsest));
          }};
}

}  // namespace

int main() { return answer_as_child("fmbem-reader", "to read or to write a file", task_of); }
