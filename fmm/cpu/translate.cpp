// M2M, M2L and L2L, level by level in the blocks of translations.hpp. A chunk of parents gives the
// rows of the products, one for each parent and right-hand side.
#include <algorithm>
#include <utility>

#include <omp.h>

#include "fmbem/fmm/cpu/pass.hpp"

namespace fmbem::fmm {
namespace {

/// Rows that amortise reading an operator from memory without leaving the cache.
constexpr int most_rows = 128;
constexpr int fewest_rows = 8;

/// The boxes that a stage works on, cut into equal chunks, as many for each thread.
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
  /// Turns to rows of another length, at most that of the beginning.
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

/// Room of a thread.
template <class T>
struct Workspace {
  Workspace(const Pass<T>& pass, int rows)
      : in(whole_registers(pass.kernels, pass.data.order.count), rows),
        out(in.stride, rows),
        zeros(pass.data.order.count, T(0)),
        trash(zeros) {}

  BlockRows<T> in;
  BlockRows<double> out;
  std::vector<T> zeros;  ///< the expansion of an absent box
  std::vector<T> trash;  ///< where an absent box's expansion goes
  std::vector<std::int32_t> row_of;
};

/// Coefficients of the boxes up to that order, mirror image by mirror image, into row i of the
/// blocks.
template <class T>
void gather(const Pass<T>& pass, const ParityOrder& order,
            const std::array<std::int32_t, 8>& mirrored, int v, int i, Workspace<T>& work) {
  const T* in[8];
  for (int g = 0; g < 8; ++g)
    in[g] =
        mirrored[g] < 0 ? work.zeros.data() : pass.moment(mirrored[g]) + v * pass.data.order.count;
  T* out[8];
  work.in.rows_of(i, out);
  pass.kernels.butterfly(order.begin.data(), pass.data.order.begin.data(), in, out);
}

/// Adds the blocks of a chunk's rows, of that order, to the local expansions of the children with
/// targets.
template <class T>
void scatter(const Pass<T>& pass, const ParityOrder& order,
             const std::vector<std::int32_t>& parents, Workspace<T>& work) {
  for (std::size_t b = 0; b < parents.size(); ++b) {
    for (int v = 0; v < pass.vectors; ++v) {
      double* in[8];
      work.out.rows_of(static_cast<int>(b) * pass.vectors + v, in);
      T* out[8];
      for (int g = 0; g < 8; ++g) {
        const std::int32_t child = pass.data.tree.boxes[parents[b]].child[7 ^ g];
        const bool wanted = child >= 0 && pass.data.tree.boxes[child].targets.size() > 0;
        out[g] = wanted ? pass.local(child) + v * pass.data.order.count : work.trash.data();
      }
      pass.kernels.butterfly_back(order.begin.data(), pass.data.order.begin.data(), in, out);
    }
  }
}

template <class T>
bool has_sources(const Pass<T>& pass, std::int32_t box) {
  return box >= 0 && pass.data.tree.boxes[box].sources.size() > 0;
}

template <class T>
void m2m_chunk(const Pass<T>& pass, const std::vector<std::int32_t>& parents, Workspace<T>& work) {
  const ParityOrder& order = pass.data.order;
  const int rows = static_cast<int>(parents.size()) * pass.vectors;
  for (std::size_t b = 0; b < parents.size(); ++b) {
    std::array<std::int32_t, 8> children;
    for (int g = 0; g < 8; ++g) {
      const std::int32_t child = pass.data.tree.boxes[parents[b]].child[7 ^ g];
      children[g] = has_sources(pass, child) ? child : -1;
    }
    for (int v = 0; v < pass.vectors; ++v)
      gather(pass, order, children, v, static_cast<int>(b) * pass.vectors + v, work);
  }
  work.out.clear();
  for (int e = 0; e < 8; ++e) {
    const int first = order.begin[e], count = order.begin[e + 1] - first;
    pass.kernels.multiply(rows, count, order.count, work.in.row(e, 0), work.in.stride,
                          pass.operators.upward[e].data(), work.out.row(e, 0), work.out.stride,
                          work.row_of.data());
    for (int i = 0; i < rows; ++i) {
      const std::int32_t parent = parents[i / pass.vectors];
      const double* of_children = work.out.row(e, i);
      T* moment = pass.moment(parent) + i % pass.vectors * order.count + first;
      if (pass.data.tree.boxes[parent].held == 0)
        std::copy_n(of_children, count, moment);
      else  // to what P2M has written
        for (int k = 0; k < count; ++k) moment[k] += static_cast<T>(of_children[k]);
    }
  }
}

template <class T>
void l2l_chunk(const Pass<T>& pass, const std::vector<std::int32_t>& parents, Workspace<T>& work) {
  const ParityOrder& order = pass.data.order;
  const int rows = static_cast<int>(parents.size()) * pass.vectors;
  work.out.clear();
  for (int i = 0; i < rows; ++i)
    std::copy_n(pass.local(parents[i / pass.vectors]) + i % pass.vectors * order.count, order.count,
                work.in.row(0, i));
  for (int e = 0; e < 8; ++e)
    pass.kernels.multiply(rows, order.count, order.begin[e + 1] - order.begin[e],
                          work.in.row(0, 0) + order.begin[e], work.in.stride,
                          pass.operators.downward[e].data(), work.out.row(e, 0), work.out.stride,
                          work.row_of.data());
  scatter(pass, order, parents, work);
}

template <class T>
void clear_children(const Pass<T>& pass, const std::vector<std::int32_t>& parents) {
  for (const std::int32_t parent : parents)
    for (const std::int32_t child : pass.data.tree.boxes[parent].child)
      if (child >= 0) std::fill_n(pass.local(child), pass.vectors * pass.data.order.count, T(0));
}

/// The part of one group's orbits.
template <class T>
void m2l_group(const Pass<T>& pass, const M2lGroup<T>& group,
               const std::vector<std::int32_t>& parents, Workspace<T>& work,
               std::vector<std::int32_t>& rows) {
  static const auto places = orbit_places();
  const int count = group.order.count;
  const int columns = whole_registers(pass.kernels, count);
  work.in.reshape(columns);
  work.out.reshape(columns);
  work.out.clear();
  for (std::size_t k = 0; k < group.orbits.size(); ++k) {
    rows.clear();
    for (std::size_t b = 0; b < parents.size(); ++b) {
      std::array<std::int32_t, 8> mirrored;
      bool any = false;
      for (int g = 0; g < 8; ++g) {
        const OrbitPlace place = places[group.orbits[k]][g];
        const std::int32_t uncle = pass.data.tree.colleagues[parents[b]][place.colleague];
        const std::int32_t box = uncle < 0 ? -1 : pass.data.tree.boxes[uncle].child[place.octant];
        mirrored[g] = has_sources(pass, box) ? box : -1;
        any = any || mirrored[g] >= 0;
      }
      if (!any) continue;  // on surfaces most orbits are empty
      for (int v = 0; v < pass.vectors; ++v) {
        gather(pass, group.order, mirrored, v, static_cast<int>(rows.size()), work);
        rows.push_back(static_cast<std::int32_t>(b) * pass.vectors + v);
      }
    }
    for (int e = 0; e < 8; ++e)
      pass.kernels.multiply(static_cast<int>(rows.size()), count, count, work.in.row(e, 0),
                            work.in.stride, group.block(k, e), work.out.row(e, 0), work.out.stride,
                            rows.data());
  }
  scatter(pass, group.order, parents, work);
}

template <class T>
void m2l_chunk(const Pass<T>& pass, const std::vector<std::int32_t>& parents, Workspace<T>& work) {
  clear_children(pass, parents);
  std::vector<std::int32_t> rows;
  for (const M2lGroup<T>& group : pass.operators.m2l) m2l_group(pass, group, parents, work, rows);
}

/// Runs a stage on some boxes, of which none has to wait for another.
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

/// Adds the parents of a level that hold sources or targets.
template <class T>
void add_parents(const Pass<T>& pass, int level, Range Box::*points,
                 std::vector<std::int32_t>& boxes) {
  for (const std::int32_t b : pass.data.parents[level])
    if ((pass.data.tree.boxes[b].*points).size() > 0) boxes.push_back(b);
}
template <class T>
std::vector<std::int32_t> parents_of(const Pass<T>& pass, int level, Range Box::*points) {
  std::vector<std::int32_t> boxes;
  add_parents(pass, level, points, boxes);
  return boxes;
}

}  // namespace

template <class T>
void m2m(const Pass<T>& pass) {
  for (int level = pass.data.tree.levels() - 2; level >= 2; --level)
    for_chunks(pass, parents_of(pass, level, &Box::sources), m2m_chunk<T>);
}

template <class T>
void m2l(const Pass<T>& pass) {
  // All levels at once: on the first ones alone there are few rows for the large operators.
  std::vector<std::int32_t> boxes;
  for (int level = 1; level + 1 < pass.data.tree.levels(); ++level)
    add_parents(pass, level, &Box::targets, boxes);
  for_chunks(pass, std::move(boxes), m2l_chunk<T>);
}

template <class T>
void l2l(const Pass<T>& pass) {
  for (int level = 2; level + 1 < pass.data.tree.levels(); ++level)
    for_chunks(pass, parents_of(pass, level, &Box::targets), l2l_chunk<T>);
}

#define FMBEM_INSTANTIATE(T)         \
  template void m2m(const Pass<T>&); \
  template void m2l(const Pass<T>&); \
  template void l2l(const Pass<T>&);
FMBEM_INSTANTIATE(double)
FMBEM_INSTANTIATE(float)
#undef FMBEM_INSTANTIATE

}  // namespace fmbem::fmm
