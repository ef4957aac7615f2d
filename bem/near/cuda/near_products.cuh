#pragma once

// What the stored and the lean near field share.
#include <type_traits>

#include "fmbem/bem/near/cuda/near_rows.cuh"

namespace fmbem::cuda::bem {

/// How a block divides a row: its threads form groups that have the same targets and divide the
/// sources between them. In a transposed product, where a block works on a box, groups have the
/// same sources and divide the targets. Threads that are too few for a group repeat another's work,
/// without effect.
struct Share {
  int count;   ///< targets of the chunk
  int target;  ///< that of the thread
  int group, groups;
  bool works;

  __device__ explicit Share(int targets_left)
      : count(min(targets_left, static_cast<int>(blockDim.x))),
        target(threadIdx.x % count),
        group(threadIdx.x / count),
        groups(blockDim.x / count),
        works(group < groups) {
    if (!works) group = 0;
  }

  /// Adds up what the groups have; true in the thread that is to write the target's sum.
  __device__ bool add_up(double& sum, double* s_sums) const {
    __syncthreads();
    s_sums[threadIdx.x] = sum;
    __syncthreads();
    if (!works || group > 0) return false;
    for (int g = 1; g < groups; ++g) sum += s_sums[g * count + target];
    return true;
  }
};

/// For chunks of the targets of the block's row calls body(share, number of the thread's target).
template <class Body>
__device__ inline void for_chunks_of_targets(const NearRowsView& a, Body&& body) {
  const int2 targets = a.targets_of(blockIdx.x);
  for (int first = targets.x; first < targets.y; first += blockDim.x) {
    const Share share(targets.y - first);
    body(share, first + share.target);
  }
}

/// Threads of blocks that integrate: more than elsewhere, because groups of a row's targets fill
/// large blocks better. Shared memory holds as many panels as threads, at least one for each group,
/// and needs no special launch.
template <class N, Trace source>
inline constexpr int integrating_threads = sizeof(N) == 4           ? 384
                                           : source == Trace::value ? 256
                                                                    : 224;

/// Blocks of them that a multiprocessor is to hold, so that some work while others wait for panels.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
inline constexpr int most_resident_threads = 1024;
#else
inline constexpr int most_resident_threads = 1536;
#endif
template <class N, Trace source, int Vectors = 1>
inline constexpr int integrating_blocks = (sizeof(N) == 4 && Vectors == 1 ? most_resident_threads
                                                                          : 1024) /
                                          integrating_threads<N, source>;

/// Pairs of a thread with panels in shared memory, at most, in words of a bit for each.
inline constexpr int bits_of_a_word = 32, words_of_a_thread = 4;

/// Panels that a row takes at a time: as many for each group.
template <class N, Trace source>
__device__ inline int panels_at_once(const Share& share) {
  return min(integrating_threads<N, source> / share.groups, bits_of_a_word * words_of_a_thread) *
         share.groups;
}

/// Fills up with panels that have no effect, until each group has as many; returns that number. The
/// block has to wait before it looks at them.
template <class Shared>
__device__ inline int fill_up(Shared& panels, int some, const Share& share) {
  const int each = (some + share.groups - 1) / share.groups;
  for (int j = some + static_cast<int>(threadIdx.x); j < each * share.groups; j += blockDim.x)
    panels.load_nothing(j);
  return each;
}

/// A panel, and its centroid from a target.
template <class N, Trace source>
struct NearPair {
  const RulePanel<N, source>& panel;
  Vec3<N> centre;
};

/// The panels in shared memory as pairs with a target.
template <class N, Trace source, int Room>
__device__ inline auto pairs_of(const SharedPanels<N, source, Room>& panels,
                                const PrecisePoint<N>& target) {
  return [&](int j) {
    return NearPair<N, source>{panels.panel[j], panels.panel[j].centroid - target};
  };
}

/// Integrals of a thread's target over its group's panels in shared memory, or the other way round:
/// of pair(place), for `pairs` places, at most panels_at_once(). Calls body(place, integral);
/// close(place) for pairs that are too close for a rule; and from time to time pause(), so that
/// sums do not grow long. To be called by the whole block. The threads of a warp go through the
/// places together and take the rule that the closest of their pairs needs, so that none waits for
/// another. Pairs of the longest rule, which few threads need at a time, come last, one after the
/// other in each thread.
template <class Rules, class Pair, class Body, class Close, class Pause>
__device__ inline void for_integrals(const Rules& rules, Pair&& pair, int pairs, const Share& share,
                                     Body&& body, Close&& close, Pause&& pause) {
  constexpr int longest = Rules::most_rules - 1;
  static_assert(longest == 3);
  std::uint32_t later[words_of_a_thread];
  const int words = (pairs + bits_of_a_word - 1) / bits_of_a_word;
  for (int w = 0, j = share.group; w < words; ++w) {
    const int some = min(bits_of_a_word, pairs - w * bits_of_a_word);
    std::uint32_t word = 0, bit = 1;
    for (int k = 0; k < some; ++k, j += share.groups, bit <<= 1) {
      const auto& [panel, centre] = pair(j);
      const auto distance2 = rules.distance2(centre);
      const auto served = [&](int rule) { return panel.served_by(rule, distance2); };
      const auto any_needs = [&](int rule) {  // both are looked at, so that one load brings them
        return __any_sync(whole_warp, served(rule) & !served(rule - 1)) != 0;
      };
      const auto value = any_needs(2)   ? integrate_by<2>(rules, panel, centre, distance2)
                         : any_needs(1) ? integrate_by<1>(rules, panel, centre, distance2)
                                        : integrate_by<0>(rules, panel, centre, distance2);
      if (served(longest - 1))
        body(j, value);
      else if (served(longest))
        word |= bit;
      else
        close(j);
    }
    later[w] = word;
    pause();
  }
  // No thread waits for others at the end of a word: over all words each has about as much to do.
  std::uint32_t word = 0;
  for (int w = -1;; word &= word - 1) {
    while (word == 0 && w + 1 < words) word = later[++w];
    if (word == 0) break;
    const int bit = __ffs(static_cast<int>(word)) - 1;
    const int j = share.group + (w * bits_of_a_word + bit) * share.groups;
    const auto& [panel, centre] = pair(j);
    body(j, integrate_by<longest>(rules, panel, centre, rules.distance2(centre)));
  }
  pause();
}

/// Adds up the sums of a chunk; calls write(vector, sum) in the thread that is to write it.
template <int Vectors, int Threads, class Write>
__device__ inline void write_sums(const Share& share, double* sum, Write&& write) {
  __shared__ double s_sums[Threads];
  for (int v = 0; v < Vectors; ++v)
    if (share.add_up(sum[v], s_sums)) write(v, sum[v]);
}

/// What single_rule_rounding() amounts to in the norm of V or K, as errors of pairs have either
/// sign. Measured: at most 1.2e-8 of ½‖x‖ for K on cubes, 4e-9 on spheres (docs/decisions.md).
inline constexpr double norm_of_single_rules = 2e-8;

/// Rules work in single precision where their rounding leaves room for their own error.
inline bool rules_in_single(double tolerance, const PanelKernel& kernel) {
  return tolerance >= 1.5 * single_rule_rounding(kernel);
}
/// What rounding leaves of a tolerance to their own error.
template <class N>
double own_tolerance(double tolerance, const PanelKernel& kernel) {
  return sizeof(N) == 4 ? tolerance - single_rule_rounding(kernel) : tolerance;
}
template <class N, class Kernel = fmm::Laplace, class Rules = NearRules<N, Kernel>>
Rules rules_for(double tolerance, const PanelKernel& kernel) {
  return Rules(own_tolerance<N>(tolerance, kernel), kernel);
}

/// Threads that share a column of stored entries in a transposed product: what they read at a time
/// is one sector of memory.
inline constexpr int column_group = 8;
/// Sum of what they have; by whole warps.
__device__ inline double sum_of_group(double part) {
#pragma unroll
  for (int step = column_group / 2; step > 0; step /= 2)
    part += __shfl_xor_sync(whole_warp, part, step);
  return part;
}

/// Vectors whose products share the reading of entries.
inline constexpr int most_together = 4;

/// Groups of vectors that go together: enqueue(vectors of the kernel, first vector).
template <class Enqueue>
void for_groups(int vectors, Enqueue&& enqueue) {
  int first = 0;
  for (; vectors - first >= most_together; first += most_together)
    enqueue(std::integral_constant<int, most_together>(), first);
  for (; first < vectors; ++first) enqueue(std::integral_constant<int, 1>(), first);
}

}  // namespace fmbem::cuda::bem
