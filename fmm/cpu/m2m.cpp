// M2M, level by level.
#include "fmbem/fmm/cpu/block_rows.hpp"

namespace fmbem::fmm {
namespace {

template <class T>
void m2m_chunk(const Pass<T>& pass, const std::vector<std::int32_t>& parents, Workspace<T>& work) {
  const ParityOrder& order = pass.order;
  const CpuOperators<T>& operators =
      pass.operators.of_parents(pass.tree.octree.boxes[parents[0]].level);
  const int rows = static_cast<int>(parents.size()) * pass.vectors;
  for (std::size_t b = 0; b < parents.size(); ++b) {
    std::array<std::int32_t, 8> children;
    for (int g = 0; g < 8; ++g) {
      const std::int32_t child = pass.tree.octree.boxes[parents[b]].child[7 ^ g];
      children[g] = acts(pass, child) ? child : -1;
    }
    for (int v = 0; v < pass.vectors; ++v)
      gather(pass, order, children, v, static_cast<int>(b) * pass.vectors + v, work);
  }
  work.out.clear();
  for (int e = 0; e < 8; ++e) {
    const int first = order.begin[e], count = order.begin[e + 1] - first;
    pass.kernels.multiply(rows, count, order.count, work.in.row(e, 0), work.in.stride,
                          operators.upward[e].data(), work.out.row(e, 0), work.out.stride,
                          work.row_of.data());
    for (int i = 0; i < rows; ++i) {
      const std::int32_t parent = parents[i / pass.vectors];
      const double* of_children = work.out.row(e, i);
      T* moment = pass.moment(parent) + i % pass.vectors * order.count + first;
      if (pass.is_transposed() || pass.tree.octree.boxes[parent].held == 0)
        std::copy_n(of_children, count, moment);
      else  // to what P2M has written
        for (int k = 0; k < count; ++k) moment[k] += static_cast<T>(of_children[k]);
    }
  }
}

}  // namespace

template <class T>
void m2m(const Pass<T>& pass) {
  for (int level = pass.tree.octree.levels() - 2; level >= pass.top_level; --level)
    for_chunks(pass, parents_of(pass, level, pass.from), m2m_chunk<T>);
}

template void m2m(const Pass<double>&);
template void m2m(const Pass<float>&);

}  // namespace fmbem::fmm
