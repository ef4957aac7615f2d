#include "fmbem/bem/geometry/symmetry.hpp"

#include <cmath>

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {

const char* name(PlaneKind kind) { return kind == PlaneKind::ground ? "ground" : "mirror"; }

std::vector<int> SymmetryPlanes::axes() const {
  std::vector<int> result;
  for (int axis = 0; axis < 3; ++axis)
    if (at[axis]) result.push_back(axis);
  return result;
}

std::vector<Reflection> SymmetryPlanes::reflections() const {
  std::vector<Reflection> result(1);
  for (const int axis : axes()) {
    const SymmetryPlane& plane = *at[axis];
    FMBEM_REQUIRE(std::isfinite(plane.offset), "the " << name(plane.kind) << " plane "
                                                      << "xyz"[axis] << " is at " << plane.offset
                                                      << ": give it a finite place");
    const std::size_t before = result.size();
    for (std::size_t m = 0; m < before; ++m) {
      Reflection next = result[m];
      next.across[axis] = true;
      next.offset[axis] = plane.offset;
      if (plane.kind == PlaneKind::ground) next.sign = -next.sign;
      result.push_back(next);
    }
  }
  return result;
}

}  // namespace fmbem
