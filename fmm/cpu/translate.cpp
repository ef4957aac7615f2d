// M2M, M2L and L2L, level by level in the blocks of translations.hpp. A chunk of parents gives the
// rows of the products, one for each parent and right-hand side.
#include <algorithm>

#include <omp.h>

#include "fmbem/fmm/cpu/pass.hpp"

namespace fmbem::fmm {
namespace {

/// Rows that amortise reading an operator from memory without leaving the cache.
constexpr int most_rows = 128;
constexpr int fewest_rows = 8;

/// The boxes of one level that a stage works on, cut into chunks.
struct Chunks {
  std::vector<std::int32_t> boxes;
  int chunk;

  Chunks(const std::vector<std::int32_t>& parents, int vectors, auto&& wanted) {
    for (const std::int32_t b : parents)
      if (wanted(b)) boxes.push_back(b);
    const int threads = omp_get_max_threads();
    const int share = (static_cast<int>(boxes.size()) * vectors + threads - 1) / threads;
    chunk = std::max(1, std::clamp(share, fewest_rows, most_rows) / vectors);
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
  void clear() { std::fill(values.begin(), values.end(), T(0)); }

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

/// Coefficients of the boxes, mirror image by mirror image, into row i of the blocks.
template <class T>
void gather(const Pass<T>& pass, const std::array<std::int32_t, 8>& mirrored, int v, int i,
            Workspace<T>& work) {
  const T* in[8];
  for (int g = 0; g < 8; ++g)
    in[g] =
        mirrored[g] < 0 ? work.zeros.data() : pass.moment(mirrored[g]) + v * pass.data.order.count;
  T* out[8];
  work.in.rows_of(i, out);
  pass.kernels.butterfly(pass.data.order.begin.data(), in, out);
}

/// Adds the blocks of a chunk's rows to the local expansions of the children with targets.
template <class T>
void scatter(const Pass<T>& pass, const std::vector<std::int32_t>& parents, Workspace<T>& work) {
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
      pass.kernels.butterfly_back(pass.data.order.begin.data(), in, out);
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
      gather(pass, children, v, static_cast<int>(b) * pass.vectors + v, work);
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
  scatter(pass, parents, work);
}

template <class T>
void clear_children(const Pass<T>& pass, const std::vector<std::int32_t>& parents) {
  for (const std::int32_t parent : parents)
    for (const std::int32_t child : pass.data.tree.boxes[parent].child)
      if (child >= 0) std::fill_n(pass.local(child), pass.vectors * pass.data.order.count, T(0));
}

template <class T>
void m2l_chunk(const Pass<T>& pass, const std::vector<std::int32_t>& parents, Workspace<T>& work) {
  static const auto places = orbit_places();
  const int count = pass.data.order.count;
  clear_children(pass, parents);
  work.out.clear();
  std::vector<std::int32_t> rows;
  for (int orbit = 1; orbit < orbits; ++orbit) {
    rows.clear();
    for (std::size_t b = 0; b < parents.size(); ++b) {
      std::array<std::int32_t, 8> mirrored;
      bool any = false;
      for (int g = 0; g < 8; ++g) {
        const OrbitPlace place = places[orbit][g];
        const std::int32_t uncle = pass.data.tree.colleagues[parents[b]][place.colleague];
        const std::int32_t box = uncle < 0 ? -1 : pass.data.tree.boxes[uncle].child[place.octant];
        mirrored[g] = has_sources(pass, box) ? box : -1;
        any = any || mirrored[g] >= 0;
      }
      if (!any) continue;  // on surfaces most orbits are empty
      for (int v = 0; v < pass.vectors; ++v) {
        gather(pass, mirrored, v, static_cast<int>(rows.size()), work);
        rows.push_back(static_cast<std::int32_t>(b) * pass.vectors + v);
      }
    }
    for (int e = 0; e < 8; ++e)
      pass.kernels.multiply(static_cast<int>(rows.size()), count, count, work.in.row(e, 0),
                            work.in.stride, pass.operators.m2l_block(orbit, e), work.out.row(e, 0),
                            work.out.stride, rows.data());
  }
  scatter(pass, parents, work);
}

/// Runs a stage on the parents of one level.
template <class T>
void for_chunks(const Pass<T>& pass, int level, auto&& wanted, auto&& stage) {
  const Chunks chunks(pass.data.parents[level], pass.vectors, wanted);
#pragma omp parallel if (chunks.count() > 1)
  {
    const int rows = chunks.chunk * pass.vectors;
    Workspace<T> work(pass, rows);
    for (int i = 0; i < rows; ++i) work.row_of.push_back(i);
#pragma omp for schedule(dynamic, 1)
    for (int i = 0; i < chunks.count(); ++i) stage(pass, chunks[i], work);
  }
}

template <class T>
auto with_sources(const Pass<T>& pass) {
  return [&](std::int32_t box) { return pass.data.tree.boxes[box].sources.size() > 0; };
}
template <class T>
auto with_targets(const Pass<T>& pass) {
  return [&](std::int32_t box) { return pass.data.tree.boxes[box].targets.size() > 0; };
}

}  // namespace

template <class T>
void m2m(const Pass<T>& pass) {
  for (int level = pass.data.tree.levels() - 2; level >= 2; --level)
    for_chunks(pass, level, with_sources(pass), m2m_chunk<T>);
}

template <class T>
void m2l(const Pass<T>& pass) {
  for (int level = 1; level + 1 < pass.data.tree.levels(); ++level)
    for_chunks(pass, level, with_targets(pass), m2l_chunk<T>);
}

template <class T>
void l2l(const Pass<T>& pass) {
  for (int level = 2; level + 1 < pass.data.tree.levels(); ++level)
    for_chunks(pass, level, with_targets(pass), l2l_chunk<T>);
}

#define FMBEM_INSTANTIATE(T)         \
  template void m2m(const Pass<T>&); \
  template void m2l(const Pass<T>&); \
  template void l2l(const Pass<T>&);
FMBEM_INSTANTIATE(double)
FMBEM_INSTANTIATE(float)
#undef FMBEM_INSTANTIATE

}  // namespace fmbem::fmm
