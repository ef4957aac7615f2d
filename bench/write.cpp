// Writes meshes of about a million panels with a charge, and says how long that takes: on the clock
// and of the processor, by all threads.
// Usage: fmbem-bench-write [FILE [PANELS]]
#include "fmbem/meshes/write.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>

#include "bench/surfaces.hpp"

using namespace fmbem;

namespace {

void write(const std::string& path, const std::string& name, double panels) {
  const SurfaceMesh mesh = bench::surfaces().at(name).make(panels);
  PanelField charge{"charge density [C/m^2]", {}};
  for (const auto& [a, b, c] : mesh.triangles) {
    const Vec3d at = (mesh.vertices[a] + mesh.vertices[b] + mesh.vertices[c]) / 3.0;
    charge.values.push_back(1e-11 * std::exp(at.x) * std::cos(at.y + at.z * at.z));
  }
  for (int run = 0; run < 5; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    const std::clock_t processor = std::clock();
    write_mesh(path, mesh, {charge});
    const double work = static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC;
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    std::printf("%s, %zu panels: %.3f s, of the processor %.3f s, %.1f MB\n", name.c_str(),
                mesh.triangles.size(), seconds.count(), work,
                static_cast<double>(std::filesystem::file_size(path)) / 1e6);
  }
  std::filesystem::remove(path);
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string path = argc > 1 ? argv[1] : "write.vtu";
  const double panels = argc > 2 ? std::atof(argv[2]) : 1e6;
  for (const char* name : {"cube", "icosphere"}) write(path, name, panels);
} catch (const std::exception& e) {
  std::fprintf(stderr, "fmbem-bench-write: %s\n", e.what());
  return 2;
}
