#include <limits>

#include "fmbem/bem/near/cuda/grouped.cuh"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/primitives.cuh"

namespace fmbem::cuda::bem {
namespace {

__global__ void count_up(std::int64_t n, std::int32_t* number) {
  const std::int64_t k = thread_index();
  if (k < n) number[k] = static_cast<std::int32_t>(k);
}

__global__ void find_begins(const std::int32_t* sorted, std::int32_t n, std::int64_t groups,
                            std::int64_t* begin) {
  const std::int64_t g = thread_index();
  if (g <= groups) begin[g] = lower_bound(sorted, 0, n, static_cast<std::int32_t>(g));
}

}  // namespace

Grouped::Grouped(const DeviceBuffer<std::int32_t>& keys, std::int64_t groups, cudaStream_t stream)
    : begin(groups + 1, stream), number(keys.size(), stream) {
  FMBEM_REQUIRE(keys.size() <= std::numeric_limits<std::int32_t>::max(),
                "transposed products on the GPU list at most 2^31 near pairs, not "
                    << keys.size() << ": store the near field, or use the CPU");
  const auto n = static_cast<std::int32_t>(keys.size());
  DeviceBuffer<std::int32_t> sorted(n, stream), unsorted_number(n, stream);
  launch(count_up, blocks_for(n), threads_per_block, 0, stream, n, unsorted_number.data());
  int bits = 1;
  while (std::int64_t{1} << bits < groups) ++bits;
  sort_pairs(keys.data(), sorted.data(), unsorted_number.data(), number.data(), n, bits, stream);
  launch(find_begins, blocks_for(groups + 1), threads_per_block, 0, stream, sorted.data(), n,
         groups, begin.data());
}

}  // namespace fmbem::cuda::bem
