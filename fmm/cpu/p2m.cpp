// P2M: moments of leaves from points.
#include <algorithm>
#include <vector>

#include "fmbem/fmm/cpu/pass.hpp"
#include "fmbem/fmm/cpu/unit_box.hpp"

namespace fmbem::fmm {
namespace {

/// Points whose moments are added up in T before they go to a sum in double precision.
constexpr int points_of_a_sum = 1024;

/// A thread's buffers for P2M.
template <class T>
struct MomentSums {
  UnitPoints<T> points;
  std::vector<T> weights, moments;
  std::vector<double> sums;  ///< [vectors][channels][slots]
};

template <class T>
void p2m_leaf(const Pass<T>& pass, std::int32_t leaf, MomentSums<T>& work) {
  const Box& box = pass.tree.octree.boxes[leaf];
  const HarmonicTable<T>& table = pass.table;
  const std::int64_t n_from = static_cast<std::int64_t>(pass.from_points().size());
  const int slots = table.slots(), channels = pass.has_dipoles() ? 4 : 1;
  const std::size_t all_slots = static_cast<std::size_t>(channels) * slots;
  const T to_unit = static_cast<T>(1 / pass.tree.octree.side(box.level));
  const double kappa = pass.kappa_of(box.level);
  UnitPoints<T>& points = work.points;
  std::vector<T>&weights = work.weights, &moments = work.moments;
  std::vector<double>& sums = work.sums;
  sums.assign(all_slots * pass.vectors, 0.0);
  for (Range range = box.*pass.from; range.size() > 0; range.begin += points_of_a_sum) {
    const int n = std::min(range.size(), points_of_a_sum);
    points.fill(pass.tree.octree, pass.from_points(), box, {range.begin, range.begin + n});
    for (int v = 0; v < pass.vectors; ++v) {
      weights.assign(static_cast<std::size_t>(channels) * points.padded, T(0));
      moments.assign(all_slots, T(0));
      const std::int64_t first = v * n_from + range.begin;
      for (int i = 0; i < n && !pass.charges.empty(); ++i) weights[i] = pass.charges[first + i];
      for (int axis = 0; axis + 1 < channels; ++axis)
        for (int i = 0; i < n; ++i)
          weights[(axis + 1) * points.padded + i] = pass.dipoles[axis][first + i] * to_unit;
      with_kernel(kappa, [&](auto kernel) {
        pair_kernels<T, decltype(kernel)>().p2m(kernel, steps_of(table), channels, points.padded,
                                                points.x.data(), points.y.data(), points.z.data(),
                                                weights.data(), moments.data());
      });
      for (std::size_t slot = 0; slot < all_slots; ++slot)
        sums[v * all_slots + slot] += moments[slot];
    }
  }
  for (int v = 0; v < pass.vectors; ++v) {
    moments_from_slots(table, kappa, channels, sums.data() + v * all_slots,
                       pass.moment(leaf) + v * pass.order.count);
  }
}

}  // namespace

template <class T>
void p2m(const Pass<T>& pass, const std::vector<std::int32_t>& leaves) {
#pragma omp parallel
  {
    MomentSums<T> work;
#pragma omp for schedule(dynamic, 16)
    for (std::size_t i = 0; i < leaves.size(); ++i)
      // Where boxes are far larger than 1/κ their moments are out of range, and of no use.
      if (pass.kappa == 0 || pass.tree.octree.boxes[leaves[i]].level >= pass.top_level)
        p2m_leaf(pass, leaves[i], work);
  }
}

template void p2m(const Pass<double>&, const std::vector<std::int32_t>&);
template void p2m(const Pass<float>&, const std::vector<std::int32_t>&);

}  // namespace fmbem::fmm
