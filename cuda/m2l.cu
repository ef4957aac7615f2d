// What M2L multiplies: moments gathered by orbits of fmm/expansion/translations.hpp.
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/butterfly.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/pass.cuh"
#include "fmbem/fmm/expansion/translations.hpp"

namespace fmbem::cuda {
namespace {

constexpr int table_places = fmm::orbits - 1;

/// The places of a row's factors, with those that split numbers have besides.
template <class T>
__host__ __device__ constexpr int padded_places(int places) {
  return sizeof(T) == sizeof(float) ? static_cast<int>(split_stride(places)) : places;
}

/// A thread for each coefficient of each orbit (x) of a row (y and z).
template <class T>
__global__ void __launch_bounds__(threads_per_block)
    gather_kernel(const std::int32_t* sources, Classes classes, ExpansionsView<T> expansions,
                  GatheredView<T> gathered) {
  const int row = static_cast<int>(blockIdx.y * gridDim.z + blockIdx.z);
  const int place = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int count = expansions.count, places = gathered.orbits * count;
  if (row >= gathered.rows || place >= padded_places<T>(places)) return;
  // place/count, whose rounding is far smaller than half of 1/count
  const int orbit =
      static_cast<int>((static_cast<float>(place) + 0.5f) / static_cast<float>(count));
  const bool pads = place >= places;
  const int k = pads ? 0 : place - orbit * count;
  const int vectors = expansions.vectors, row_of_all = static_cast<int>(gathered.first_row) + row;
  const std::int64_t parent = row_of_all / vectors;
  const int v = row_of_all % vectors;
  const int4* const boxes = reinterpret_cast<const int4*>(
      sources + (parent * table_places + gathered.first_orbit + (pads ? 0 : orbit)) * 8);
  const int4 low = boxes[0], high = boxes[1];
  const std::int32_t box[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
  T value[8];
#pragma unroll
  for (int g = 0; g < 8; ++g)
    value[g] = pads || box[g] < 0 ? T(0) : expansions.moment(box[g], v)[k];
  // The signs of the reflections exchange the blocks.
  const int parity = classes.of[k];
  transform(value);
  M2lNumber<T>* const out = gathered.values + row * gathered.stride + place;
  const std::int64_t block = gathered.rows * gathered.stride;
  if constexpr (sizeof(T) == sizeof(float)) {
    float largest = 0;
#pragma unroll
    for (int e = 0; e < 8; ++e) largest = fmaxf(largest, fabsf(value[e]));
    const SplitUnit unit(largest_of_warp(largest));  // a warp's places have a unit together
    if (place % split_depth == 0)
      gathered.units[place / split_depth * gathered.unit_stride + row] = unit.value();
#pragma unroll
    for (int e = 0; e < 8; e += 2) {
      const SplitPair pair = unit.split(value[e], value[e + 1]);
      out[(e ^ parity) * block] = pair.first();
      out[((e + 1) ^ parity) * block] = pair.second();
    }
  } else {
#pragma unroll
    for (int e = 0; e < 8; ++e) out[(e ^ parity) * block] = value[e];
  }
}

}  // namespace

template <class T>
void gather(const std::int32_t* sources, const Classes& classes,
            const ExpansionsView<T>& expansions, const GatheredView<T>& gathered,
            cudaStream_t stream) {
  // Neighbours in space, whose sources are mostly the same, run together.
  constexpr int rows_together = 8;
  launch(gather_kernel<T>,
         dim3(blocks_for(padded_places<T>(gathered.orbits * expansions.count)),
              blocks_for(gathered.rows, rows_together), rows_together),
         threads_per_block, 0, stream, sources, classes, expansions, gathered);
}

#define FMBEM_INSTANTIATE(T)                                                          \
  template void gather(const std::int32_t*, const Classes&, const ExpansionsView<T>&, \
                       const GatheredView<T>&, cudaStream_t);
FMBEM_INSTANTIATE(double)
FMBEM_INSTANTIATE(float)
#undef FMBEM_INSTANTIATE

}  // namespace fmbem::cuda
