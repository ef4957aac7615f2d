#pragma once

#include <cstddef>
#include <vector>

#include "fmbem/cuda/device_array.hpp"
#include "fmbem/fmm/base/error.hpp"

namespace fmbem::test {

/// While this lives, it holds all free memory of the GPU, down to a MiB.
class FilledGpu {
 public:
  FilledGpu() {
    for (std::size_t bytes = std::size_t{64} << 30; bytes >= std::size_t{1} << 20;) {
      try {
        held_.emplace_back(bytes / sizeof(double));
      } catch (const ResourceError&) {
        bytes /= 2;
      }
    }
  }

 private:
  std::vector<cuda::DeviceArray<double>> held_;
};

}  // namespace fmbem::test
