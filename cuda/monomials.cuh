#pragma once

#include <vector>

#include "fmbem/cuda/memory.cuh"
#include "fmbem/cuda/pass.cuh"
#include "fmbem/fmm/expansion/cartesian.hpp"

namespace fmbem::cuda {

/// What takes moments to monomials (fmm/expansion/cartesian.hpp), a row for each.
template <class T>
struct MonomialRows {
  DeviceBuffer<std::int32_t> begin, index;
  DeviceBuffer<T> value;

  MonomialRows(const fmm::ParityOrder& order, cudaStream_t stream) {
    std::vector<std::vector<fmm::CartesianTerm>> rows(fmm::monomial_count(order.p));
    for (const fmm::CartesianTerm& term : fmm::cartesian_terms(order))
      rows[term.monomial].push_back(term);
    std::vector<std::int32_t> begins{0}, indices;
    std::vector<T> values;
    for (const auto& row : rows) {
      for (const fmm::CartesianTerm& term : row) {
        indices.push_back(term.position);
        values.push_back(static_cast<T>(term.value));
      }
      begins.push_back(static_cast<std::int32_t>(indices.size()));
    }
    begin = to_device(begins, stream);
    index = to_device(indices, stream);
    value = to_device(values, stream);
    FMBEM_CUDA(cudaStreamSynchronize(stream));  // before the host's arrays go
  }
  RowsView<T> view() const { return {begin.data(), index.data(), value.data()}; }
  std::int64_t bytes() const { return begin.bytes() + index.bytes() + value.bytes(); }
};

/// The coefficient of a monomial from a box's moments.
template <class T>
__device__ inline T monomial_of(const RowsView<T>& rows, int monomial, const T* moments) {
  T sum = 0;
  for (std::int32_t k = rows.begin[monomial]; k < rows.begin[monomial + 1]; ++k)
    sum += rows.value[k] * moments[rows.index[k]];
  return sum;
}

}  // namespace fmbem::cuda
