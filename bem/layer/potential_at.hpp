#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/fmm/base/processor.hpp"

namespace fmbem {

/// What panels carry: charges σ and dipoles μ along their normals, [n panels].
struct SurfaceDensities {
  std::span<const double> sigma, mu;
};

/// V σ + K μ of exp(−κr)/(4πr) at points, from some panels, to a relative error between 1e-12 and
/// 0.1; with κ > 0 relative to potentials near the panels, so that what e^{−κr} makes smaller than
/// that has no digits, or is 0. Points are as panels were before they were recentred; on a panel K
/// is the principal value. Pair by pair where pairs are few, on the CPU, else by the FMM:
/// O(points + panels). Throws InputError if κ is negative, the tolerance out of range, a point not
/// finite, panels have images or there are not as many σ and μ as panels.
std::vector<double> potential_at(const Panels& panels, std::span<const std::int32_t> some,
                                 const SurfaceDensities& densities, std::span<const Vec3d> points,
                                 double tolerance, double kappa = 0,
                                 Processor processor = Processor::cpu);

}  // namespace fmbem
