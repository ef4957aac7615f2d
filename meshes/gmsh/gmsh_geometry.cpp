#include "fmbem/meshes/gmsh/gmsh_geometry.hpp"

#include <algorithm>
#include <cmath>

#include <gmsh.h>

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {

std::vector<double> GmshGeometry::on_surface(int surface, const std::vector<double>& uv) {
  std::vector<double> x;
  gmsh_.run("cannot refine " + file_, [&] { gmsh::model::getValue(2, surface, uv, x); });
  return x;
}

std::vector<double> GmshGeometry::derivatives(int surface, const std::vector<double>& uv) {
  std::vector<double> d;
  gmsh_.run("cannot refine " + file_, [&] { gmsh::model::getDerivative(2, surface, uv, d); });
  return d;
}

std::vector<double> GmshGeometry::on_curve(int curve, const std::vector<double>& t) {
  std::vector<double> x;
  gmsh_.run("cannot refine " + file_, [&] { gmsh::model::getValue(1, curve, t, x); });
  return x;
}

std::vector<double> GmshGeometry::nearest(int dim, int tag, std::vector<double>& x) {
  std::vector<double> found, parameters;
  gmsh_.run("cannot refine " + file_,
            [&] { gmsh::model::getClosestPoint(dim, tag, x, found, parameters); });
  x = std::move(found);
  return parameters;
}

std::vector<double> GmshGeometry::to_surface(int surface, std::vector<double>& x) {
  return nearest(2, surface, x);
}

std::vector<double> GmshGeometry::to_curve(int curve, std::vector<double>& x) {
  return nearest(1, curve, x);
}

std::vector<double> GmshGeometry::curve_on_surface(int curve, const std::vector<double>& t,
                                                   int surface, int end) {
  std::vector<double> uv;
  try {
    gmsh_.run("cannot refine " + file_,
              [&] { gmsh::model::reparametrizeOnSurface(1, curve, t, surface, uv, end); });
  } catch (const InputError&) {
    return {};  // whoever asks has other ways
  }
  if (uv.size() != 2 * t.size()) uv.clear();
  return uv;
}

GmshGeometry::Bounds GmshGeometry::bounds(int dim, int tag) {
  Bounds b;
  gmsh_.run("cannot refine " + file_,
            [&] { gmsh::model::getParametrizationBounds(dim, tag, b.least, b.largest); });
  return b;
}

const GmshGeometry::Kind& GmshGeometry::kind(int surface) {
  const auto known = kinds_.find(surface);
  if (known != kinds_.end()) return known->second;
  std::string type;
  gmsh_.run("cannot refine " + file_, [&] { gmsh::model::getType(2, surface, type); });
  const bool flat = type == "Plane";
  return kinds_[surface] = {flat, flat ? SurfaceParameters{0, 0} : find_periods(surface)};
}

/// Where both ends of u, or of v, are the same curve.
SurfaceParameters GmshGeometry::find_periods(int surface) {
  const Bounds b = bounds(2, surface);
  if (b.least.size() < 2 || b.largest.size() < 2) return {0, 0};
  constexpr double within[] = {0.25, 0.5, 0.75};
  const auto extent = [&](int axis) { return b.largest[axis] - b.least[axis]; };
  SurfaceParameters periods{0, 0};
  for (const int axis : {0, 1}) {
    std::vector<double> uv;
    for (const double share : within) {
      const double other = b.least[1 - axis] + share * extent(1 - axis);
      for (const double mine : {b.least[axis], b.least[axis] + 0.5 * extent(axis), b.largest[axis]})
        uv.insert(uv.end(), {axis == 0 ? mine : other, axis == 0 ? other : mine});
    }
    const std::vector<double> x = on_surface(surface, uv);
    const auto apart = [&](std::size_t i, std::size_t j) {
      return std::hypot(x[3 * i] - x[3 * j], x[3 * i + 1] - x[3 * j + 1],
                        x[3 * i + 2] - x[3 * j + 2]);
    };
    bool closed = true;
    for (std::size_t k = 0; k < 9; k += 3)
      closed = closed && apart(k, k + 2) <= 1e-6 * apart(k, k + 1);
    if (closed) (axis == 0 ? periods.u : periods.v) = extent(axis);
  }
  return periods;
}

}  // namespace fmbem
