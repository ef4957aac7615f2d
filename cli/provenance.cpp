#include "cli/provenance.hpp"

#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>

#include <zlib.h>

#include "cli/compiled_from.hpp"
#include "cli/expression.hpp"
#include "fmbem/cuda/device.hpp"
#include "fmbem/fmm/base/machine.hpp"
#include "fmbem/meshes/input_files.hpp"
#include "fmbem/meshes/load.hpp"
#include "fmbem/meshes/read_file.hpp"
#include "fmbem/problems/hdf5_image.hpp"
#include "fmbem/solvers/petsc_session.hpp"

namespace fmbem::cli {
namespace {

/// ISO 8601, UTC, to the second.
std::string date_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text.data();
}

Json libraries() {
  Json json{{"PETSc", petsc_version()},
            {"MPI", mpi_version()},
            {"Gmsh API", FMBEM_GMSH_VERSION},
            {"BLAS", blas_name()},
            {"zlib", zlibVersion()},
            {"HDF5", hdf5_version()},
            {"muParser", expression_library_version()}};
  if (const std::string version = cgal_version(); !version.empty()) json["CGAL"] = version;
  if (const std::string version = vtk_version(); !version.empty()) json["VTK"] = version;
  if (built_with_cuda()) json["CUDA"] = cuda_runtime_version();
  return json;
}

std::string current_folder() {
  std::error_code error;  // of a folder that has been removed
  return std::filesystem::current_path(error).string();
}

}  // namespace

Json provenance(const Arguments& arguments) {
  const std::string commit = compiled_from();
  return {{"arguments", arguments.given},
          {"folder", current_folder()},
          {"date", date_now()},
          {"commit", commit.empty() ? Json(nullptr) : Json(commit)},
          {"libraries", libraries()},
          {"machine",
           {{"processor", processor_name()},
            {"cores", available_cores()},
            {"memory_bytes", total_memory()}}}};
}

Json fingerprint(const std::string& file) {
  check_readable(file);
  std::ifstream in(file, std::ios::binary);
  std::vector<char> block(std::size_t{1} << 20);
  uLong crc = crc32(0, nullptr, 0);
  std::uint64_t bytes = 0;
  while (in.read(block.data(), std::streamsize(block.size())), in.gcount() > 0) {
    const auto count = static_cast<uInt>(in.gcount());
    crc = crc32(crc, reinterpret_cast<const Bytef*>(block.data()), count);
    bytes += count;
  }
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%08lx", crc);
  return {{"file", file}, {"bytes", bytes}, {"crc32", text.data()}};
}

void add_inputs(Json& inputs, const std::string& file) {
  for (const std::string& one : files_read_with(file)) inputs.push_back(fingerprint(one));
}

std::vector<std::string> unused_ambient_options() {
  std::vector<std::string> sentences;
  for (const std::string& name : unused_petsc_options().ambient)
    sentences.push_back("the PETSc option -" + name +
                        " from PETSC_OPTIONS or an rc file was not used by anything");
  return sentences;
}

void add_surroundings(Json& run, int threads, bool on_gpu) {
  run["threads"] = threads;
  run["device"] = on_gpu ? Json(cuda_devices().front().name) : Json(nullptr);
  run["petsc_options"] = petsc_options_in_force();
}

}  // namespace fmbem::cli
