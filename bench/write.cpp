// Writes meshes of about a million panels with a charge, and says how long that takes: on the clock
// and of the processor, by all threads. fmbem-bench-write [FILE [PANELS]]: FILE is a new one, which
// is removed at the end.
#include "fmbem/meshes/write.hpp"

#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "bench/main.hpp"
#include "bench/surfaces.hpp"
#include "fmbem/fmm/base/error.hpp"

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
}

/// A file that is there no longer than this, however the program goes on.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string path) : path_(std::move(path)) {
    FMBEM_REQUIRE(!std::filesystem::exists(std::filesystem::symlink_status(path_)),
                  path_ << " exists, and would be removed: name a new file");
  }
  ~TemporaryFile() {
    std::error_code error;  // of a file that was never made
    std::filesystem::remove(path_, error);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Times of writing meshes with a charge");
  std::string path = "write.vtu";
  double panels = 1e6;
  app.add_option("FILE", path, "a new one, which is removed at the end")->capture_default_str();
  app.add_option("PANELS", panels, "about as many")
      ->capture_default_str()
      ->check(bench::between(20.0, 2e8));
  return bench::run_main(app, argc, argv, [&] {
    const TemporaryFile file(path);
    for (const char* name : {"cube", "icosphere"}) write(file.path(), name, panels);
  });
}
