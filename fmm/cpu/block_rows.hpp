#pragma once

// What M2M, M2L and L2L share. They multiply by the blocks of expansion/translations.hpp; the rows
// of the products are a chunk of parents, one row for each parent and right-hand side.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <omp.h>

#include "fmbem/fmm/cpu/pass.hpp"

namespace fmbem::fmm {

/// Rows of a chunk: enough of them to pay for reading an operator from memory, and not more than
/// fit the cache.
inline constexpr int most_rows = 128;
inline constexpr int fewest_rows = 8;

/// The boxes that a stage works on, cut into equal chunks, so that each thread gets as many.
struct Chunks {
  std::vector<std::int32_t> boxes;
  int chunk;

  Chunks(std::vector<std::int32_t> parents, int vectors) : boxes(std::move(parents)) {
    const auto divide = [](int n, int parts) { return (n + parts - 1) / parts; };
    const int rows = static_cast<int>(boxes.size()) * vectors;
    const int share = divide(rows, omp_get_max_threads());
    const int of_share = std::max(1, divide(share, most_rows));
    chunk = std::max(1, std::max(divide(share, of_share), fewest_rows) / vectors);
  }

  int count() const { return (static_cast<int>(boxes.size()) + chunk - 1) / chunk; }
  std::vector<std::int32_t> operator[](int i) const {
    const auto first = boxes.begin() + static_cast<std::ptrdiff_t>(i) * chunk;
    return {first, first + std::min<std::ptrdiff_t>(chunk, boxes.end() - first)};
  }
};

/// Eight arrays of rows, one for each block.
template <class T>
struct BlockRows {
  BlockRows(int columns, int rows)
      : stride(columns),
        block_stride(static_cast<std::int64_t>(rows) * stride),
        values(8 * block_stride) {}

  T* row(int e, int i) {
    return values.data() + e * block_stride + static_cast<std::int64_t>(i) * stride;
  }
  void rows_of(int i, T** out) {
    for (int e = 0; e < 8; ++e) out[e] = row(e, i);
  }
  /// Changes the length of rows, to at most that at construction.
  void reshape(int columns) {
    const std::int64_t rows = block_stride / stride;
    stride = columns;
    block_stride = rows * stride;
  }
  void clear() { std::fill_n(values.begin(), 8 * block_stride, T(0)); }

  int stride;
  std::int64_t block_stride;
  std::vector<T> values;
};

/// A thread's buffers.
template <class T>
struct Workspace {
  Workspace(const Pass<T>& pass, int rows)
      : in(whole_registers(pass.kernels, pass.order.count), rows),
        out(in.stride, rows),
        zeros(pass.order.count, T(0)),
        trash(zeros) {}

  BlockRows<T> in;
  BlockRows<double> out;
  std::vector<T> zeros;  ///< the expansion of an absent box
  std::vector<T> trash;  ///< where an absent box's expansion goes
  std::vector<std::int32_t> row_of;
};

/// Puts the coefficients of the boxes up to that order into row i of the blocks, one box for each
/// mirror image.
template <class T>
void gather(const Pass<T>& pass, const ParityOrder& order,
            const std::array<std::int32_t, 8>& mirrored, int v, int i, Workspace<T>& work) {
  const T* in[8];
  for (int g = 0; g < 8; ++g)
    in[g] = mirrored[g] < 0 ? work.zeros.data() : pass.moment(mirrored[g]) + v * pass.order.count;
  T* out[8];
  work.in.rows_of(i, out);
  pass.kernels.butterfly(order.begin.data(), pass.order.begin.data(), in, out);
}

/// Adds a chunk's rows, of that order, to the local expansions of the children with targets.
template <class T>
void scatter(const Pass<T>& pass, const ParityOrder& order,
             const std::vector<std::int32_t>& parents, Workspace<T>& work) {
  for (std::size_t b = 0; b < parents.size(); ++b) {
    for (int v = 0; v < pass.vectors; ++v) {
      double* in[8];
      work.out.rows_of(static_cast<int>(b) * pass.vectors + v, in);
      T* out[8];
      for (int g = 0; g < 8; ++g) {
        const std::int32_t child = pass.tree.octree.boxes[parents[b]].child[7 ^ g];
        const bool wanted = child >= 0 && pass.is_acted_on(pass.tree.octree.boxes[child]);
        out[g] = wanted ? pass.local(child) + v * pass.order.count : work.trash.data();
      }
      pass.kernels.butterfly_back(order.begin.data(), pass.order.begin.data(), in, out);
    }
  }
}

/// Whether the box exists and has points that act.
template <class T>
bool acts(const Pass<T>& pass, std::int32_t box) {
  return box >= 0 && pass.acts(pass.tree.octree.boxes[box]);
}

/// Runs a stage on boxes that do not depend on each other.
template <class T>
void for_chunks(const Pass<T>& pass, std::vector<std::int32_t> boxes, auto&& stage) {
  const Chunks chunks(std::move(boxes), pass.vectors);
#pragma omp parallel if (chunks.count() > 1)
  {
    const int rows = chunks.chunk * pass.vectors;
    Workspace<T> work(pass, rows);
    for (int i = 0; i < rows; ++i) work.row_of.push_back(i);
#pragma omp for schedule(dynamic, 1)
    for (int i = 0; i < chunks.count(); ++i) stage(pass, chunks[i], work);
  }
}

/// Adds the parents of a level that have such points.
template <class T>
void add_parents(const Pass<T>& pass, int level, Range Box::*points,
                 std::vector<std::int32_t>& boxes) {
  for (const std::int32_t b : pass.tree.lists.m2l[level])
    if ((pass.tree.octree.boxes[b].*points).size() > 0) boxes.push_back(b);
}
template <class T>
std::vector<std::int32_t> parents_of(const Pass<T>& pass, int level, Range Box::*points) {
  std::vector<std::int32_t> boxes;
  add_parents(pass, level, points, boxes);
  return boxes;
}

}  // namespace fmbem::fmm
