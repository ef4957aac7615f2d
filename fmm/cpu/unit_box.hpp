#pragma once

#include <array>
#include <vector>

#include "fmbem/fmm/cpu/kernels.hpp"
#include "fmbem/fmm/expansion/harmonic_table.hpp"
#include "fmbem/fmm/functionals.hpp"
#include "fmbem/fmm/tree/point_tree.hpp"

namespace fmbem::fmm {

/// Coordinates of a leaf's points in its unit box, padded with its centre to whole registers.
template <class T>
struct UnitPoints {
  std::vector<T> x, y, z;
  int padded = 0;

  void fill(const Octree& tree, const SortedPoints& points, const Box& box, Range range) {
    const BoxCentre from_centre(tree, box);
    const double scale = 1 / tree.side(box.level);
    const int n = range.size();
    padded = whole_registers(cpu_kernels<T>(), n);
    for (auto* axis : {&x, &y, &z}) axis->assign(padded, T(0));
    for (int i = 0; i < n; ++i) {
      x[i] = static_cast<T>(from_centre(0, points.x[range.begin + i]) * scale);
      y[i] = static_cast<T>(from_centre(1, points.y[range.begin + i]) * scale);
      z[i] = static_cast<T>(from_centre(2, points.z[range.begin + i]) * scale);
    }
  }
};

/// The points of a functional, likewise, with their weights [1 or 4][padded]: charges, then the
/// components of dipoles in lengths of the unit box.
template <class T>
struct UnitWeightedPoints {
  std::vector<T> x, y, z, weights;
  int padded = 0, channels = 1;

  void fill(const WeightedPoints& points, const PointTree& tree, const Box& box) {
    const BoxCentre from_centre(tree.octree, box);
    const double scale = 1 / tree.octree.side(box.level), length = tree.scale;
    const std::size_t n = points.weight.size();
    padded = whole_registers(cpu_kernels<T>(), static_cast<int>(n));
    channels = points.dipole[0].empty() ? 1 : 4;
    for (auto* column : {&x, &y, &z}) column->assign(padded, T(0));
    weights.assign(static_cast<std::size_t>(channels) * padded, T(0));
    for (std::size_t i = 0; i < n; ++i) {
      x[i] = static_cast<T>(from_centre(0, length * points.x[i]) * scale);
      y[i] = static_cast<T>(from_centre(1, length * points.y[i]) * scale);
      z[i] = static_cast<T>(from_centre(2, length * points.z[i]) * scale);
      weights[i] = static_cast<T>(points.weight[i] * (length * length));
      for (int axis = 0; axis + 1 < channels; ++axis)
        weights[(axis + 1) * padded + i] =
            static_cast<T>(points.dipole[axis][i] * (length * length * length) * scale);
    }
  }
};

/// Moments [K] in parity order, from the slots [channels][slots] that P2M's kernel writes; κ in the
/// unit of the box.
template <class T, class Sum>
void moments_from_slots(const HarmonicTable<T>& table, double kappa, int channels, const Sum* slots,
                        T* moment) {
  for (int slot = 0; slot < table.slots(); ++slot)
    if (table.position[slot] >= 0) moment[table.position[slot]] = static_cast<T>(slots[slot]);
  for (int axis = 0; axis + 1 < channels; ++axis)
    table.for_derivative(axis, kappa, [&](int from, int to, double value) {
      moment[from] += static_cast<T>(value * slots[(axis + 1) * table.slots() + to]);
    });
}

}  // namespace fmbem::fmm
