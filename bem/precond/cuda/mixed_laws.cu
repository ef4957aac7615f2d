#include "fmbem/bem/precond/cuda/mixed_parts.cuh"
#include "fmbem/cuda/launch.cuh"

namespace fmbem::cuda::bem {
namespace {

/// A warp for each leaf.
struct LawWarp {
  std::int64_t leaf;
  int lane;
  std::int32_t m;
  SystemNode* nodes;        ///< [m]
  const std::int32_t* cut;  ///< [m]

  __device__ LawWarp(const LeafBatch& batch, SystemNode* of_batch)
      : leaf(thread_index() / warp_size), lane(static_cast<int>(threadIdx.x) % warp_size) {
    if (leaf >= batch.count) return;
    const std::int32_t first = batch.node_begin(leaf);
    m = batch.node_begin(leaf + 1) - first;
    nodes = of_batch + first;
    cut = batch.cut + batch.cut_begin[leaf];
  }
  /// Calls take(k, place) for nodes k of which is(k), place being how many there are before them;
  /// returns how many there are.
  template <class Is, class Take>
  __device__ std::int32_t for_those(Is&& is, Take&& take) const {
    std::int32_t count = 0;
    for (std::int32_t first = 0; first < m; first += warp_size) {
      const std::int32_t k = first + lane;
      const bool own = k < m && is(k);
      const unsigned all = __ballot_sync(whole_warp, own);
      if (own) take(k, count + __popc(all & ((1u << lane) - 1)));
      count += __popc(all);
    }
    return count;
  }
  template <class Is>
  __device__ std::int32_t count(Is&& is) const {
    return for_those(is, [](std::int32_t, std::int32_t) {});
  }
  /// The first node of which is(k), or m.
  template <class Is>
  __device__ std::int32_t find(Is&& is) const {
    for (std::int32_t first = 0; first < m; first += warp_size) {
      const unsigned all = __ballot_sync(whole_warp, first + lane < m && is(first + lane));
      if (all != 0) return first + __ffs(static_cast<int>(all)) - 1;
    }
    return m;
  }
};

struct LawCounts {
  std::int32_t *laws, *terms, *given, *numbers;  ///< [leaves + 1]
};

constexpr std::int32_t unnumbered = -2;  ///< a node whose law has no number in its leaf yet

/// Numbers the laws of a leaf in the order of their first nodes, and counts what they need.
__global__ void number_laws(LawsOfNodes<double> of, LeafBatch batch, SystemNode* nodes,
                            LawCounts counts) {
  const LawWarp own(batch, nodes);
  if (own.leaf >= batch.count) {
    if (own.leaf == batch.count && own.lane == 0)
      counts.laws[own.leaf] = counts.terms[own.leaf] = counts.given[own.leaf] =
          counts.numbers[own.leaf] = 0;
    return;
  }
  for (std::int32_t k = own.lane; k < own.m; k += warp_size) {
    if (of.law_of(own.cut[k]) < 0) continue;
    own.nodes[k].law = unnumbered;
    own.nodes[k].share = static_cast<float>(of.share_of(own.cut[k]));
  }
  __syncwarp();
  std::int32_t laws = 0, terms = 0;
  for (;; ++laws) {
    const std::int32_t first =
        own.find([&](std::int32_t k) { return own.nodes[k].law == unnumbered; });
    if (first == own.m) break;
    const std::int32_t law = of.law_of(own.cut[first]);
    for (std::int32_t k = own.lane; k < own.m; k += warp_size)
      if (own.nodes[k].law == unnumbered && of.law_of(own.cut[k]) == law) own.nodes[k].law = laws;
    __syncwarp();
    if (!of.rows.is_empty(law))
      terms += own.count([&](std::int32_t k) { return of.row_factor(law, own.cut[k]) != 0; });
  }
  const std::int32_t given = own.count([&](std::int32_t k) { return of.is_given(own.cut[k]); });
  if (own.lane > 0) return;
  counts.laws[own.leaf] = laws;
  counts.terms[own.leaf] = terms;
  counts.given[own.leaf] = given;
  counts.numbers[own.leaf] = (laws + given) * own.m;
}

struct LawsToFill {
  const std::int32_t *law_begin, *term_begin, *given_begin, *number_begin;
  SystemLaw* laws;
  LawTerm* terms;
  GivenRow* given;
  float* numbers;
};

/// A law's row is in the place of that of its largest node, the first of equal ones.
__device__ std::int32_t place_of_law(const LawWarp& own, std::int32_t number) {
  float largest = -1;
  std::int32_t place = own.m;
  for (std::int32_t k = own.lane; k < own.m; k += warp_size)
    if (own.nodes[k].law == number && fabsf(own.nodes[k].share) > largest) {
      largest = fabsf(own.nodes[k].share);
      place = k;
    }
  for (int step = warp_size / 2; step > 0; step /= 2) {
    const float other = __shfl_xor_sync(whole_warp, largest, step);
    const std::int32_t at = __shfl_xor_sync(whole_warp, place, step);
    if (other > largest || (other == largest && at < place)) {
      largest = other;
      place = at;
    }
  }
  return place;
}

__global__ void fill_laws(LawsOfNodes<double> of, LeafBatch batch, SystemNode* nodes,
                          LawsToFill to) {
  const LawWarp own(batch, nodes);
  if (own.leaf >= batch.count) return;
  std::int32_t number = to.number_begin[own.leaf];
  const auto add_numbers = [&](auto&& entry) {
    for (std::int32_t l = own.lane; l < own.m; l += warp_size)
      to.numbers[number + l] = static_cast<float>(entry(own.cut[l]));
    number += own.m;
  };
  std::int32_t at = 0;
  for (std::int32_t g = to.given_begin[own.leaf]; g < to.given_begin[own.leaf + 1]; ++g) {
    const std::int32_t k =
        own.find([&](std::int32_t node) { return node >= at && of.is_given(own.cut[node]); });
    at = k + 1;
    if (own.lane == 0) to.given[g] = {k, number};
    add_numbers([&](std::int32_t l) { return of.given_entry(own.cut[k], l); });
  }
  std::int32_t term = to.term_begin[own.leaf];
  for (std::int32_t n = to.law_begin[own.leaf]; n < to.law_begin[own.leaf + 1]; ++n) {
    const std::int32_t place = place_of_law(own, n - to.law_begin[own.leaf]),
                       law = of.law_of(own.cut[place]), first_term = term;
    if (!of.rows.is_empty(law))
      term += own.for_those(
          [&](std::int32_t k) { return of.row_factor(law, own.cut[k]) != 0; },
          [&](std::int32_t k, std::int32_t before) {
            to.terms[first_term + before] = {k, static_cast<float>(of.row_factor(law, own.cut[k]))};
          });
    if (own.lane == 0) to.laws[n] = {place, number, first_term, term};
    add_numbers([&](std::int32_t l) { return of.charge_entry(law, l); });
  }
}

}  // namespace

LawParts law_parts(const LeafBatch& batch, const DeviceLaws& laws, SystemNode* nodes,
                   cudaStream_t stream) {
  LawParts result;
  if (laws.empty()) {
    for (auto* begin : {&result.law_begin, &result.given_begin}) {
      *begin = DeviceBuffer<std::int32_t>(batch.count + 1, stream);
      begin->fill_bytes(0);
    }
    return result;
  }
  const auto room = [&] { return DeviceBuffer<std::int32_t>(batch.count + 1, stream); };
  const DeviceBuffer<std::int32_t> of_laws = room(), of_terms = room(), of_given = room(),
                                   of_numbers = room();
  const unsigned blocks = blocks_for(batch.count + 1, warps_per_block);
  launch(number_laws, blocks, threads_per_block, 0, stream, laws.view(), batch, nodes,
         LawCounts{of_laws.data(), of_terms.data(), of_given.data(), of_numbers.data()});
  Begins law = begins_of(of_laws, stream), given = begins_of(of_given, stream);
  const Begins term = begins_of(of_terms, stream), number = begins_of(of_numbers, stream);
  result.laws = DeviceBuffer<SystemLaw>(law.count, stream);
  result.terms = DeviceBuffer<LawTerm>(term.count, stream);
  result.given = DeviceBuffer<GivenRow>(given.count, stream);
  result.numbers = DeviceBuffer<float>(number.count, stream);
  launch(fill_laws, blocks, threads_per_block, 0, stream, laws.view(), batch, nodes,
         LawsToFill{law.begin.data(), term.begin.data(), given.begin.data(), number.begin.data(),
                    result.laws.data(), result.terms.data(), result.given.data(),
                    result.numbers.data()});
  result.law_begin = std::move(law.begin);
  result.given_begin = std::move(given.begin);
  return result;
}

}  // namespace fmbem::cuda::bem
