#pragma once

#include <vector>

#include "fmbem/fmm/base/vec3.hpp"
#include "fmbem/fmm/cpu/kernels.hpp"

namespace fmbem::test {

/// Targets of M2P's kernels, and what these add to their potentials and gradients.
template <class T>
struct M2pSums {
  std::vector<T> place[3];
  std::vector<T> sums[4];

  explicit M2pSums(const std::vector<Vec3d>& points) {
    for (const Vec3d x : points)
      for (int axis = 0; axis < 3; ++axis) place[axis].push_back(static_cast<T>(x[axis]));
  }

  /// All sums begin at that number.
  fmm::M2pTargets<T> targets(T first, bool gradient) {
    for (auto& sum : sums) sum.assign(place[0].size(), first);
    const auto out = [&](int k) { return gradient ? sums[k].data() : nullptr; };
    return {static_cast<int>(place[0].size()),
            place[0].data(),
            place[1].data(),
            place[2].data(),
            sums[0].data(),
            {out(1), out(2), out(3)}};
  }
};

}  // namespace fmbem::test
