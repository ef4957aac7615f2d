// What all steps share: points with charges, sums to compare with, and how a step tells its result.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "fmbem/fmm/base/clouds.hpp"

using fmbem::norm;
using fmbem::norm2;
using fmbem::Vec3d;

struct Charges {
  std::vector<Vec3d> x;
  std::vector<double> q;
};
/// n charges of mixed sign in the cube with that corner and side.
inline Charges charges_in_cube(std::size_t n, Vec3d corner, double side, int seed) {
  Charges c{fmbem::clouds::cube_points(n, seed), fmbem::clouds::signed_charges(n, seed + 1)};
  for (Vec3d& x : c.x) x = corner + side * x;
  return c;
}

/// Σ_j q_j / |x − x_j| without the charge at x itself, in extended precision.
inline double exact_potential(const Charges& c, Vec3d x) {
  long double sum = 0;
  for (std::size_t j = 0; j < c.x.size(); ++j)
    if (const long double r2 = norm2(x - c.x[j]); r2 > 0) sum += c.q[j] / std::sqrt(r2);
  return static_cast<double>(sum);
}

/// Relative L2 error of potentials at `targets`, looked at in at most 200 places.
inline double error_of(const std::vector<double>& u, const std::vector<Vec3d>& targets,
                       const Charges& c) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < targets.size(); i += 1 + targets.size() / 200) {
    const double exact = exact_potential(c, targets[i]);
    difference += (u[i] - exact) * (u[i] - exact);
    size += exact * exact;
  }
  return std::sqrt(difference / size);
}

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
/// One line; returns whether the error is within its bound.
inline bool tell(const std::string& what, double error, double bound, double seconds) {
  std::printf("%-34s error %.1e   time %.6f s\n", what.c_str(), error, seconds);
  if (!(error <= bound)) std::printf("the error should be at most %.1e\n", bound);
  return error <= bound;
}
