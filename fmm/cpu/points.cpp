// P2M and L2P: between points and the expansions of leaves.
#include <algorithm>
#include <cmath>

#include "fmbem/fmm/cpu/pass.hpp"
#include "fmbem/fmm/expansion/harmonics.hpp"

namespace fmbem::fmm {
namespace {

/// Coordinates of a leaf's points in its unit box, padded with its centre to whole registers.
template <class T>
struct UnitPoints {
  std::vector<T> x, y, z;
  int padded = 0;

  void fill(const Pass<T>& pass, const SortedPoints& points, const Box& box, Range range) {
    const Vec3d corner = pass.data.tree.root.corner;
    const Vec3d centre = pass.data.tree.centre_from_corner(box);
    const double scale = 1 / pass.data.tree.side(box.level);
    const int n = range.size();
    padded = whole_registers(pass.kernels, n);
    for (auto* axis : {&x, &y, &z}) axis->assign(padded, T(0));
    for (int i = 0; i < n; ++i) {
      x[i] = static_cast<T>((points.x[range.begin + i] - corner.x - centre.x) * scale);
      y[i] = static_cast<T>((points.y[range.begin + i] - corner.y - centre.y) * scale);
      z[i] = static_cast<T>((points.z[range.begin + i] - corner.z - centre.z) * scale);
    }
  }
};

/// Points whose moments are added up before they go to a sum in double precision.
constexpr int points_of_a_sum = 1024;

/// Room of a thread for P2M.
template <class T>
struct MomentSums {
  UnitPoints<T> points;
  std::vector<T> weights, moments;
  std::vector<double> sums;  ///< [vectors][channels][slots]
};

template <class T>
void p2m_leaf(const Pass<T>& pass, std::int32_t leaf, MomentSums<T>& work) {
  const Box& box = pass.data.tree.boxes[leaf];
  const HarmonicTable<T>& table = pass.table;
  const std::int64_t n_sources = static_cast<std::int64_t>(pass.data.sources.size());
  const int slots = table.slots(), channels = pass.has_dipoles() ? 4 : 1;
  const std::size_t all_slots = static_cast<std::size_t>(channels) * slots;
  const T to_unit = static_cast<T>(1 / pass.data.tree.side(box.level));
  auto& [points, weights, moments, sums] = work;
  sums.assign(all_slots * pass.vectors, 0.0);
  for (Range range = box.sources; range.size() > 0; range.begin += points_of_a_sum) {
    const int n = std::min(range.size(), points_of_a_sum);
    points.fill(pass, pass.data.sources, box, {range.begin, range.begin + n});
    for (int v = 0; v < pass.vectors; ++v) {
      weights.assign(static_cast<std::size_t>(channels) * points.padded, T(0));
      moments.assign(all_slots, T(0));
      const std::int64_t first = v * n_sources + range.begin;
      for (int i = 0; i < n && !pass.charges.empty(); ++i) weights[i] = pass.charges[first + i];
      for (int axis = 0; axis + 1 < channels; ++axis)
        for (int i = 0; i < n; ++i)
          weights[(axis + 1) * points.padded + i] = pass.dipoles[axis][first + i] * to_unit;
      pair_kernels<T, Laplace>().p2m(Laplace(), steps_of(table), channels, points.padded,
                                     points.x.data(), points.y.data(), points.z.data(),
                                     weights.data(), moments.data());
      for (std::size_t slot = 0; slot < all_slots; ++slot)
        sums[v * all_slots + slot] += moments[slot];
    }
  }
  for (int v = 0; v < pass.vectors; ++v) {
    const double* const sum = sums.data() + v * all_slots;
    T* moment = pass.moment(leaf) + v * pass.data.order.count;
    for (int slot = 0; slot < slots; ++slot)
      if (table.position[slot] >= 0) moment[table.position[slot]] = static_cast<T>(sum[slot]);
    for (int axis = 0; axis + 1 < channels; ++axis)
      for (const Derivative& d : table.derivatives[axis])
        moment[d.from] += static_cast<T>(d.value * sum[(axis + 1) * slots + d.to]);
  }
}

template <class T>
void l2p_leaf(Pass<T>& pass, std::int32_t leaf, UnitPoints<T>& points, std::vector<T>& locals,
              std::vector<T>& values) {
  const Box& box = pass.data.tree.boxes[leaf];
  const Range range = box.targets;
  const HarmonicTable<T>& table = pass.table;
  const std::int64_t n_targets = static_cast<std::int64_t>(pass.data.targets().size());
  const bool potential = !pass.potential.empty(), gradient = !pass.gradient[0].empty();
  const int slots = table.slots(), channels = potential + 3 * gradient;
  const double from_unit = 1 / pass.data.tree.side(box.level);
  points.fill(pass, pass.data.targets(), box, range);
  values.resize(static_cast<std::size_t>(channels) * points.padded);
  for (int v = 0; v < pass.vectors; ++v) {
    const T* local = pass.local(leaf) + v * pass.data.order.count;
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
void p2m(const Pass<T>& pass) {
  const auto& leaves = pass.data.source_boxes;
#pragma omp parallel
  {
    MomentSums<T> work;
#pragma omp for schedule(dynamic, 16)
    for (std::size_t i = 0; i < leaves.size(); ++i) p2m_leaf(pass, leaves[i], work);
  }
}

template <class T>
void l2p(Pass<T>& pass) {
  const auto& leaves = pass.data.near.targets;
#pragma omp parallel
  {
    UnitPoints<T> points;
    std::vector<T> locals, values;
#pragma omp for schedule(dynamic, 16)
    for (std::size_t i = 0; i < leaves.size(); ++i)
      if (pass.data.tree.boxes[leaves[i]].level >= 2)
        l2p_leaf(pass, leaves[i], points, locals, values);
  }
}

#define FMBEM_INSTANTIATE(T)         \
  template void p2m(const Pass<T>&); \
  template void l2p(Pass<T>&);
FMBEM_INSTANTIATE(double)
FMBEM_INSTANTIATE(float)
#undef FMBEM_INSTANTIATE

}  // namespace fmbem::fmm
