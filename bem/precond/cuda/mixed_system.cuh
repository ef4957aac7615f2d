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
/// other; which nodes are in the mean of which law is kept.
struct MixedWorkspace {
  std::int32_t *column_of, *law;  ///< [m], with none behind the last one up to a multiple of four
  float *share, *factor;          ///< [m], [own]
  float* room;
  SystemNode* nodes;  ///< [m]

  static constexpr std::int64_t bytes(int m, int own) {
    const std::int64_t of_nodes = m * static_cast<std::int64_t>(sizeof(SystemNode)),
                       of_elimination =
                           elimination_floats(m) * static_cast<std::int64_t>(sizeof(float));
    return (3 * fours(m) + fours(own)) * static_cast<std::int64_t>(sizeof(std::int32_t)) +
           (of_nodes > of_elimination ? of_nodes : of_elimination);
  }
  __device__ MixedWorkspace(std::int32_t* memory, int m, int own)
      : column_of(memory),
        law(column_of + fours(m)),
        share(reinterpret_cast<float*>(law + fours(m))),
        factor(share + fours(m)),
        room(factor + fours(own)),
        nodes(reinterpret_cast<SystemNode*>(room)) {}

  /// Copies the nodes of a leaf, by a block.
  __device__ void take(const SystemNode* of_leaf, int m) const {
    for (int k = static_cast<int>(threadIdx.x); k < fours(m); k += general_threads) {
      law[k] = -1;
      share[k] = 0;
      if (k >= m) continue;
      nodes[k] = of_leaf[k];
      law[k] = nodes[k].law;
      share[k] = nodes[k].share;
    }
  }
  /// Of rows or columns k to k + 3, k a multiple of four: those in the mean of a law, and their
  /// shares.
  struct Four {
    bool is_in[4];
    float share[4];
  };
  __device__ Four of_law(int n, int k) const {
    const int4 laws = *reinterpret_cast<const int4*>(law + k);
    const float4 shares = *reinterpret_cast<const float4*>(share + k);
    return {{laws.x == n, laws.y == n, laws.z == n, laws.w == n},
            {shares.x, shares.y, shares.z, shares.w}};
  }

 private:
  __host__ __device__ static constexpr int fours(int n) { return (n + 3) / 4 * 4; }
};

/// The equations by the smooth kernel; if some nodes are long, with the potential of segments.
template <bool has_long>
__device__ __noinline__ void fill_smooth(SquareMatrix a, const SystemNode* nodes) {
  __builtin_assume(__isGlobal(a.entries));
  __builtin_assume(__isShared(nodes));
  constexpr int warps = general_threads / warp_size;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  for (int k = static_cast<int>(threadIdx.x) % warp_size; k < a.size; k += warp_size) {
    const SystemNode to = nodes[k];
    PlacedRow row = to.row;
    if (has_long) row.alpha = 0;
#pragma unroll 4
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

/// Some columns of the equations that a warp works on at a time, so that their loads are under way
/// together; the last one again behind it.
struct ColumnGroup {
  static constexpr int width = 4;
  float* column[width];
  int begin, count;

  __device__ ColumnGroup(const SquareMatrix& b, int first)
      : begin(first), count(min(width, b.size - first)) {
#pragma unroll
    for (int j = 0; j < width; ++j) column[j] = b.column(first + min(j, count - 1));
  }
  /// Rows k to k + 3 of each.
  __device__ void load(int k, float (&entry)[width][4]) const {
#pragma unroll
    for (int j = 0; j < width; ++j) {
      const float4 four = *reinterpret_cast<const float4*>(column[j] + k);
      entry[j][0] = four.x;
      entry[j][1] = four.y;
      entry[j][2] = four.z;
      entry[j][3] = four.w;
    }
  }
  __device__ void store(int k, const float (&entry)[width][4]) const {
#pragma unroll
    for (int j = 0; j < width; ++j)
      *reinterpret_cast<float4*>(column[j] + k) =
          make_float4(entry[j][0], entry[j][1], entry[j][2], entry[j][3]);
  }
};

/// Adds terms of laws to their numbers, by a warp.
__device__ inline void add_terms(const BatchView& a, const SystemLaw& law, const ColumnGroup& of) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  float sum[ColumnGroup::width]{};
#pragma unroll 2
  for (std::int32_t t = law.terms_begin + lane; t < law.terms_end; t += warp_size) {
    const LawTerm term = a.terms[t];
#pragma unroll
    for (int j = 0; j < ColumnGroup::width; ++j) sum[j] += term.factor * of.column[j][term.place];
  }
#pragma unroll
  for (int j = 0; j < ColumnGroup::width; ++j) {
    sum[j] = sum_of_warp(sum[j]);
    if (lane == j && j < of.count) a.numbers[law.numbers + of.begin + j] += sum[j];
  }
}

/// Takes the mean of law n's rows from them and puts the law in its place, by a warp. Rows of up to
/// `kept` parts of 128 stay in registers meanwhile.
__device__ inline void replace_mean(const BatchView& a, const SystemLaw& law, int n, int size,
                                    const MixedWorkspace& space, const ColumnGroup& of) {
  constexpr int width = ColumnGroup::width, kept = 2, rows_of_part = 4 * warp_size;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  float entry[kept + 1][width][4], mean[width]{}, number[width];
#pragma unroll
  for (int j = 0; j < width; ++j)
    number[j] = a.numbers[law.numbers + of.begin + min(j, of.count - 1)];
  const auto add = [&](int k, const float(&entries)[width][4]) {
    const MixedWorkspace::Four four = space.of_law(n, k);
#pragma unroll
    for (int j = 0; j < width; ++j)
#pragma unroll
      for (int r = 0; r < 4; ++r) mean[j] += four.is_in[r] ? four.share[r] * entries[j][r] : 0;
  };
  const auto replace = [&](int k, float(&entries)[width][4]) {
    const MixedWorkspace::Four four = space.of_law(n, k);
#pragma unroll
    for (int j = 0; j < width; ++j)
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        entries[j][r] = four.is_in[r] ? entries[j][r] - mean[j] : entries[j][r];
        if (k + r == law.place) entries[j][r] = number[j];
      }
    of.store(k, entries);
  };
  const auto row = [&](int part) { return part * rows_of_part + 4 * lane; };
#pragma unroll
  for (int p = 0; p < kept; ++p)
    if (row(p) < size) of.load(row(p), entry[p]);
#pragma unroll
  for (int p = 0; p < kept; ++p)
    if (row(p) < size) add(row(p), entry[p]);
  for (int k = row(kept); k < size; k += rows_of_part) {
    of.load(k, entry[kept]);
    add(k, entry[kept]);
  }
#pragma unroll
  for (int j = 0; j < width; ++j) mean[j] = sum_of_warp(mean[j]);
#pragma unroll
  for (int p = 0; p < kept; ++p)
    if (row(p) < size) replace(row(p), entry[p]);
  for (int k = row(kept); k < size; k += rows_of_part) {
    of.load(k, entry[kept]);
    replace(k, entry[kept]);
  }
}

/// Rows that are given, and laws in place of the mean of rows, as the host has them: a warp for
/// some columns of the equations. A function of its own has all registers.
__device__ __noinline__ void set_charge_rows(const BatchView& a, std::int32_t f, SquareMatrix b,
                                             MixedWorkspace space) {
  __builtin_assume(__isGlobal(b.entries));
  __builtin_assume(__isGlobal(a.numbers));
  __builtin_assume(__isGlobal(a.laws));
  __builtin_assume(__isGlobal(a.terms));
  __builtin_assume(__isShared(space.law));
  __builtin_assume(__isShared(space.share));
  const std::int32_t first = a.law_begin[f], last = a.law_begin[f + 1],
                     first_given = a.given_begin[f], last_given = a.given_begin[f + 1];
  if (first == last && first_given == last_given) return;
  const int lane = static_cast<int>(threadIdx.x) % warp_size,
            warp = static_cast<int>(threadIdx.x) / warp_size;
  for (int l = ColumnGroup::width * warp; l < b.size;
       l += ColumnGroup::width * general_threads / warp_size) {
    const ColumnGroup columns(b, l);
    for (std::int32_t g = first_given + lane; g < last_given; g += warp_size)
      for (int j = 0; j < columns.count; ++j)
        b.at(a.given[g].place, l + j) = a.numbers[a.given[g].numbers + l + j];
    __syncwarp();
    for (std::int32_t n = first; n < last; ++n)
      if (a.laws[n].terms_begin < a.laws[n].terms_end) add_terms(a, a.laws[n], columns);
    __syncwarp();
    for (std::int32_t n = first; n < last; ++n) {
      replace_mean(a, a.laws[n], n - first, b.size, space, columns);
      __syncwarp();
    }
  }
  __syncthreads();
}

/// Converts rows of the inverse, values(k, i), that act on what laws make of x to rows that act on
/// x, as the host does. `room` is for sums of each row's own threads.
template <class Values>
__device__ void add_means(const SystemLaw* laws, int count, int m, int own,
                          const MixedWorkspace& space, Values&& values) {
  const int thread = static_cast<int>(threadIdx.x);
  auto* const sums = reinterpret_cast<double*>(space.room);  // [general_threads]
  for (int n = 0; n < count; ++n)
    for (int first = 0; first < own; first += general_threads) {
      const int width = min(own - first, general_threads), groups = general_threads / width,
                i = first + thread % width, group = thread / width, place = laws[n].place;
      const bool works = group < groups;
      constexpr int together = 8;  // loads are under way at a time
      double of_others = 0;
      for (int k = group; k < m; k += together * groups) {
        float value[together];
#pragma unroll
        for (int t = 0; t < together; ++t) value[t] = values(min(k + t * groups, m - 1), i);
#pragma unroll
        for (int t = 0; t < together; ++t) {
          const int at = k + t * groups;
          of_others += at < m && works && space.law[at] == n ? static_cast<double>(value[t]) : 0;
        }
      }
      sums[thread] = of_others;
      const float of_law = values(place, i);
      __syncthreads();
      double of_mean = 2.0 * static_cast<double>(of_law);
      for (int g = 0; g < groups; ++g) of_mean -= sums[g * width + thread % width];
      const auto mean = static_cast<float>(of_mean);
      for (int k = group; k < m && works; k += together * groups) {
        float value[together];
#pragma unroll
        for (int t = 0; t < together; ++t) value[t] = values(min(k + t * groups, m - 1), i);
#pragma unroll
        for (int t = 0; t < together; ++t) {
          const int at = k + t * groups;
          if (at < m && space.law[at] == n)
            values(at, i) = (at == place ? 0 : value[t]) + space.share[at] * mean;
        }
      }
      __syncthreads();
    }
}

}  // namespace fmbem::cuda::bem
