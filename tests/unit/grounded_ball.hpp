#pragma once

// A conducting ball at potential 1 before grounded or mirroring planes through the origin.
#include <array>
#include <vector>

#include "fmbem/fmm/base/vec3.hpp"

namespace fmbem::test {

enum class Plane { none, ground, mirror };

/// φ outside is Poisson's integral of its values on the ball, those of the ball alone, and of its
/// images: (1/4πa)∫(|x − c|² − a²)/|x − y|³ g(y) dS [Kellogg 1929, IX.4]. Its values are 1 less
/// what the images bring, found by reflections one after the other; the integral, by Gauss's rule
/// in cos θ and the trapezoidal rule, converges geometrically where nothing is near.
class GroundedBall {
 public:
  /// `planes` at x = 0, y = 0, z = 0, on the positive sides of which the ball is, with its images
  /// half a radius away at least.
  GroundedBall(double radius, Vec3d centre, std::array<Plane, 3> planes);
  /// In natural units, Q/V.
  double capacitance() const;
  double potential(Vec3d x) const;

 private:
  struct Image {
    Vec3d flips;  ///< 1 or −1 along each axis
    double sign;
  };
  double of_images(Vec3d x) const;
  double of_ball_alone(Vec3d x) const;

  double radius_;
  Vec3d centre_;
  std::vector<Image> images_;  ///< with the ball itself
  std::vector<Vec3d> place_;   ///< on the ball
  std::vector<double> weight_;
  std::vector<double> value_;  ///< g
};

}  // namespace fmbem::test
