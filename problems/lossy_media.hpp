#pragma once

#include <vector>

#include "fmbem/bem/layer/complex_rows.hpp"
#include "fmbem/problems/media.hpp"

namespace fmbem {

/// A permittivity from its real part, relative, and a conductivity in S/m at an angular frequency.
Complex lossy_permittivity(double permittivity, double conductivity, double omega);

/// What is applied, real parts and imaginary ones.
struct LossyField {
  AppliedField real{}, imaginary{};
  double unit = epsilon_0;  ///< as AppliedField has it

  bool empty() const { return real.empty() && imaginary.empty(); }
  /// As AppliedField has them.
  Complex potential(Vec3d x, double scale_to_m) const;
  Vec3<Complex> field(Vec3d x, double scale_to_m) const;
  Complex mean_flux(const Triangle& panel, Vec3d origin, double scale_to_m) const;
};

/// An applied field, with images already, whose sources lie in such media: potentials are those of
/// charges over ε. Sizes are those of `applied`'s sources. Throws InputError where they differ, and
/// for media whose permittivity is 0.
struct SourceMedia {
  std::vector<Complex> charges{}, dipoles{}, lines{};
};
LossyField in_lossy_media(const AppliedField& applied, const SourceMedia& media);

}  // namespace fmbem
