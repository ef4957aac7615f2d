#pragma once

#include <vector>

#include "fmbem/bem/geometry/triangle.hpp"
#include "fmbem/bem/layer/field.hpp"
#include "fmbem/fmm/base/symmetric3.hpp"

namespace fmbem {

/// The field at a point on edges of panels, to within a tolerance of rounding.
///
/// The point sees an edge in one ray or, in the edge's interior, in two. Of a panel of density σ
/// and a ray of length l with the outward normal m (in the panel's plane), E has
///
///     σ m/(4π) (ln(2 l) − ln(ρ (1 − cos θ))),
///
/// ρ being the distance to the point and θ the angle to the ray. So E is finite where, for each
/// direction of rays, Σ σ m over all panels with an edge there is 0 (to the rounding of m, ε times
/// size over height of the panel): for two panels where these are coplanar neighbours of equal σ.
/// Then its second term cancels in all directions, and the infinite ones of E's derivatives, which
/// have the same factors. Of the solid angle the mean over all directions is 0: a panel's own is
/// odd in the height above its plane.
class EdgePoint {
 public:
  void clear() { rays_.clear(); }
  bool is_empty() const { return rays_.empty(); }
  /// ∇ of the potential of a panel of density σ that has x on its boundary, without what is
  /// infinite; on a side of the surface, with the panel's part of the angle there of ∓½σn; and,
  /// unless null, what is added to its second derivatives.
  Vec3d add(const Triangle& t, double sigma, Vec3d x, double tolerance, Side side,
            Symmetric3d* hessian);
  /// Whether what has been left out of all panels cancels.
  bool is_finite() const;

 private:
  struct Ray {
    Vec3d direction;
    double angle;        ///< to which the direction is known
    Vec3d coefficient;   ///< σ m
    double uncertainty;  ///< of the coefficient
  };
  std::vector<Ray> rays_;
};

}  // namespace fmbem
