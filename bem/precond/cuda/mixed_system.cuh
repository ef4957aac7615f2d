#pragma once

#include <cstdint>

#include <cuda_fp16.h>

#include "fmbem/bem/precond/cuda/elimination.cuh"
#include "fmbem/bem/precond/system_parts.hpp"

namespace fmbem::cuda::bem {

/// Small systems of mixed rows in device memory (DeviceBatch), and where their rows go.
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

/// Shared memory that a block works in. Nodes and the elimination have the same room, one after the
/// other.
struct MixedWorkspace {
  std::int32_t* column_of;  ///< [m]
  float* factor;            ///< [own]
  float* room;
  SystemNode* nodes;  ///< [m]

  static constexpr std::int64_t bytes(int m, int own) {
    const std::int64_t of_nodes = m * static_cast<std::int64_t>(sizeof(SystemNode)),
                       of_elimination =
                           elimination_floats(m) * static_cast<std::int64_t>(sizeof(float));
    return numbers(m, own) * static_cast<std::int64_t>(sizeof(std::int32_t)) +
           (of_nodes > of_elimination ? of_nodes : of_elimination);
  }
  __device__ MixedWorkspace(std::int32_t* memory, int m, int own)
      : column_of(memory),
        factor(reinterpret_cast<float*>(memory + m)),
        room(reinterpret_cast<float*>(memory + numbers(m, own))),
        nodes(reinterpret_cast<SystemNode*>(room)) {}

 private:
  __host__ __device__ static constexpr int numbers(int m, int own) { return (m + own + 3) / 4 * 4; }
};

/// The equations by the smooth kernel; if some nodes are long, with the potential of segments.
__device__ inline void fill_smooth(const SquareMatrix& a, const SystemNode* nodes, bool has_long) {
  constexpr int warps = general_threads / warp_size;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  for (int k = static_cast<int>(threadIdx.x) % warp_size; k < a.size; k += warp_size) {
    const SystemNode to = nodes[k];
    PlacedRow row = to.row;
    if (has_long) row.alpha = 0;
#pragma unroll 2
    for (int l = warp; l < a.size; l += warps) {
      const SystemNode& from = nodes[l];
      const Vec3<float> d{to.x - from.x, to.y - from.y, to.z - from.z};
      float value = from.strength * mixed_entry(row, d.x, d.y, d.z, to.smear2 + from.smear2);
      if (has_long)
        value +=
            from.strength * to.row.alpha / stiffer *
            segment_potential(d, from.segment.half, from.segment.tilt, to.across2 + from.across2);
      a.at(k, l) = k == l ? to.own : value;
    }
  }
  __syncthreads();
}

__device__ inline float sum_of_warp(float own) {
  for (int step = warp_size / 2; step > 0; step /= 2) own += __shfl_xor_sync(whole_warp, own, step);
  return own;
}

/// Rows that are given, and laws in place of the mean of rows, as the host has them: a warp for
/// each column of the equations.
__device__ inline void set_charge_rows(const BatchView& a, std::int32_t f, const SquareMatrix& b,
                                       const SystemNode* nodes) {
  const std::int32_t first = a.law_begin[f], last = a.law_begin[f + 1];
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  for (int l = static_cast<int>(threadIdx.x) / warp_size; l < b.size;
       l += general_threads / warp_size) {
    float* const column = b.column(l);
    for (std::int32_t g = a.given_begin[f] + lane; g < a.given_begin[f + 1]; g += warp_size)
      column[a.given[g].place] = a.numbers[a.given[g].numbers + l];
    __syncwarp();
    for (std::int32_t n = first; n < last; ++n) {
      const SystemLaw law = a.laws[n];
      float of_terms = 0;
      for (std::int32_t t = law.terms_begin + lane; t < law.terms_end; t += warp_size)
        of_terms += a.terms[t].factor * column[a.terms[t].place];
      of_terms = sum_of_warp(of_terms);
      if (lane == 0) a.numbers[law.numbers + l] += of_terms;
    }
    __syncwarp();
    for (std::int32_t n = first; n < last; ++n) {
      float mean = 0;
#pragma unroll 8
      for (int k = lane; k < b.size; k += warp_size) {
        const float entry = column[k];
        mean += nodes[k].law == n - first ? nodes[k].share * entry : 0;
      }
      mean = sum_of_warp(mean);
#pragma unroll 8
      for (int k = lane; k < b.size; k += warp_size) {
        const float entry = column[k];
        column[k] = nodes[k].law == n - first ? entry - mean : entry;
      }
      __syncwarp();
      if (lane == 0) column[a.laws[n].place] = a.numbers[a.laws[n].numbers + l];
    }
  }
  __syncthreads();
}

/// Converts rows of the inverse, values(k, i), that act on what laws make of x to rows that act on
/// x, as the host does: a warp for each row and law.
template <class Values>
__device__ void add_means(const SystemNode* nodes, const SystemLaw* laws, int count, int m, int own,
                          Values&& values) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  for (int i = static_cast<int>(threadIdx.x) / warp_size; i < own; i += general_threads / warp_size)
    for (int n = 0; n < count; ++n) {
      double of_others = 0;
#pragma unroll 8
      for (int k = lane; k < m; k += warp_size) {
        const float value = values(k, i);
        of_others += nodes[k].law == n ? static_cast<double>(value) : 0;
      }
      for (int step = warp_size / 2; step > 0; step /= 2)
        of_others += __shfl_xor_sync(whole_warp, of_others, step);
      float& of_law = values(laws[n].place, i);
      const double of_mean = 2.0 * static_cast<double>(of_law) - of_others;
      __syncwarp();
      if (lane == 0) of_law = 0;
      __syncwarp();
#pragma unroll 8
      for (int k = lane; k < m; k += warp_size) {
        const float value = values(k, i);
        values(k, i) =
            nodes[k].law == n ? value + nodes[k].share * static_cast<float>(of_mean) : value;
      }
      __syncwarp();
    }
  __syncthreads();
}

}  // namespace fmbem::cuda::bem
