#pragma once

#include <string>

#include "fmbem/meshes/load.hpp"

namespace fmbem {

// Libraries that read files may crash on bad ones, end the process or leave its memory damaged. So
// the program fmbem-reader does it, in a process of its own for each file; a memory file, number 3
// among its open files, brings it the request and takes the mesh back. To fork would not do: a
// process that runs MPI, CUDA or OpenMP has threads and memory that do not survive it.

constexpr int reader_file = 3;

/// load_mesh_here() in a process of its own. A file that makes it crash is an InputError.
SurfaceMesh load_mesh_there(const std::string& file, const LoadOptions& options);

/// The other side: answers the request in the memory file. Returns the process' exit code.
int answer_request();

}  // namespace fmbem
