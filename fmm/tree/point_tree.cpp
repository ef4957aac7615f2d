#include "fmbem/fmm/tree/point_tree.hpp"

#include <cmath>

#include "fmbem/fmm/base/error.hpp"

namespace fmbem::fmm {

double scale_for(const Cube& hull) {
  FMBEM_REQUIRE(std::isfinite(hull.side) && std::isfinite(norm(hull.corner)),
                "the points are too far apart for double precision: use another unit of length");
  const double scale = std::ldexp(1.0, -std::ilogb(hull.side));
  FMBEM_REQUIRE(std::isfinite(scale),
                "the points are too close together for double precision: use another unit of "
                "length");
  return scale;
}

}  // namespace fmbem::fmm
