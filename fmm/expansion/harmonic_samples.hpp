#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "fmbem/fmm/base/vec3.hpp"
#include "fmbem/fmm/expansion/parity_order.hpp"
#include "fmbem/fmm/kernel/yukawa.hpp"

namespace fmbem::fmm {

/// Regular harmonics of degree ≤ p, which κ does not change, at the nodes by which BoxFit and M2M
/// of Yukawa's kernel integrate: regular functions there are these times f_n(κ|x|). Each rule's are
/// made when they are first asked for; where several threads ask at once one makes them and the
/// others wait. Numbers of nodes are rounded up to eights; harmonics at what is not a node are 0.
class HarmonicSamples {
 public:
  explicit HarmonicSamples(int p) : order_(p) {}

  /// In the positive octant of the unit cube about the origin, which the others mirror.
  struct Cube {
    int nodes;
    std::vector<double> r2;      ///< [nodes], |x|²
    std::vector<double> values;  ///< [K][nodes] in parity order, times the root of the weight
  };
  const Cube& cube() const;

  /// On a sphere about (¼, ¼, ¼), the centre of the child in the positive octant of a parent whose
  /// side is 1:
  /// x_g = radius (x mirrored by g) + ¼, x being a node of SphereRule. The parent's harmonics are
  /// about the parent's centre, those of the child at x.
  struct Sphere {
    static constexpr double radius = 0.4;
    int nodes;
    std::vector<double> r2;                    ///< [8][nodes], |x_g|²
    std::vector<double> parent;                ///< [K][8][nodes] in parity order
    std::array<std::vector<double>, 8> child;  ///< by class, [nodes][K_c] times weights, packed
  };
  const Sphere& sphere(int rings) const;

 private:
  Cube make_cube() const;
  Sphere make_sphere(int rings) const;

  ParityOrder order_;
  mutable std::mutex mutex_;
  mutable std::optional<Cube> cube_;
  mutable std::map<int, Sphere> spheres_;
};

/// Those of degree ≤ p, shared by all who hold them: who makes the operators of several levels
/// does, for that while.
std::shared_ptr<const HarmonicSamples> harmonic_samples(int p);

/// f_n(κ|x|) for n ≤ p (Yukawa::regular_factors) at samples, from their |x|²: [p + 1][samples].
std::vector<double> radial_factors(const Yukawa& kernel, int p, const std::vector<double>& r2);

}  // namespace fmbem::fmm
