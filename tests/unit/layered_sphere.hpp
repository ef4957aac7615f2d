#pragma once

// A sphere of layers with permittivities or conductivities, real or complex, in natural units: a
// charge q has the potential q/(ε |x − p|).
#include <complex>
#include <vector>

#include "fmbem/fmm/base/vec3.hpp"

namespace fmbem::test {

using Complex = std::complex<double>;

/// About the origin; layer k lies between radii k − 1 and k. The last layer is all around, and may
/// have permittivity 0: no current leaves the sphere.
struct LayeredSphere {
  std::vector<double> radius;         ///< ascending
  std::vector<Complex> permittivity;  ///< [radii + 1], from the inside

  /// Of the centre's layer 0.
  std::size_t layer_of(double r) const;
  /// φ with −E z far away, E = 1.
  Complex in_uniform_field(Vec3d x) const;
  /// φ of a unit charge, or of a dipole with that moment, in the innermost layer. The dipole in an
  /// insulated sphere has the potential that has no mean on any sphere; a charge needs a conducting
  /// surroundings.
  Complex of_charge(Vec3d place, Vec3d x) const;
  Complex of_dipole(Vec3d place, Vec3d moment, Vec3d x) const;
};

}  // namespace fmbem::test
