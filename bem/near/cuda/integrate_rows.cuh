#pragma once

#include "fmbem/bem/near/cuda/near_products.cuh"

namespace fmbem::cuda::bem {

/// Panels in shared memory whose integrals are stored as entries.
template <class N, Trace source>
struct StoredPanels : SharedPanels<N, source, integrating_threads<N, source>> {
  using Number = N;
  static constexpr Trace trace = source;
  static constexpr int blocks = integrating_blocks<N, source>;

  /// The integral over panel j as it is stored, and what stands for one that no rule serves.
  template <class Entry>
  __device__ Entry entry(int /*j*/, N integral) const {
    return static_cast<Entry>(integral);
  }
  template <class Entry>
  __device__ static Entry mark() {
    return close_mark<Entry>;
  }
};

/// A block for each row: all entries that rules serve; the others are marked. `Shared` are
/// StoredPanels, or others that are stored in another way.
template <class Entry, class Shared, class Rules>
__global__ void __launch_bounds__(integrating_threads<typename Shared::Number, Shared::trace>,
                                  Shared::blocks)
    integrate_rows(const __grid_constant__ NearRowsView a, const typename Shared::Packed* packed,
                   const __grid_constant__ Rules rules, Entry* entries) {
  using N = typename Shared::Number;
  auto& shared = static_shared<Shared>();
  const std::int64_t row = blockIdx.x;
  const int2 targets = a.targets_of(row);
  const int n = targets.y - targets.x;
  for (int done = 0; done < n; done += blockDim.x) {
    const Share share(n - done);
    const int i = done + share.target;
    const auto target = PrecisePoint<N>::of(a.target(targets.x + i));
    Entry* out = entries + a.pairs_before[row] + i;
    for_panels(
        a, row, packed, panels_at_once<N, Shared::trace>(share), shared,
        [&](auto& panels, int some) {
          const int pairs = fill_up(panels, some, share);
          __syncthreads();
          const auto put = [&](int j, Entry entry) {
            if (share.works && j < some) out[j * n] = entry;
          };
          for_integrals(
              rules, pairs_of(panels, target), pairs, share,
              [&](int j, auto integral) { put(j, panels.template entry<Entry>(j, integral)); },
              [&](int j) { put(j, panels.template mark<Entry>()); }, [] {});
          out += some * n;
        });
  }
}

}  // namespace fmbem::cuda::bem
