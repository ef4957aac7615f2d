#pragma once

#include <cstddef>

struct CUstream_st;

namespace fmbem::test {

/// A stream as a caller has it, which does not wait for the default one.
class DeviceStream {
 public:
  DeviceStream();
  ~DeviceStream();
  DeviceStream(const DeviceStream&) = delete;
  DeviceStream& operator=(const DeviceStream&) = delete;
  CUstream_st* get() const { return stream_; }

 private:
  CUstream_st* stream_ = nullptr;
};

/// Makes one of several GPUs the current one of this thread.
void use_device(int device);

/// Enqueues some milliseconds of work, and then a copy of numbers of the host to the device.
void on_stream_after_a_while(CUstream_st* stream, const double* from, std::size_t n, double* to);
/// Copies numbers to the host in the order of the stream, and waits for it.
void from_stream(CUstream_st* stream, const double* from, std::size_t n, double* to);

}  // namespace fmbem::test
