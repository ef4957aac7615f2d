#include "tests/unit/grounded_ball.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/unit/closed_forms.hpp"
#include "tests/unit/larger_error.hpp"

namespace fmbem::test {
namespace {

Vec3d flipped(Vec3d x, Vec3d flips) { return {x.x * flips.x, x.y * flips.y, x.z * flips.z}; }

}  // namespace

GroundedBall::GroundedBall(double radius, Vec3d centre, std::array<Plane, 3> planes)
    : radius_(radius), centre_(centre), images_{{{1, 1, 1}, 1}} {
  for (int axis = 0; axis < 3; ++axis) {
    if (planes[axis] == Plane::none) continue;
    const std::size_t n = images_.size();
    for (std::size_t k = 0; k < n; ++k) {
      Image image = images_[k];
      image.flips[axis] = -1;
      if (planes[axis] == Plane::ground) image.sign = -image.sign;
      images_.push_back(image);
    }
  }
  constexpr int n = 18;
  for (const auto& [s, weight] : gauss_rule(n)) {
    for (int k = 0; k < 2 * n; ++k) {
      const double cosine = 2 * s - 1, ring = std::sqrt(1 - cosine * cosine),
                   angle = std::numbers::pi * (k + 0.5) / n;
      place_.push_back(centre +
                       radius * Vec3d{ring * std::cos(angle), ring * std::sin(angle), cosine});
      weight_.push_back(weight / (2 * n));
    }
  }
  value_.assign(place_.size(), 1.0);
  for (int reflection = 0; reflection < 200; ++reflection) {
    std::vector<double> next;
    double change = 0;
    for (std::size_t i = 0; i < place_.size(); ++i) {
      next.push_back(1 - of_images(place_[i]));
      change = larger_error(change, std::abs(next[i] - value_[i]));
    }
    value_ = next;
    if (change < 1e-13) break;
  }
}

double GroundedBall::of_images(Vec3d x) const {
  const double a = radius_;
  double sum = 0;
  for (std::size_t k = 1; k < images_.size(); ++k) {
    const Vec3d at = flipped(x, images_[k].flips);
    double integral = 0;
    for (std::size_t i = 0; i < place_.size(); ++i) {
      const double square = norm2(at - place_[i]);
      integral += weight_[i] * value_[i] / (square * std::sqrt(square));
    }
    sum += images_[k].sign * a * (norm2(at - centre_) - a * a) * integral;
  }
  return sum;
}

// Not by Poisson's integral, which would have to be exact on the ball: by Kelvin's inversion of
// what the images bring.
double GroundedBall::of_ball_alone(Vec3d x) const {
  const Vec3d from = x - centre_;
  const double shrink = radius_ * radius_ / norm2(from);
  return radius_ / norm(from) * (1 - of_images(centre_ + shrink * from));
}

double GroundedBall::capacitance() const {
  double mean = 0;
  for (std::size_t i = 0; i < place_.size(); ++i) mean += weight_[i] * value_[i];
  return radius_ * mean;
}

double GroundedBall::potential(Vec3d x) const {
  double sum = 0;
  for (const auto& [flips, sign] : images_) sum += sign * of_ball_alone(flipped(x, flips));
  return sum;
}

}  // namespace fmbem::test
