#include "fmbem/fmm/lists/reach.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace fmbem::fmm {

double gap_between(const Octree& tree, const Box& a, const Box& b) {
  const int finer = std::max(a.level, b.level);
  double squares = 0;  // of the gap along each axis, a whole number of sides of the finer box
  for (int axis = 0; axis < 3; ++axis) {
    const auto low = [&](const Box& box, int more) {
      return (box.cell[axis] + more) << (finer - box.level);
    };
    const auto gap = static_cast<double>(
        std::max({std::int64_t{0}, low(a, 0) - low(b, 1), low(b, 0) - low(a, 1)}));
    squares += gap * gap;
  }
  return std::sqrt(squares) * tree.side(finer);
}

}  // namespace fmbem::fmm
