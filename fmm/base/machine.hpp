#pragma once

#include <cstdint>

namespace fmbem {

/// Cores that this process may use: its affinity mask and its control group's quota;
/// OMP_NUM_THREADS overrides both.
int available_cores();

/// Sets the number of OpenMP threads, and one thread for the BLAS, which runs inside them.
/// Throws InputError for fewer than one thread or more than 4096.
void set_threads(int threads);

/// Bytes that can still be allocated: available memory, or what the control group leaves.
std::int64_t available_memory();

/// Largest resident size that the process has had, in bytes.
std::int64_t peak_memory();

}  // namespace fmbem
