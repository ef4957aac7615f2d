#pragma once

#include <cstdint>

namespace fmbem {

/// Cores that this process may use: its affinity mask and its control group's quota;
/// OMP_NUM_THREADS overrides both.
int available_cores();

/// Sets the number of OpenMP threads, and that of OpenBLAS to one for good, so that sums do not
/// depend on the number of threads. Throws InputError for fewer than one thread or more than 4096.
void set_threads(int threads);

/// While this lives, OpenBLAS works with one thread, whatever the caller has set. It is called from
/// inside the project's own threads, and threads within threads are fifty times slower.
class OneBlasThread {
 public:
  /// Throws ResourceError where there is no address space for OpenBLAS.
  OneBlasThread();
  ~OneBlasThread();
  OneBlasThread(const OneBlasThread&) = delete;
  OneBlasThread& operator=(const OneBlasThread&) = delete;

 private:
  int before_;
};

/// Bytes that can still be allocated: available memory, or what the control group leaves.
std::int64_t available_memory();

/// Largest resident size that the process has had, in bytes.
std::int64_t peak_memory();

}  // namespace fmbem
