#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/fmm/base/processor.hpp"
#include "fmbem/fmm/base/symmetric3.hpp"

namespace fmbem {

/// From which side a point on the surface is seen.
enum class Side {
  mean,      ///< mean of both limits
  positive,  ///< the side that the normal points to: outside of a closed body
  negative,
};

struct FieldOptions {
  Side side = Side::mean;
  /// Root mean square error of φ, of E and of its gradient over the points, relative to the root
  /// mean square of the sums of absolute values, 1e-10 to 0.1; 0 for exact integrals of all panels
  /// at all points.
  double tolerance = 1e-8;
  bool gradient_of_e = false;  ///< is wanted, too: two to three times the work
  /// Of Yukawa's kernel, 1/length; 0 is Laplace's. Without gradient_of_e. The tolerance is then
  /// relative to potentials near the panels: what e^{−κr} makes smaller than that times it has no
  /// digits.
  double kappa = 0;
  /// The processor. By default that which a solution was found on, and the CPU for fields of
  /// densities. The GPU has fields to a tolerance, of all panels; what is small, and all else, is
  /// done on the CPU.
  std::optional<Processor> processor{};
};

struct Field {
  std::vector<double> potential;  ///< [n_points], φ = ∫ G σ
  std::vector<Vec3d> e;           ///< [n_points], E = −∇φ
  /// [n_points] where asked for: ∂E_i/∂x_j = −∂_i ∂_j φ, symmetric and without trace.
  std::vector<Symmetric3d> gradient_of_e;
  /// Points on a panel's edge where E is infinite: NaN here, and so is its gradient.
  std::size_t singular_points = 0;

  void count_singular();  ///< anew, from e
};

/// Potential and field of a constant density per panel at any points, also on and near the surface:
/// by exact integrals near by, and by the FMM far away where there are many points and panels. σ is
/// [n panels] in the order of Panels. Lengths are the mesh's, so φ is in [σ]·length and E in [σ]. φ
/// is continuous; E jumps by σn across a panel, and its gradient, in [σ]/length, goes on. On edges
/// and vertices E is infinite, except for those where the coefficients of its logarithm cancel in
/// the sum over all panels that share them, as of coplanar neighbours of equal density (EdgePoint):
/// there it is the mean over all directions, or that of the side. Where panels are `chosen`, only
/// these act. With κ > 0 G is exp(−κr)/(4πr), and E jumps and is infinite as κ = 0 has it. Panels
/// before symmetry planes act with their images. O(n_points + n_panels). Throws InputError for
/// sizes that differ, points that are not finite, and a tolerance or κ out of range.
Field evaluate_field(const Panels& panels, std::span<const double> sigma,
                     std::span<const Vec3d> points, const FieldOptions& options = {},
                     std::span<const std::int32_t> chosen = {});

}  // namespace fmbem
