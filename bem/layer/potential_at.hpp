#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"

namespace fmbem {

/// V σ + K μ of Laplace's kernel at points, from some panels, pair by pair: each integral to that
/// relative error. σ and μ: [n panels]. Points are as panels were before they were recentred.
/// O(points × panels), some nanoseconds a pair.
std::vector<double> potential_at(const Panels& panels, std::span<const std::int32_t> some,
                                 std::span<const double> sigma, std::span<const double> mu,
                                 std::span<const Vec3d> points, double tolerance);

}  // namespace fmbem
