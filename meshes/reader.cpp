// fmbem-reader: reads one file for load_mesh(), which starts it.
#include <string>

#include <omp.h>

#include "fmbem/meshes/child_request.hpp"
#include "fmbem/meshes/load_here.hpp"

using namespace fmbem;

int main() {
  return answer_as_child("fmbem-reader", "to read a file", [](ParcelReader& request) {
    omp_set_num_threads(request.got<int>());
    const auto task = request.got<ReaderTask>();
    const auto file = request.got<std::string>();
    const auto options = request.got<LoadOptions>();
    const int coarsest = request.got<int>();
    const auto array = request.got<std::string>();
    return ChildTask{"read " + file, [=](ParcelWriter& answer) {
                       if (task == ReaderTask::cell_data)
                         answer.put(read_cell_data_here(file, array));
                       else if (task == ReaderTask::element_data)
                         answer.put(read_element_data_here(file));
                       else
                         answer.put(load_mesh_levels_here(file, options, coarsest));
                     }};
  });
}
