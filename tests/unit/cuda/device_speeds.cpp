#include "fmbem/cuda/device_speeds.hpp"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "fmbem/cuda/fmm_plan.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/cuda/gpu.hpp"
#include "tests/unit/meshes/temporary_folder.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test::device_speeds_tests {
using namespace cuda;

namespace {

/// Has the table of GPUs in a file, as long as it lives.
class TableInFile {
 public:
  TableInFile() { setenv("FMBEM_GPU_RATES", path().c_str(), 1); }
  ~TableInFile() { unsetenv("FMBEM_GPU_RATES"); }
  TableInFile(const TableInFile&) = delete;
  TableInFile& operator=(const TableInFile&) = delete;

  std::string path() const { return folder_.file("my.rates"); }
  void write(const std::string& text) const { std::ofstream(path()) << text; }
  void write(const DeviceSpeeds& speeds) const {
    std::ofstream out(path());
    write_device_speeds(out, speeds);
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("a GPU's table comes back as it was written") {
  DeviceSpeeds speeds;
  double value = 0.25;
  for (const SpeedField& field : speed_fields) speeds.*field.value = value += 0.125;
  std::stringstream text;
  write_device_speeds(text, speeds);
  const DeviceSpeeds read = read_device_speeds(text, "table");
  for (const SpeedField& field : speed_fields) CHECK(read.*field.value == speeds.*field.value);
}

TEST_CASE("what is no table of a GPU is refused with its name") {
  std::stringstream whole;
  write_device_speeds(whole, {});
  const std::string text = whole.str();
  for (const std::string& bad :
       {std::string(), std::string("nonsense\n"), text.substr(0, text.size() / 2),
        text + "start -1\n", text + "start nan\n", text + "start inf\n", text + "unknown 1\n"}) {
    std::istringstream in(bad);
    CHECK_THROWS_WITH(read_device_speeds(in, "my.rates"),
                      contains("my.rates is not a table of a GPU's speeds"));
  }
}

TEST_CASE("a GPU's table is kept by the name of the GPU, or where one says") {
  CHECK(device_speeds_file("NVIDIA RTX 6000/x").filename() == "NVIDIA_RTX_6000_x.rates");
  setenv("XDG_CONFIG_HOME", "/nowhere", 1);
  CHECK_FALSE(kept_device_speeds("any"));
  unsetenv("XDG_CONFIG_HOME");
  const TableInFile table;
  CHECK(device_speeds_file("any") == table.path());
  CHECK_THROWS_WITH(kept_device_speeds("any"),
                    contains("FMBEM_GPU_RATES names " + table.path() + ", which cannot be read"));
  table.write({.boxes = 3});
  CHECK(kept_device_speeds("any")->boxes == 3);
}

TEST_CASE("plans choose their trees by the GPU's table") {
  if (!gpu_is_there()) return;
  const TableInFile table;
  const std::vector<Vec3d> points = cube_points(200'000, 1);
  const auto leaf = [&] { return make_fmm_plan(points, {.tolerance = 1e-5}).info().max_leaf; };
  table.write(DeviceSpeeds{});
  const int of_an_h200 = leaf();
  table.write({.near_single = 0.02});
  CHECK(leaf() < of_an_h200);
  table.write({.near_single = 50});
  CHECK(leaf() > of_an_h200);
  table.write("near_single 1\n");
  CHECK_THROWS_WITH(leaf(), contains("my.rates is not a table of a GPU's speeds (no near_double)"));
}

TEST_CASE("a GPU is measured whatever table it has, and its speeds are what plans understand") {
  if (!gpu_is_there()) return;
  const TableInFile table;
  table.write("damaged\n");
  const DeviceSpeeds speeds = measure_device_speeds();
  // From a small card with a 64th of the rate in double precision to what may come.
  for (const SpeedField& field : speed_fields) {
    CAPTURE(field.name, speeds.*field.value);
    CHECK(speeds.*field.value > 1e-3);
    CHECK(speeds.*field.value < 100);
  }
}

}  // namespace fmbem::test::device_speeds_tests
