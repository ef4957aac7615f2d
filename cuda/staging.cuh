#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>

#include "fmbem/cuda/memory.cuh"

namespace fmbem::cuda {

/// Two rooms of pinned memory: one is filled or emptied while the other is on its way. Pinning
/// memory takes longer than most copies, so a process does it once and lends the rooms to one user
/// at a time.
class Staging {
 public:
  /// A room is so large that waking all threads costs little beside filling it.
  static constexpr std::size_t room_bytes = std::size_t{8} << 20;

  Staging();

  /// For items [0, n) of so many bytes: fill(first, some, room), then send(first, some, room),
  /// which enqueues copies of what is there. Returns when they are done.
  template <class Fill, class Send>
  void upload(std::int64_t n, std::size_t item_bytes, cudaStream_t stream, Fill&& fill,
              Send&& send) {
    const auto part = static_cast<std::int64_t>(room_bytes / item_bytes);
    const auto send_all = [&] {
      int k = 0;
      for (std::int64_t first = 0; first < n; first += part, k = 1 - k) {
        const std::int64_t some = std::min(part, n - first);
        FMBEM_CUDA(cudaEventSynchronize(passed_[k]));
        fill(first, some, rooms_[k]);
        send(first, some, rooms_[k]);
        FMBEM_CUDA(cudaEventRecord(passed_[k], stream));
      }
    };
    ended_if_it_throws(send_all, stream);
    FMBEM_CUDA(cudaStreamSynchronize(stream));
  }

  /// The other way round: fetch(first, some, room) enqueues copies, and
  /// empty(first, some, room) is called when they are there.
  template <class Fetch, class Empty>
  void download(std::int64_t n, std::size_t item_bytes, cudaStream_t stream, Fetch&& fetch,
                Empty&& empty) {
    const auto part = static_cast<std::int64_t>(room_bytes / item_bytes);
    const std::int64_t parts = (n + part - 1) / part;
    const auto fetch_all = [&] {
      for (std::int64_t p = 0; p <= parts; ++p) {
        if (p < parts) {
          fetch(p * part, std::min(part, n - p * part), rooms_[p % 2]);
          FMBEM_CUDA(cudaEventRecord(passed_[p % 2], stream));
        }
        if (p == 0) continue;
        const std::int64_t last = p - 1, first = last * part;
        FMBEM_CUDA(cudaEventSynchronize(passed_[last % 2]));
        empty(first, std::min(part, n - first), rooms_[last % 2]);
      }
    };
    ended_if_it_throws(fetch_all, stream);
  }

 private:
  std::lock_guard<std::mutex> lock_;
  void* rooms_[2];
  Event passed_[2];
};

/// Copies in the order of the stream, done when they return (staging.hpp).
void copy_bytes_to_device(const void* from, std::size_t bytes, void* to, cudaStream_t stream);
void copy_bytes_to_host(const void* from, std::size_t bytes, void* to, cudaStream_t stream);

template <class T>
void copy_to_device(const T* from, std::size_t n, T* to, cudaStream_t stream) {
  copy_bytes_to_device(from, n * sizeof(T), to, stream);
}
template <class T>
void copy_to_host(const T* from, std::size_t n, T* to, cudaStream_t stream) {
  copy_bytes_to_host(from, n * sizeof(T), to, stream);
}

}  // namespace fmbem::cuda
