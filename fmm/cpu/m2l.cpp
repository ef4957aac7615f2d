// M2L, of all levels at once where they have the same operators.
#include "fmbem/fmm/cpu/block_rows.hpp"

namespace fmbem::fmm {
namespace {

template <class T>
void clear_children(const Pass<T>& pass, const std::vector<std::int32_t>& parents) {
  for (const std::int32_t parent : parents)
    for (const std::int32_t child : pass.tree.octree.boxes[parent].child)
      if (child >= 0) std::fill_n(pass.local(child), pass.vectors * pass.order.count, T(0));
}

/// The work of one group of orbits.
template <class T>
void m2l_group(const Pass<T>& pass, const M2lGroup<T>& group,
               const std::vector<std::int32_t>& parents, Workspace<T>& work,
               std::vector<std::int32_t>& rows) {
  static const auto mirror_images = orbit_places();
  const std::vector<std::uint32_t>& places = pass.tree.lists.hybrid.m2l_places;
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
        const OrbitPlace place = mirror_images[group.orbits[k]][g];
        const bool acts_so = places.empty() || (places[parents[b]] >> place.colleague & 1) != 0;
        const std::int32_t uncle =
            acts_so ? pass.tree.octree.colleagues[parents[b]][place.colleague] : -1;
        const std::int32_t box = uncle < 0 ? -1 : pass.tree.octree.boxes[uncle].child[place.octant];
        mirrored[g] = acts(pass, box) ? box : -1;
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
  const int level = pass.tree.octree.boxes[parents[0]].level;
  for (const M2lGroup<T>& group : pass.operators.of_children(level).m2l)
    m2l_group(pass, group, parents, work, rows);
}

}  // namespace

template <class T>
void m2l(const Pass<T>& pass) {
  // Level by level, the first levels would have few rows for operators that are large.
  std::vector<std::int32_t> boxes;
  const int last = pass.tree.octree.levels() - 2;
  for (int level = pass.top_level - 1; level <= last; ++level) {
    add_parents(pass, level, pass.to, boxes);
    if (pass.operators.serves_all_levels() && level < last) continue;
    for_chunks(pass, std::move(boxes), m2l_chunk<T>);
    boxes.clear();
  }
}

template void m2l(const Pass<double>&);
template void m2l(const Pass<float>&);

}  // namespace fmbem::fmm
