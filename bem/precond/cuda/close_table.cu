#include <bit>

#include "fmbem/bem/precond/cuda/close_table.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/primitives.cuh"
#include "fmbem/fmm/base/error.hpp"

namespace fmbem::cuda::bem {
namespace {

/// Pairs of halves that the entries of a pair k ≤ l are made of: of the node that is divided with
/// the other one, or all of a node with itself. Each has k ≤ l, too.
struct HalfPairs {
  int2 pair[3];
  int count;
  bool divides_l;
  double left_share;

  __device__ HalfPairs(const DeviceRowNodes& of, int2 whole) {
    const auto [k, l] = whole;
    divides_l = of.splits_other(k, l);
    const std::int32_t divided = divides_l ? l : k, left = of.nodes[divided].left,
                       right = of.nodes[divided].right;
    left_share = of.left_share(divided);
    count = k == l ? 3 : 2;
    if (k == l) {
      pair[0] = {left, left};
      pair[1] = {left, right};
      pair[2] = {right, right};
    } else {
      pair[0] = divides_l ? int2{k, left} : int2{left, l};
      pair[1] = divides_l ? int2{k, right} : int2{right, l};
    }
  }
  /// From those of the pairs of halves.
  __device__ MutualEntries entries_of(const MutualEntries* of) const {
    if (count == 3) return of_own_halves(left_share, of[0], of[1], of[2]);
    return divides_l ? swapped(of_halves(left_share, swapped(of[0]), swapped(of[1])))
                     : of_halves(left_share, of[0], of[1]);
  }
};

/// Whether a pair is in the table.
__device__ bool is_kept(const DeviceRowNodes& of, int2 pair) {
  return of.have_halves(pair.x, pair.y);
}

/// Pairs that are close, and where those of their halves that are begin in the next level.
struct Level {
  DeviceBuffer<int2> pairs;
  DeviceBuffer<std::int32_t> first{};  ///< [pairs + 1]
  DeviceBuffer<MutualEntries> entries{};
  std::int64_t size() const { return static_cast<std::int64_t>(pairs.size()); }
};

/// Which roots are close: in place of halves of an imagined pair.
__global__ void count_roots(DeviceRowNodes of, const int2* pairs, std::int64_t n,
                            std::int32_t* count) {
  const std::int64_t i = thread_index();
  if (i <= n) count[i] = i < n && is_kept(of, pairs[i]);
}
__global__ void take_roots(DeviceRowNodes of, const int2* pairs, std::int64_t n,
                           const std::int32_t* first, int2* taken) {
  const std::int64_t i = thread_index();
  if (i < n && is_kept(of, pairs[i])) taken[first[i]] = pairs[i];
}

__global__ void count_halves(DeviceRowNodes of, const int2* pairs, std::int64_t n,
                             std::int32_t* count) {
  const std::int64_t i = thread_index();
  if (i > n) return;
  std::int32_t close = 0;
  if (i < n) {
    const HalfPairs halves(of, pairs[i]);
#pragma unroll
    for (int c = 0; c < 3; ++c)
      if (c < halves.count) close += is_kept(of, halves.pair[c]);
  }
  count[i] = close;
}

__global__ void take_halves(DeviceRowNodes of, const int2* pairs, std::int64_t n,
                            const std::int32_t* first, int2* taken) {
  const std::int64_t i = thread_index();
  if (i >= n) return;
  const HalfPairs halves(of, pairs[i]);
  std::int32_t at = first[i];
#pragma unroll
  for (int c = 0; c < 3; ++c)
    if (c < halves.count && is_kept(of, halves.pair[c])) taken[at++] = halves.pair[c];
}

/// Rows of the table, not yet in their order.
struct TableRows {
  std::uint64_t* key;
  float2* entries;
};

__global__ void make_entries(DeviceRowNodes of, CloseTableView table, const int2* pairs,
                             std::int64_t n, const std::int32_t* first, const MutualEntries* below,
                             MutualEntries* entries, TableRows rows) {
  const std::int64_t i = thread_index();
  if (i >= n) return;
  const auto [k, l] = pairs[i];
  const HalfPairs halves(of, pairs[i]);
  std::int32_t at = first[i];
  MutualEntries of_pairs[3];
#pragma unroll
  for (int c = 0; c < 3; ++c) {
    if (c >= halves.count) break;
    const int2 pair = halves.pair[c];
    of_pairs[c] = is_kept(of, pair) ? below[at++] : table.undivided(of, pair.x, pair.y);
  }
  const MutualEntries own = halves.entries_of(of_pairs);
  entries[i] = own;
  rows.key[i] = table.key_of(k, l);
  rows.entries[i] = {static_cast<float>(own.kl), static_cast<float>(own.lk)};
}

__global__ void find_begins(CloseTableView table, std::int32_t n_pairs, std::int32_t n_nodes,
                            std::int32_t* begin) {
  const auto k = static_cast<std::int32_t>(thread_index());
  if (k <= n_nodes) begin[k] = lower_bound(table.key, 0, n_pairs, table.key_of(k, 0));
}

/// The pairs that count() counts and take() takes.
template <class Count, class Take>
Level next_level(const DeviceRowNodes& of, const DeviceBuffer<int2>& pairs, Count&& count,
                 Take&& take, DeviceBuffer<std::int32_t>& first, cudaStream_t stream) {
  const auto n = static_cast<std::int64_t>(pairs.size());
  FMBEM_REQUIRE(n < INT32_MAX / 3, "the preconditioner's close entries are too many");
  DeviceBuffer<std::int32_t> counts(n + 1, stream);
  first = DeviceBuffer<std::int32_t>(n + 1, stream);
  launch(count, blocks_for(n + 1), threads_per_block, 0, stream, of, pairs.data(), n,
         counts.data());
  exclusive_sum(counts.data(), first.data(), n + 1, stream);
  Level next{DeviceBuffer<int2>(download_one(first.data() + n, stream), stream)};
  if (next.size() > 0)
    launch(take, blocks_for(n), threads_per_block, 0, stream, of, pairs.data(), n, first.data(),
           next.pairs.data());
  return next;
}

}  // namespace

CloseTable::CloseTable(const DeviceRowNodes& of, const DeviceClusterTree& tree,
                       const std::vector<int2>& roots, cudaStream_t stream)
    : touching_(of, tree, stream),
      bits_(std::bit_width(static_cast<unsigned>(tree.nodes.size()))),
      begin_(tree.nodes.size() + 1, stream) {
  const auto n_nodes = static_cast<std::int32_t>(tree.nodes.size());
  const DeviceBuffer<int2> of_roots = to_device(roots, stream);
  DeviceBuffer<std::int32_t> unused;
  std::vector<Level> levels;
  levels.push_back(next_level(of, of_roots, count_roots, take_roots, unused, stream));
  std::int64_t pairs = levels[0].size();
  while (levels.back().size() > 0) {
    Level& last = levels.back();
    Level next = next_level(of, last.pairs, count_halves, take_halves, last.first, stream);
    pairs += next.size();
    levels.push_back(std::move(next));
    FMBEM_REQUIRE(pairs < INT32_MAX, "the preconditioner's close entries are too many");
  }

  DeviceBuffer<std::uint64_t> key(pairs, stream);
  DeviceBuffer<float2> entries(pairs, stream);
  std::int64_t at = 0;
  for (std::size_t level = levels.size() - 1; level-- > 0;) {
    Level &own = levels[level], &below = levels[level + 1];
    own.entries = DeviceBuffer<MutualEntries>(own.size(), stream);
    launch(make_entries, blocks_for(own.size()), threads_per_block, 0, stream, of, view(),
           own.pairs.data(), own.size(), own.first.data(), below.entries.data(), own.entries.data(),
           TableRows{key.data() + at, entries.data() + at});
    at += own.size();
    levels.pop_back();
  }
  key_ = DeviceBuffer<std::uint64_t>(pairs, stream);
  entries_ = DeviceBuffer<float2>(pairs, stream);
  if (pairs > 0)
    sort_pairs(key.data(), key_.data(), entries.data(), entries_.data(), pairs, 2 * bits_, stream);
  launch(find_begins, blocks_for(n_nodes + 1), threads_per_block, 0, stream, view(), pairs, n_nodes,
         begin_.data());
}

}  // namespace fmbem::cuda::bem
