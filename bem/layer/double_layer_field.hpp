#pragma once

#include <span>

#include "fmbem/bem/layer/field.hpp"

namespace fmbem {

/// The tightest tolerance of fields of dipoles but 0, exact sums.
inline constexpr double tightest_of_dipoles = 1e-9;

/// Potential φ = K μ and field E = −∇φ of constant dipole densities μ along the normals of panels,
/// [n panels] in the order of Panels, at any points: by closed forms near, by the FMM far away
/// where there are many points and panels. φ is in [μ] and E in [μ]/length. φ jumps by μ across a
/// panel, the mean being halfway, and by the mean μ of those that meet at edges and vertices which
/// panels close about; E goes on. As the potential is that of currents μ round the
/// panels [Biot and Savart], E is as 1/distance close to an edge whose panels differ in μ: it is
/// of use from a panel's size on. On an edge it is NaN. Panels with images include them. Errors as
/// evaluate_field(), to tightest_of_dipoles. O(n_points + n_panels). With κ > 0 the kernel is
/// Yukawa's. Throws InputError for sizes that differ, points that are not finite, a tolerance out
/// of range and panels in a mirror plane, whose dipoles cancel.
Field evaluate_double_layer(const Panels& panels, std::span<const double> mu,
                            std::span<const Vec3d> points, const FieldOptions& options = {});

}  // namespace fmbem
