// L2P: the far field at points, from the local expansions of their leaves.
#include <algorithm>
#include <vector>

#include "fmbem/fmm/cpu/pass.hpp"
#include "fmbem/fmm/cpu/unit_box.hpp"

namespace fmbem::fmm {
namespace {

/// Second derivatives, entry by entry of Symmetric3: the local expansion derived along both axes.
template <class T>
void l2p_leaf_hessian(Pass<T>& pass, std::int32_t leaf, const UnitPoints<T>& points,
                      std::vector<T>& locals, std::vector<T>& values) {
  constexpr int axes[6][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}}, at_once = 3;
  const Box& box = pass.tree.octree.boxes[leaf];
  const HarmonicTable<T>& table = pass.table;
  const int slots = table.slots();
  const double from_unit = 1 / pass.tree.octree.side(box.level),
               scale = from_unit * from_unit * from_unit;
  std::vector<T> derived(pass.order.count);
  values.resize(static_cast<std::size_t>(at_once) * points.padded);
  for (int v = 0; v < pass.vectors; ++v) {
    const T* local = pass.local(leaf) + v * pass.order.count;
    const std::int64_t first =
        v * static_cast<std::int64_t>(pass.tree.targets().size()) + box.targets.begin;
    for (int entry = 0; entry < 6; entry += at_once) {
      locals.assign(static_cast<std::size_t>(at_once) * slots, T(0));
      for (int k = 0; k < at_once; ++k) {
        std::fill(derived.begin(), derived.end(), T(0));
        for (const Derivative& d : table.derivatives[axes[entry + k][0]])
          derived[table.position[d.to]] += static_cast<T>(d.value) * local[d.from];
        for (const Derivative& d : table.derivatives[axes[entry + k][1]])
          locals[k * slots + d.to] += static_cast<T>(d.value) * derived[d.from];
      }
      pair_kernels<T, Laplace>().l2p(Laplace(), steps_of(table), at_once, points.padded,
                                     points.x.data(), points.y.data(), points.z.data(),
                                     locals.data(), values.data());
      for (int k = 0; k < at_once; ++k)
        for (int i = 0; i < box.targets.size(); ++i)
          pass.hessian[entry + k][first + i] += scale * values[k * points.padded + i];
    }
  }
}

template <class T>
void l2p_leaf(Pass<T>& pass, std::int32_t leaf, UnitPoints<T>& points, std::vector<T>& locals,
              std::vector<T>& values) {
  const Box& box = pass.tree.octree.boxes[leaf];
  const Range range = box.targets;
  const HarmonicTable<T>& table = pass.table;
  const std::int64_t n_targets = static_cast<std::int64_t>(pass.tree.targets().size());
  const bool potential = !pass.potential.empty(), gradient = !pass.gradient[0].empty();
  const int slots = table.slots(), channels = potential + 3 * gradient;
  const double from_unit = 1 / pass.tree.octree.side(box.level);
  points.fill(pass.tree.octree, pass.tree.targets(), box, range);
  if (pass.wants_hessian()) l2p_leaf_hessian(pass, leaf, points, locals, values);
  if (channels == 0) return;
  values.resize(static_cast<std::size_t>(channels) * points.padded);
  for (int v = 0; v < pass.vectors; ++v) {
    const T* local = pass.local(leaf) + v * pass.order.count;
    locals.assign(static_cast<std::size_t>(channels) * slots, T(0));
    if (potential)
      for (int slot = 0; slot < slots; ++slot)
        if (table.position[slot] >= 0) locals[slot] = local[table.position[slot]];
    for (int axis = 0; axis < 3 * gradient; ++axis)
      for (const Derivative& d : table.derivatives[axis])
        locals[(axis + potential) * slots + d.to] += static_cast<T>(d.value) * local[d.from];
    pair_kernels<T, Laplace>().l2p(Laplace(), steps_of(table), channels, points.padded,
                                   points.x.data(), points.y.data(), points.z.data(), locals.data(),
                                   values.data());
    const std::int64_t first = v * n_targets + range.begin;
    for (int i = 0; i < range.size(); ++i) {
      if (potential) pass.potential[first + i] += from_unit * values[i];
      for (int axis = 0; axis < 3 * gradient; ++axis)
        pass.gradient[axis][first + i] +=
            from_unit * from_unit * values[(axis + potential) * points.padded + i];
    }
  }
}

}  // namespace

template <class T>
void l2p(Pass<T>& pass) {
  const auto& leaves = pass.tree.lists.p2p.targets;
#pragma omp parallel
  {
    UnitPoints<T> points;
    std::vector<T> locals, values;
#pragma omp for schedule(dynamic, 16)
    for (std::size_t i = 0; i < leaves.size(); ++i)
      if (pass.tree.octree.boxes[leaves[i]].level >= 2)
        l2p_leaf(pass, leaves[i], points, locals, values);
  }
}

template void l2p(Pass<double>&);
template void l2p(Pass<float>&);

}  // namespace fmbem::fmm
