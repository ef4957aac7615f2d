#include "fmbem/problems/export_system.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "fmbem/bem/geometry/triangle.hpp"
#include "fmbem/meshes/npy_file.hpp"
#include "fmbem/meshes/output_file.hpp"

namespace fmbem {
namespace {

/// A file of the folder, and its values if they are at hand.
class Export {
 public:
  explicit Export(const std::string& path) : folder_(path) {}

  template <class T>
  NpyFile& add(const std::string& name, const std::vector<std::size_t>& shape,
               NpyFile::Order order = NpyFile::Order::rows) {
    files_.push_back(NpyFile::of<T>(path_of(name), shape, order));
    return files_.back();
  }
  template <class T>
  void add(const std::string& name, const std::vector<std::size_t>& shape,
           const std::vector<T>& values) {
    add<T>(name, shape).write(std::span(values));
  }

  std::string path_of(const std::string& name) const { return folder_.path() + "/" + name; }

  void commit() {
    for (NpyFile& file : files_) file.close();
    const HeldInterrupts held;
    for (NpyFile& file : files_) file.commit();
    folder_.commit();
  }

 private:
  OutputFolder folder_;
  std::vector<NpyFile> files_;
};

/// Each of some vectors in the order of the mesh.
std::vector<double> in_input_order(const Panels& panels, std::span<const double> vectors) {
  std::vector<double> result;
  result.reserve(vectors.size());
  for (std::size_t first = 0; first < vectors.size(); first += panels.size()) {
    const std::vector<double> one = panels.to_input_order(vectors.subspan(first, panels.size()));
    result.insert(result.end(), one.begin(), one.end());
  }
  return result;
}

/// b − A x
std::vector<double> residual_of(const SolvedSystem& system) {
  const std::size_t n = system.panels.size();
  std::vector<double> residual(system.b.begin(), system.b.end());
  system.op.apply(system.x.data(), residual.data(),
                  {.vectors = static_cast<int>(system.b.size() / n),
                   .tolerance = system.op.accurate_tolerance(),
                   .alpha = -1,
                   .beta = 1});
  return residual;
}

void write_matrix(NpyFile& file, const SolvedSystem& system, const Progress& progress) {
  // So many at a time: for each such product the FMM makes a far field of the accuracy.
  constexpr std::size_t together = 256;
  const Panels& panels = system.panels;
  const std::size_t n = panels.size();
  std::vector<std::int64_t> place_of(n);  // of each triangle
  for (std::size_t i = 0; i < n; ++i)
    place_of[panels.input_index[i]] = static_cast<std::int64_t>(i);
  for (std::size_t first = 0; first < n; first += together) {
    const std::size_t count = std::min(together, n - first);
    std::vector<double> units(count * n, 0.0), columns(count * n);
    for (std::size_t k = 0; k < count; ++k) units[k * n + place_of[first + k]] = 1;
    system.op.apply(
        units.data(), columns.data(),
        {.vectors = static_cast<int>(count), .tolerance = system.op.accurate_tolerance()});
    file.write(std::span<const double>(in_input_order(panels, columns)));
    if (progress) progress(double(first + count) / double(n));
  }
}

void add_geometry(Export& files, const Panels& panels) {
  const std::size_t n = panels.size();
  std::vector<double> areas(n), centroids(3 * n), normals(3 * n);
  for (std::size_t i = 0; i < n; ++i) {
    const Triangle t = panels.triangle(i);
    const auto k = static_cast<std::size_t>(panels.input_index[i]);
    const Vec3d centroid = t.centroid + panels.origin;
    areas[k] = t.area;
    for (int axis = 0; axis < 3; ++axis) {
      centroids[3 * k + axis] = centroid[axis];
      normals[3 * k + axis] = t.normal[axis];
    }
  }
  files.add("areas.npy", {n}, areas);
  files.add("centroids.npy", {n, 3}, centroids);
  files.add("normals.npy", {n, 3}, normals);
  files.add("permutation.npy", {n},
            std::vector<std::int64_t>(panels.input_index.begin(), panels.input_index.end()));
}

}  // namespace

std::vector<std::string> exported_files(const std::string& folder) {
  std::vector<std::string> files;
  for (const char* name :
       {"b", "x", "residual", "areas", "centroids", "normals", "permutation", "A"})
    files.push_back(folder + "/" + name + ".npy");
  return files;
}

void check_export_folder(const std::string& folder) {
  const OutputFolder made(folder);
  const OutputFile probe(made.path() + "/b.npy");
}

void export_system(const std::string& folder, const SolvedSystem& system,
                   const Progress& progress) {
  const Panels& panels = system.panels;
  const std::size_t n = panels.size(), n_problems = system.b.size() / n;
  Export files(folder);
  files.add("b.npy", {n_problems, n}, in_input_order(panels, system.b));
  files.add("x.npy", {n_problems, n}, in_input_order(panels, system.x));
  files.add("residual.npy", {n_problems, n}, in_input_order(panels, residual_of(system)));
  add_geometry(files, panels);
  const bool has_matrix = n <= exported_matrix_at_most;
  if (has_matrix)
    write_matrix(files.add<double>("A.npy", {n, n}, NpyFile::Order::columns), system, progress);
  files.commit();
  if (!has_matrix) std::filesystem::remove(files.path_of("A.npy"));
}

}  // namespace fmbem
