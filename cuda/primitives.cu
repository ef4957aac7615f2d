#include "fmbem/cuda/cub_primitives.cuh"
#include "fmbem/fmm/tree/tree_key.hpp"

namespace fmbem::cuda {

template void exclusive_sum(const std::uint8_t*, std::int32_t*, std::int64_t, cudaStream_t);
template void exclusive_sum(const std::int32_t*, std::int32_t*, std::int64_t, cudaStream_t);
template void exclusive_sum(const std::int32_t*, std::int64_t*, std::int64_t, cudaStream_t);
template void exclusive_sum(const std::int64_t*, std::int64_t*, std::int64_t, cudaStream_t);

template void sort_pairs(const std::int8_t*, std::int8_t*, const std::int32_t*, std::int32_t*,
                         std::int64_t, int, cudaStream_t);
template void sort_pairs(const std::uint8_t*, std::uint8_t*, const std::int32_t*, std::int32_t*,
                         std::int64_t, int, cudaStream_t);
template void sort_pairs(const std::int32_t*, std::int32_t*, const std::int32_t*, std::int32_t*,
                         std::int64_t, int, cudaStream_t);
template void sort_pairs(const std::uint64_t*, std::uint64_t*, const std::int32_t*, std::int32_t*,
                         std::int64_t, int, cudaStream_t);
template void sort_pairs(const std::uint64_t*, std::uint64_t*, const float2*, float2*, std::int64_t,
                         int, cudaStream_t);
template void sort_pairs(const fmm::TreeKey*, fmm::TreeKey*, const std::int32_t*, std::int32_t*,
                         std::int64_t, int, cudaStream_t);

template void sort_keys(const std::uint64_t*, std::uint64_t*, std::int64_t, int, cudaStream_t);
template void sort_keys(const fmm::TreeKey*, fmm::TreeKey*, std::int64_t, int, cudaStream_t);

}  // namespace fmbem::cuda
