#pragma once

#include <cstdint>

#include <cuda_runtime.h>

namespace fmbem::cuda {

// CUB's scans and sorts for the types that primitives.cu lists: reading CUB takes a compiler some
// fifteen seconds, so only that file does, and those that scan types of their own, by
// cub_primitives.cuh.

/// out[i] = Σ_{k<i} in[k], summed in the type of `out`; both have n entries.
template <class In, class Out>
void exclusive_sum(const In* in, Out* out, std::int64_t n, cudaStream_t stream);

/// Sorts by the lowest `bits` of the keys, stably.
template <class Key, class Value>
void sort_pairs(const Key* keys, Key* sorted_keys, const Value* values, Value* sorted_values,
                std::int64_t n, int bits, cudaStream_t stream);
template <class Key>
void sort_keys(const Key* keys, Key* sorted, std::int64_t n, int bits, cudaStream_t stream);

}  // namespace fmbem::cuda
