#pragma once

#include <cstdint>
#include <string>

namespace fmbem {

/// Cores that this process may use: its affinity mask and its control group's quota;
/// OMP_NUM_THREADS overrides both.
int available_cores();

/// As many threads as cores, but no more than OpenBLAS serves at a time: some two for each that it
/// was built for (127 on Debian). Beyond, it complains on standard error or ends without memory.
int default_threads();

/// Sets the number of OpenMP threads, and that of OpenBLAS to one for good, so that sums do not
/// depend on the number of threads. Throws InputError for fewer than one thread, more than 4096 or
/// more than OpenBLAS serves.
void set_threads(int threads);

/// While one of these lives, OpenBLAS works with one thread, whatever the caller has set; the last
/// one to end restores that. It is called from inside the project's own threads, and threads within
/// threads are fifty times slower. Several threads of the caller's may have one each.
class OneBlasThread {
 public:
  /// Throws ResourceError where there is no address space for OpenBLAS.
  OneBlasThread();
  ~OneBlasThread();
  OneBlasThread(const OneBlasThread&) = delete;
  OneBlasThread& operator=(const OneBlasThread&) = delete;
};

/// Bytes that can still be allocated: available memory, or what the control group leaves.
std::int64_t available_memory();

/// Bytes of memory that the machine has.
std::int64_t total_memory();

/// Such as "AMD EPYC 9654 96-Core Processor"; empty where the system does not say.
std::string processor_name();

/// Of the BLAS, as it names itself, such as "OpenBLAS 0.3.21"; "unknown" where it does not.
std::string blas_name();

/// Largest resident size that the process has had, in bytes.
std::int64_t peak_memory();

}  // namespace fmbem
