// P2L: local expansions of boxes from charges outside of them. As irregular functions are regular
// ones at ξ = y/|y|², over |y| (Kelvin), this is P2M of charges q/|y| at inverted points.
#include <algorithm>
#include <cmath>
#include <vector>

#include "fmbem/fmm/cpu/hybrid.hpp"
#include "fmbem/fmm/cpu/unit_box.hpp"

namespace fmbem::fmm {
namespace {

/// Points that are taken at once.
constexpr int points_inverted = 256;

/// A thread's buffers.
template <class T>
struct InvertedPoints {
  std::array<std::vector<T>, 3> place;
  std::vector<T> inverse_distance, weights, slots;
  int padded = 0;

  /// Points as a box sees them from its centre, in its sides.
  void fill(const Pass<T>& pass, const BoxCentre& from_centre, double side, Range range) {
    const SortedPoints& points = pass.from_points();
    padded = whole_registers(pass.kernels, range.size());
    for (auto& axis : place) axis.assign(padded, T(1));  // any but 0, which is infinitely far
    inverse_distance.assign(padded, T(0));
    for (int i = 0; i < range.size(); ++i) {
      const std::int32_t k = range.begin + i;
      const Vec3d d = (1 / side) * Vec3d{from_centre(0, points.x[k]), from_centre(1, points.y[k]),
                                         from_centre(2, points.z[k])};
      const double inverse = 1 / norm2(d);
      for (int axis = 0; axis < 3; ++axis) place[axis][i] = static_cast<T>(inverse * d[axis]);
      inverse_distance[i] = static_cast<T>(std::sqrt(inverse));
    }
  }
};

template <class T>
void p2l_box(const Pass<T>& pass, std::int32_t target, InvertedPoints<T>& work) {
  const Octree& octree = pass.tree.octree;
  const Box& box = octree.boxes[target];
  const BoxCentre from_centre(octree, box);
  const std::int64_t n_from = static_cast<std::int64_t>(pass.from_points().size());
  for (const std::int32_t source : pass.tree.lists.hybrid.p2l[target])
    for (Range left = octree.boxes[source].sources; left.size() > 0;
         left.begin += points_inverted) {
      const Range range{left.begin, left.begin + std::min(left.size(), points_inverted)};
      work.fill(pass, from_centre, octree.side(box.level), range);
      for (int v = 0; v < pass.vectors; ++v) {
        work.weights.assign(work.padded, T(0));
        for (int i = 0; i < range.size(); ++i)
          work.weights[i] = pass.charges[v * n_from + range.begin + i] * work.inverse_distance[i];
        work.slots.assign(pass.table.slots(), T(0));
        with_kernel(pass.kappa_of(box.level), [&](auto kernel) {
          pair_kernels<T, decltype(kernel)>().p2l(
              kernel, steps_of(pass.table), work.padded, work.place[0].data(), work.place[1].data(),
              work.place[2].data(), work.weights.data(), work.slots.data());
        });
        T* const local = pass.local(target) + v * pass.order.count;
        for (int slot = 0; slot < pass.table.slots(); ++slot)
          if (pass.table.position[slot] >= 0) local[pass.table.position[slot]] += work.slots[slot];
      }
    }
}

}  // namespace

template <class T>
void p2l(const Pass<T>& pass) {
  const BoxRows& rows = pass.tree.lists.hybrid.p2l;
  if (rows.sources.empty() || pass.charges.empty()) return;
  const auto boxes = static_cast<std::int32_t>(pass.tree.octree.boxes.size());
#pragma omp parallel
  {
    InvertedPoints<T> work;
#pragma omp for schedule(dynamic, 16)
    for (std::int32_t b = 0; b < boxes; ++b)
      if (!rows[b].empty()) p2l_box(pass, b, work);
  }
}

template void p2l(const Pass<double>&);
template void p2l(const Pass<float>&);

}  // namespace fmbem::fmm
