#pragma once

#include <cstdint>

#include <cuda_fp16.h>

#include "fmbem/bem/precond/cuda/elimination.cuh"
#include "fmbem/bem/precond/system_parts.hpp"

namespace fmbem::cuda::bem {

/// Small systems of mixed rows in device memory (SystemBatch), and where their rows go.
struct BatchView {
  const std::int32_t *node_begin, *entry_begin, *law_begin, *given_begin;
  const SystemNode* nodes;
  const SetEntry* entries;
  const SystemLaw* laws;
  const LawTerm* terms;
  const GivenRow* given;
  float* numbers;                           ///< those of laws become their rows
  const std::int32_t *order, *own, *place;  ///< [leaves]: in which order, panels, the first one
  const std::int64_t* row_begin;            ///< [leaves]
  __half* rows;
  float* scale;
  std::int32_t* singular;  ///< the first place of a leaf whose system is
};

/// What a block works with: the matrix, nodes, and the scale of each equation.
struct MixedWorkspace {
  float* matrix;
  SystemNode* nodes;
  float* scale;

  __host__ __device__ static constexpr std::int64_t matrix_size(int m, int own) {
    return (Augmented::size(m, own) + 3) / 4 * 4;
  }
  static constexpr std::int64_t bytes(int m, int own) {
    const std::int64_t all = matrix_size(m, own) * static_cast<std::int64_t>(sizeof(float)) +
                             m * static_cast<std::int64_t>(sizeof(SystemNode) + sizeof(float));
    return (all + 15) / 16 * 16;
  }
  __device__ MixedWorkspace(void* memory, int m, int own)
      : matrix(static_cast<float*>(memory)),
        nodes(reinterpret_cast<SystemNode*>(matrix + matrix_size(m, own))),
        scale(reinterpret_cast<float*>(nodes + m)) {}
};

/// The transposed equations by the smooth kernel, with unit vectors for the last unknowns behind
/// them; if some nodes are long, with the potential of segments.
__device__ inline void fill_smooth(const Augmented& b, const SystemNode* nodes, bool has_long) {
  constexpr int warps = solve_threads / warp_size;
  const int thread = static_cast<int>(threadIdx.x);
  for (int k = thread / warp_size; k < b.columns(); k += warps) {
    const int unit_row = k - b.right_sides;
    for (int l = thread % warp_size; l < b.unknowns; l += warp_size) {
      float value = l == unit_row ? 1.f : 0.f;
      if (k < b.unknowns) {
        const SystemNode &to = nodes[k], &from = nodes[l];
        const Vec3<float> d{to.x - from.x, to.y - from.y, to.z - from.z};
        PlacedRow row = to.row;
        if (has_long) row.alpha = 0;
        value = from.strength * mixed_entry(row, d.x, d.y, d.z, to.smear2 + from.smear2);
        if (has_long)
          value +=
              from.strength * to.row.alpha / stiffer *
              segment_potential(d, from.segment.half, from.segment.tilt, to.across2 + from.across2);
        if (k == l) value = to.own;
      }
      b.at(l, k) = value;
    }
  }
  __syncthreads();
}

/// Rows that are given, and laws in place of the mean of rows, as the host has them: a thread for
/// each column of the equations.
__device__ inline void set_charge_rows(const BatchView& a, std::int32_t f, const Augmented& b,
                                       const SystemNode* nodes) {
  const std::int32_t first = a.law_begin[f], last = a.law_begin[f + 1];
  for (int l = static_cast<int>(threadIdx.x); l < b.unknowns; l += solve_threads) {
    for (std::int32_t g = a.given_begin[f]; g < a.given_begin[f + 1]; ++g)
      b.at(l, a.given[g].place) = a.numbers[a.given[g].numbers + l];
    for (std::int32_t n = first; n < last; ++n) {
      const SystemLaw law = a.laws[n];
      float entry = a.numbers[law.numbers + l];
      for (std::int32_t t = law.terms_begin; t < law.terms_end; ++t)
        entry += a.terms[t].factor * b.at(l, a.terms[t].place);
      a.numbers[law.numbers + l] = entry;
    }
    for (std::int32_t n = first; n < last; ++n) {
      float mean = 0;
      for (int k = 0; k < b.unknowns; ++k)
        if (nodes[k].law == n - first) mean += nodes[k].share * b.at(l, k);
      for (int k = 0; k < b.unknowns; ++k)
        if (nodes[k].law == n - first) b.at(l, k) -= mean;
      b.at(l, a.laws[n].place) = a.numbers[a.laws[n].numbers + l];
    }
  }
  __syncthreads();
}

/// Brings the largest entry of each equation to 1.
__device__ inline void scale_equations(const Augmented& b, float* scale) {
  constexpr int warps = solve_threads / warp_size;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  for (int k = static_cast<int>(threadIdx.x) / warp_size; k < b.unknowns; k += warps) {
    float largest = 0;
    for (int l = lane; l < b.unknowns; l += warp_size) largest = fmaxf(largest, fabsf(b.at(l, k)));
    for (int step = warp_size / 2; step > 0; step /= 2)
      largest = fmaxf(largest, __shfl_xor_sync(whole_warp, largest, step));
    for (int l = lane; l < b.unknowns; l += warp_size) b.at(l, k) *= 1 / largest;
    if (lane == 0) scale[k] = 1 / largest;
  }
  __syncthreads();
}

/// Converts rows of the inverse, [m][stride], that act on what laws make of x to rows that act on
/// x, as the host does.
__device__ inline void add_means(const SystemNode* nodes, const SystemLaw* laws, int count, int m,
                                 int own, int stride, float* rows) {
  for (int i = static_cast<int>(threadIdx.x); i < own; i += solve_threads)
    for (int n = 0; n < count; ++n) {
      double of_mean = 2.0 * static_cast<double>(rows[laws[n].place * stride + i]);
      for (int k = 0; k < m; ++k)
        if (nodes[k].law == n) of_mean -= static_cast<double>(rows[k * stride + i]);
      rows[laws[n].place * stride + i] = 0;
      for (int k = 0; k < m; ++k)
        if (nodes[k].law == n) rows[k * stride + i] += nodes[k].share * static_cast<float>(of_mean);
    }
  __syncthreads();
}

}  // namespace fmbem::cuda::bem
