#include "fmbem/problems/lossy_media.hpp"

#include <cmath>

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {

Complex lossy_permittivity(double permittivity, double conductivity, double omega) {
  FMBEM_REQUIRE(omega > 0 && std::isfinite(omega),
                "an angular frequency must be positive, not " << omega);
  return {permittivity, -conductivity / (omega * epsilon_0)};
}

LossyField in_lossy_media(const AppliedField& applied, const SourceMedia& media) {
  LossyField result{applied, {.unit = applied.unit}, applied.unit};
  const auto split = [](const auto& sources, const std::vector<Complex>& permittivities,
                        auto strength, auto& real, auto& imaginary) {
    FMBEM_REQUIRE(sources.size() == permittivities.size(),
                  "there are " << sources.size() << " sources of a kind, but the media of "
                               << permittivities.size());
    real.clear();
    for (std::size_t k = 0; k < sources.size(); ++k) {
      FMBEM_REQUIRE(permittivities[k] != 0.0, "a source lies in a medium whose permittivity is 0");
      const Complex inverse = 1.0 / permittivities[k];
      for (auto* part : {&real, &imaginary}) {
        const double factor = part == &real ? inverse.real() : inverse.imag();
        part->push_back(sources[k]);
        part->back().permittivity = 1;
        part->back().*strength = factor * (sources[k].*strength);
      }
    }
  };
  split(applied.charges, media.charges, &PointCharge::charge, result.real.charges,
        result.imaginary.charges);
  split(applied.dipoles, media.dipoles, &PointDipole::moment, result.real.dipoles,
        result.imaginary.dipoles);
  split(applied.lines, media.lines, &LineCharge::charge, result.real.lines, result.imaginary.lines);
  return result;
}

Complex LossyField::potential(Vec3d x, double scale_to_m) const {
  return {real.potential(x, scale_to_m), imaginary.potential(x, scale_to_m)};
}

Vec3<Complex> LossyField::field(Vec3d x, double scale_to_m) const {
  const Vec3d a = real.field(x, scale_to_m), b = imaginary.field(x, scale_to_m);
  return {{a.x, b.x}, {a.y, b.y}, {a.z, b.z}};
}

Complex LossyField::mean_flux(const Triangle& panel, Vec3d origin, double scale_to_m) const {
  return {real.mean_flux(panel, origin, scale_to_m),
          imaginary.mean_flux(panel, origin, scale_to_m)};
}

}  // namespace fmbem
