#include <cstring>

#include "fmbem/cuda/device.hpp"
#include "fmbem/cuda/staging.cuh"
#include "fmbem/cuda/staging.hpp"

namespace fmbem::cuda {
namespace {

std::mutex& rooms_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// By all threads.
void copy_bytes(const unsigned char* from, std::int64_t n, unsigned char* to) {
  constexpr std::int64_t piece = 1 << 16;
#pragma omp parallel for schedule(static) if (n > 2 * piece)
  for (std::int64_t k = 0; k < (n + piece - 1) / piece; ++k)
    std::memcpy(to + k * piece, from + k * piece,
                static_cast<std::size_t>(std::min(piece, n - k * piece)));
}

}  // namespace

Staging::Staging() : lock_(rooms_mutex()) {
  // For all devices, and never given back: the driver may be gone when the process ends.
  static void* const pinned = [] {
    void* memory = nullptr;
    FMBEM_CUDA(cudaHostAlloc(&memory, 2 * room_bytes, cudaHostAllocPortable));
    return memory;
  }();
  for (int k = 0; k < 2; ++k) rooms_[k] = static_cast<unsigned char*>(pinned) + k * room_bytes;
}

void copy_bytes_to_device(const void* from, std::size_t bytes, void* to, cudaStream_t stream) {
  const auto* const source = static_cast<const unsigned char*>(from);
  auto* const target = static_cast<unsigned char*>(to);
  Staging().upload(
      static_cast<std::int64_t>(bytes), 1, stream,
      [&](std::int64_t first, std::int64_t some, void* room) {
        copy_bytes(source + first, some, static_cast<unsigned char*>(room));
      },
      [&](std::int64_t first, std::int64_t some, void* room) {
        FMBEM_CUDA(cudaMemcpyAsync(target + first, room, some, cudaMemcpyHostToDevice, stream));
      });
}

void copy_bytes_to_host(const void* from, std::size_t bytes, void* to, cudaStream_t stream) {
  const auto* const source = static_cast<const unsigned char*>(from);
  auto* const target = static_cast<unsigned char*>(to);
  Staging().download(
      static_cast<std::int64_t>(bytes), 1, stream,
      [&](std::int64_t first, std::int64_t some, void* room) {
        FMBEM_CUDA(cudaMemcpyAsync(room, source + first, some, cudaMemcpyDeviceToHost, stream));
      },
      [&](std::int64_t first, std::int64_t some, void* room) {
        copy_bytes(static_cast<const unsigned char*>(room), some, target + first);
      });
}

void copy_to_device(const double* from, std::size_t n, double* to) {
  require_cuda_device();
  copy_to_device(from, n, to, nullptr);
}

void copy_to_host(const double* from, std::size_t n, double* to) {
  require_cuda_device();
  copy_to_host(from, n, to, nullptr);
}

}  // namespace fmbem::cuda
