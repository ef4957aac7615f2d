#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/spread_field.cuh"

namespace fmbem::cuda {
namespace {

/// A block for each box (x) and right-hand side (y) adds up the moments of its sources.
template <class T>
__global__ void spread_p2m_kernel(TreeView tree, const std::int32_t* boxes, const T* charges,
                                  std::int64_t sources, const T* rows,
                                  ExpansionsView<T> expansions) {
  const std::int32_t box = boxes[blockIdx.x];
  const int2 range = tree.own_sources(box);
  const int v = blockIdx.y;
  T* const moment = expansions.moment(box, v);
  for (int k = threadIdx.x; k < expansions.count; k += blockDim.x) {
    T sum = 0;
#pragma unroll 4
    for (std::int64_t j = range.x; j < range.y; ++j)
      sum += charges[v * sources + j] * rows[j * expansions.count + k];
    moment[k] = sum;
  }
}

}  // namespace

template <class T>
void spread_p2m(const SpreadTree& tree, const T* charges, const T* rows,
                const ExpansionsView<T>& expansions, cudaStream_t stream) {
  const auto boxes = static_cast<unsigned>(tree.far.source_boxes.size());
  launch(spread_p2m_kernel<T>, dim3(boxes, expansions.vectors), threads_per_block, 0, stream,
         tree.tree.view(), tree.far.source_boxes.data(), charges, tree.sources(), rows, expansions);
}

template void spread_p2m(const SpreadTree&, const double*, const double*,
                         const ExpansionsView<double>&, cudaStream_t);
template void spread_p2m(const SpreadTree&, const float*, const float*,
                         const ExpansionsView<float>&, cudaStream_t);

}  // namespace fmbem::cuda
