#pragma once

#include <cstddef>

namespace fmbem::cuda {

/// Copies of numbers between pageable memory of the host and the current GPU's, in the order of the
/// default stream and done when they return. All threads carry the numbers to or from pinned
/// memory, which takes the bus at its full rate: a few times that of cudaMemcpy. Throw InputError
/// without a usable GPU.
void copy_to_device(const double* from, std::size_t n, double* to);
void copy_to_host(const double* from, std::size_t n, double* to);

}  // namespace fmbem::cuda
