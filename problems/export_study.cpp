#include "fmbem/problems/export_study.hpp"

#include <filesystem>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/npy_file.hpp"

namespace fmbem {
namespace {

template <class T>
void write_npy(const std::string& path, const std::vector<std::size_t>& shape,
               std::span<const T> values, NpyFile::Order order = NpyFile::Order::rows) {
  NpyFile file = NpyFile::of<T>(path, shape, order);
  file.write(values);
  file.close();
  file.commit();
}

}  // namespace

void export_study_system(const std::string& folder, const StudySystem& system,
                         const std::vector<double>& b) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  FMBEM_REQUIRE(!error, "cannot make the folder " << folder << ": " << error.message());
  const std::size_t n = system.unknowns();
  write_npy<std::int64_t>(folder + "/permutation.npy", {system.panels().size()},
                          system.panels().input_index);
  write_npy<double>(folder + "/b.npy", {b.size() / n, n}, b);
  write_npy<double>(folder + "/A.npy", {n, n}, matrix_of(*system.op()), NpyFile::Order::columns);
}

}  // namespace fmbem
