#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include <cuda_runtime.h>

#include "fmbem/cuda/check.cuh"

namespace fmbem::cuda {

/// Keeps device memory that this process frees for its next allocations, so that plans do not wait
/// for the driver. Called once for each device.
void keep_freed_memory();

/// Whoever captures a graph holds this, and whoever waits for the whole device or makes cuBLAS do
/// so: CUDA breaks a capture off when another thread waits.
std::mutex& whole_device();

/// Gives that memory back to the driver, for other libraries.
void release_kept_memory();

/// Bytes of the current device, whoever has them.
std::int64_t total_device_memory();

/// Bytes that this process can still have on the current device.
std::int64_t available_device_memory();

/// Throws DeviceMemoryError with the bytes needed and the bytes free.
[[noreturn]] void throw_out_of_memory(std::size_t needed);

/// An array in device memory, uninitialised, allocated and freed in the order of a stream.
template <class T>
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(std::size_t size, cudaStream_t stream) : size_(size), stream_(stream) {
    if (size == 0) return;
    const cudaError_t error =
        cudaMallocAsync(reinterpret_cast<void**>(&data_), size * sizeof(T), stream);
    if (error == cudaErrorMemoryAllocation) {
      data_ = nullptr;
      throw_out_of_memory(size * sizeof(T));
    }
    FMBEM_CUDA(error);
  }
  ~DeviceBuffer() {
    if (data_) cudaFreeAsync(data_, stream_);
  }
  DeviceBuffer(DeviceBuffer&& other) noexcept { swap(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    DeviceBuffer taken(std::move(other));
    swap(taken);
    return *this;
  }

  T* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::int64_t bytes() const { return static_cast<std::int64_t>(size_ * sizeof(T)); }

  /// Asynchronous copies of the whole array; the host's must stay until the stream has passed.
  void upload(const T* from) {
    if (size_ == 0) return;
    FMBEM_CUDA(cudaMemcpyAsync(data_, from, size_ * sizeof(T), cudaMemcpyHostToDevice, stream_));
  }
  void download(T* to) const {
    if (size_ == 0) return;
    FMBEM_CUDA(cudaMemcpyAsync(to, data_, size_ * sizeof(T), cudaMemcpyDeviceToHost, stream_));
  }
  void fill_bytes(int value) {
    if (size_ == 0) return;
    FMBEM_CUDA(cudaMemsetAsync(data_, value, size_ * sizeof(T), stream_));
  }

 private:
  void swap(DeviceBuffer& other) {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(stream_, other.stream_);
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  cudaStream_t stream_ = nullptr;
};

/// A buffer with the content of a container.
template <class Container>
auto to_device(const Container& from, cudaStream_t stream) {
  DeviceBuffer<std::remove_cv_t<std::remove_reference_t<decltype(*from.data())>>> buffer(
      from.size(), stream);
  buffer.upload(from.data());
  return buffer;
}

/// A copy in the order of the stream.
template <class T>
DeviceBuffer<T> copy_of(const DeviceBuffer<T>& from, cudaStream_t stream) {
  DeviceBuffer<T> copy(from.size(), stream);
  FMBEM_CUDA(cudaMemcpyAsync(copy.data(), from.data(), from.size() * sizeof(T),
                             cudaMemcpyDeviceToDevice, stream));
  return copy;
}

/// One number from the device, for which the host waits.
template <class T>
T download_one(const T* from, cudaStream_t stream) {
  T value;
  FMBEM_CUDA(cudaMemcpyAsync(&value, from, sizeof(T), cudaMemcpyDeviceToHost, stream));
  FMBEM_CUDA(cudaStreamSynchronize(stream));
  return value;
}

/// Makes room for so many numbers; what was there is lost if the room was too small. Returns
/// whether it was.
template <class T>
bool grow(DeviceBuffer<T>& buffer, std::int64_t size, cudaStream_t stream) {
  if (static_cast<std::int64_t>(buffer.size()) >= size) return false;
  buffer = {};  // first, as both may not fit
  buffer = DeviceBuffer<T>(size, stream);
  return true;
}

/// A stream of its own; kernels of an urgent one go before those of others where both wait.
class Stream {
 public:
  explicit Stream(bool urgent = false) {
    int low = 0, high = 0;
    FMBEM_CUDA(cudaDeviceGetStreamPriorityRange(&low, &high));
    FMBEM_CUDA(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, urgent ? high : low));
  }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }
  void wait() const { FMBEM_CUDA(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_ = nullptr;
};

/// Calls work(), which enqueues in these streams. Where it throws, what they have by then is waited
/// for, as its memory may be freed in the order of another stream, or lent to another user.
template <class Work, class... Streams>
void ended_if_it_throws(Work&& work, const Streams&... streams) {
  try {
    work();
  } catch (...) {
    (static_cast<void>(cudaStreamSynchronize(streams)), ...);
    throw;
  }
}

/// An event; with times where two of them are to be compared.
class Event {
 public:
  explicit Event(bool timed = false) {
    FMBEM_CUDA(
        cudaEventCreateWithFlags(&event_, timed ? cudaEventDefault : cudaEventDisableTiming));
  }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  operator cudaEvent_t() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace fmbem::cuda
