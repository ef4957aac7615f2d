// L2L, level by level.
#include "fmbem/fmm/cpu/block_rows.hpp"

namespace fmbem::fmm {
namespace {

template <class T>
void l2l_chunk(const Pass<T>& pass, const std::vector<std::int32_t>& parents, Workspace<T>& work) {
  const ParityOrder& order = pass.order;
  const CpuOperators<T>& operators =
      pass.operators.of_parents(pass.tree.octree.boxes[parents[0]].level);
  const int rows = static_cast<int>(parents.size()) * pass.vectors;
  work.out.clear();
  for (int i = 0; i < rows; ++i)
    std::copy_n(pass.local(parents[i / pass.vectors]) + i % pass.vectors * order.count, order.count,
                work.in.row(0, i));
  for (int e = 0; e < 8; ++e)
    pass.kernels.multiply(rows, order.count, order.begin[e + 1] - order.begin[e],
                          work.in.row(0, 0) + order.begin[e], work.in.stride,
                          operators.downward[e].data(), work.out.row(e, 0), work.out.stride,
                          work.row_of.data());
  scatter(pass, order, parents, work);
}

}  // namespace

template <class T>
void l2l(const Pass<T>& pass) {
  for (int level = pass.top_level; level + 1 < pass.tree.octree.levels(); ++level)
    for_chunks(pass, parents_of(pass, level, pass.to), l2l_chunk<T>);
}

template void l2l(const Pass<double>&);
template void l2l(const Pass<float>&);

}  // namespace fmbem::fmm
