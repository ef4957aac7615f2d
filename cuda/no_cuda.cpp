#include "fmbem/cuda/device.hpp"
#include "fmbem/fmm/base/error.hpp"

namespace fmbem {

bool built_with_cuda() { return false; }

std::string cuda_runtime_version() { return {}; }

std::vector<DeviceInfo> cuda_devices() { return {}; }

void require_cuda_device() {
  throw InputError(
      "this build of fmbem has no CUDA backend: configure it with -DFMBEM_CUDA=ON, or use the "
      "backend cpu");
}

}  // namespace fmbem
