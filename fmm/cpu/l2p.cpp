// L2P: the far field at points, from the local expansions of their leaves.
#include <vector>

#include "fmbem/fmm/cpu/pass.hpp"
#include "fmbem/fmm/cpu/unit_box.hpp"

namespace fmbem::fmm {
namespace {

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
  const double kappa = pass.kappa_of(box.level);
  points.fill(pass.tree.octree, pass.tree.targets(), box, range);
  values.resize(static_cast<std::size_t>(channels) * points.padded);
  for (int v = 0; v < pass.vectors; ++v) {
    const T* local = pass.local(leaf) + v * pass.order.count;
    locals.assign(static_cast<std::size_t>(channels) * slots, T(0));
    if (potential)
      for (int slot = 0; slot < slots; ++slot)
        if (table.position[slot] >= 0) locals[slot] = local[table.position[slot]];
    for (int axis = 0; axis < 3 * gradient; ++axis)
      table.for_derivative(axis, kappa, [&](int from, int to, double value) {
        locals[(axis + potential) * slots + to] += static_cast<T>(value) * local[from];
      });
    with_kernel(kappa, [&](auto kernel) {
      pair_kernels<T, decltype(kernel)>().l2p(kernel, steps_of(table), channels, points.padded,
                                              points.x.data(), points.y.data(), points.z.data(),
                                              locals.data(), values.data());
    });
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
      if (pass.tree.octree.boxes[leaves[i]].level >= pass.top_level)
        l2p_leaf(pass, leaves[i], points, locals, values);
  }
}

template void l2p(Pass<double>&);
template void l2p(Pass<float>&);

}  // namespace fmbem::fmm
