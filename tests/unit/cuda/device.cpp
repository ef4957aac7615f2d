#include "fmbem/cuda/device.hpp"

#include "fmbem/fmm/base/error.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/cuda/gpu.hpp"

namespace fmbem::test::cuda_device_tests {

using fmbem::test::gpu_is_there;

TEST_CASE("a device is there, or asking for one says why not") {
  const auto devices = cuda_devices();
  if (devices.empty()) {
    CHECK_THROWS_AS(require_cuda_device(), InputError);
    gpu_is_there();
    return;
  }
  CHECK(built_with_cuda());
  CHECK_NOTHROW(require_cuda_device());
  for (const DeviceInfo& device : devices) {
    CHECK_FALSE(device.name.empty());
    CHECK(device.compute_capability >= 50);
    CHECK(device.memory_bytes > 0);
  }
}

TEST_CASE("starting a device is no error, whether there is one or not") {
  CHECK_NOTHROW(start_cuda_device());
}

TEST_CASE("a build without CUDA has no runtime and no devices") {
  CHECK(built_with_cuda() == !cuda_runtime_version().empty());
  if (!built_with_cuda()) CHECK(cuda_devices().empty());
}

}  // namespace fmbem::test::cuda_device_tests
