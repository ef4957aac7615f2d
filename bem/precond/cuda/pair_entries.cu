#include "fmbem/bem/precond/cuda/pair_entries.cuh"
#include "fmbem/cuda/launch.cuh"

namespace fmbem::cuda::bem {
namespace {

/// Pairs that lanes of a warp take, each the next one when it is done with one; and how many steps
/// they go with a pair. Most take a few, some thousands.
constexpr int pairs_of_warp = 8 * warp_size, most_steps = 32;

__device__ void set_entries(const PairTask& pair, MutualEntries found, SetEntry* entries) {
  if (pair.kl >= 0) entries[pair.kl].value = static_cast<float>(found.kl);
  if (pair.lk >= 0) entries[pair.lk].value = static_cast<float>(found.lk);
}

/// Pairs that take more steps are listed.
struct LongPairs {
  std::int32_t *count, *pair;
};

__global__ void __launch_bounds__(threads_per_block)
    find_short(DeviceRowNodes of, CloseTableView table, const PairTask* pairs, std::int64_t n,
               LongPairs others, SetEntry* entries) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  std::int64_t next = thread_index() / warp_size * pairs_of_warp, own = 0;
  const std::int64_t end = min(next + pairs_of_warp, n);
  const auto step_of = [&](NodePair pair, bool may_divide) {
    return table.step_of(of, pair, may_divide);
  };
  PairTask pair{};
  EntriesBetween walk;
  int steps = 0;
  bool has_pair = false;
  for (;;) {
    const unsigned idle = __ballot_sync(whole_warp, !has_pair);
    if (!has_pair && next + bits_below(idle, lane) < end) {
      own = next + bits_below(idle, lane);
      pair = pairs[own];
      walk.start(pair.nodes);
      steps = 0;
      has_pair = true;
    }
    next += __popc(idle);
    if (__ballot_sync(whole_warp, has_pair) == 0) return;
    if (!has_pair) continue;
    if (!walk.go_on(of, step_of)) {
      set_entries(pair, walk.sum(), entries);
      has_pair = false;
    } else if (++steps == most_steps) {
      others.pair[atomicAdd(others.count, 1)] = static_cast<std::int32_t>(own);
      has_pair = false;
    }
  }
}

/// A warp for each pair; its lanes take what is pending together.
__global__ void __launch_bounds__(threads_per_block)
    find_long(DeviceRowNodes of, CloseTableView table, const PairTask* pairs, LongPairs own,
              SetEntry* entries) {
  constexpr int most_pending = 1024;
  __shared__ NodePair s_pending[warps_per_block][most_pending];
  const auto lane = static_cast<int>(threadIdx.x) % warp_size,
             warp = static_cast<int>(threadIdx.x) / warp_size;
  NodePair* const pending = s_pending[warp];
  const std::int64_t first = thread_index() / warp_size,
                     warps = std::int64_t{gridDim.x} * warps_per_block;
  for (std::int64_t i = first; i < *own.count; i += warps) {
    const PairTask pair = pairs[own.pair[i]];
    MutualEntries sum{0, 0};
    if (lane == 0) pending[0] = pair.nodes;
    __syncwarp();
    for (int count = 1; count > 0;) {
      const int taken = min(min(count, warp_size), max(most_pending - count, 1));
      const bool takes = lane < taken, may_divide = count + taken <= most_pending;
      const NodePair at = pending[takes ? count - 1 - lane : 0];
      __syncwarp();
      PairStep step{};
      if (takes) {
        step = table.step_of(of, at, may_divide);
        if (!step.divided) add_share(of, pair.nodes, at, step.entries, sum);
      }
      const unsigned divided = __ballot_sync(whole_warp, step.divided);
      count -= taken;
      if (step.divided) {
        NodePair* const halves = pending + count + 2 * bits_below(divided, lane);
        halves[0] = step.halves[0];
        halves[1] = step.halves[1];
      }
      count += 2 * __popc(divided);
      __syncwarp();
    }
    for (int step = warp_size / 2; step > 0; step /= 2) {
      sum.kl += __shfl_xor_sync(whole_warp, sum.kl, step);
      sum.lk += __shfl_xor_sync(whole_warp, sum.lk, step);
    }
    if (lane == 0) set_entries(pair, sum, entries);
  }
}

}  // namespace

void find_entries(const DeviceRowNodes& of, const CloseTableView& table,
                  const DeviceBuffer<PairTask>& pairs, SetEntry* entries, cudaStream_t stream) {
  constexpr int long_blocks = 6;  // of a multiprocessor, whose shared memory suffices for them
  const auto n = static_cast<std::int64_t>(pairs.size());
  if (n == 0) return;
  DeviceBuffer<std::int32_t> count(1, stream), listed(n, stream);
  count.fill_bytes(0);
  const LongPairs others{count.data(), listed.data()};
  launch(find_short, blocks_for(n, warps_per_block * pairs_of_warp), threads_per_block, 0, stream,
         of, table, pairs.data(), n, others, entries);
  launch(find_long, long_blocks * device_attribute(cudaDevAttrMultiProcessorCount),
         threads_per_block, 0, stream, of, table, pairs.data(), others, entries);
}

}  // namespace fmbem::cuda::bem
