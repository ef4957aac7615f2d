#include "tests/unit/layered_sphere.hpp"

#include <cmath>

namespace fmbem::test {
namespace {

/// Of degree n in each layer: φ = (a rⁿ + b r^−(n+1)) times an angular function.
struct Degree {
  int n;
  std::vector<Complex> a, b;
  Complex at(std::size_t layer, double r) const {
    return a[layer] * std::pow(r, n) + b[layer] * std::pow(r, -n - 1);
  }
};

/// Coefficients in `into` of what has potential u and flux s = ε ∂φ/∂r at r.
void match(Degree& degree, std::size_t into, double r, Complex u, Complex s, Complex permittivity) {
  const double n = degree.n, pole = 2 * n + 1;
  const Complex slope = r * s / permittivity;
  degree.a[into] = ((n + 1) * u + slope) / pole * std::pow(r, -n);
  degree.b[into] = (n * u - slope) / pole * std::pow(r, n + 1);
}

Complex flux(const Degree& degree, std::size_t layer, double r, Complex permittivity) {
  const double n = degree.n;
  return permittivity * (n * degree.a[layer] * std::pow(r, n - 1) -
                         (n + 1) * degree.b[layer] * std::pow(r, -n - 2));
}

Degree empty(int n, std::size_t layers) {
  return {n, std::vector<Complex>(layers), std::vector<Complex>(layers)};
}

void scale(Degree& degree, Complex factor) {
  for (Complex& a : degree.a) a *= factor;
  for (Complex& b : degree.b) b *= factor;
}

/// From infinity, where nothing grows, inwards, with b = 1 at the centre.
Degree from_centre(const LayeredSphere& sphere, int n) {
  const std::size_t layers = sphere.permittivity.size();
  Degree degree = empty(n, layers);
  degree.b.back() = 1;
  for (std::size_t k = layers - 1; k-- > 0;) {
    const double r = sphere.radius[k];
    match(degree, k, r, degree.at(k + 1, r), flux(degree, k + 1, r, sphere.permittivity[k + 1]),
          sphere.permittivity[k]);
  }
  scale(degree, 1.0 / degree.b[0]);
  return degree;
}

/// From the centre, where nothing is infinite, outwards, with a = 1 outside.
Degree from_infinity(const LayeredSphere& sphere, int n) {
  const std::size_t layers = sphere.permittivity.size();
  Degree degree = empty(n, layers);
  degree.a[0] = 1;
  for (std::size_t k = 0; k + 1 < layers; ++k) {
    const double r = sphere.radius[k];
    match(degree, k + 1, r, degree.at(k, r), flux(degree, k, r, sphere.permittivity[k]),
          sphere.permittivity[k + 1]);
  }
  scale(degree, 1.0 / degree.a.back());
  return degree;
}

/// Σ f(n, Pₙ, Pₙ', radial factor less the source's own in layer 0) over as many degrees as double
/// precision has.
template <class Term>
Complex series(const LayeredSphere& sphere, double source_radius, Vec3d x, double cosine, int first,
               const Term& term) {
  const double r = norm(x);
  const std::size_t layer = sphere.layer_of(r);
  Complex sum = 0;
  double p = 1, before = 0, slope = 0, slope_before = 0;
  for (int n = 0; n < 500; ++n) {
    if (n >= first) {
      Degree degree = from_centre(sphere, n);
      if (layer == 0) degree.b[0] = 0;
      const Complex next = term(n, p, slope) * degree.at(layer, r) / sphere.permittivity[0];
      sum += next;
      if (n > 20 && std::pow(source_radius / sphere.radius[0], n) < 1e-20) break;
    }
    const double next_p = ((2 * n + 1) * cosine * p - n * before) / (n + 1);
    const double next_slope = slope_before + (2 * n + 1) * p;
    before = p, p = next_p;
    slope_before = slope, slope = next_slope;
  }
  return sum;
}

}  // namespace

std::size_t LayeredSphere::layer_of(double r) const {
  std::size_t layer = 0;
  while (layer < radius.size() && r > radius[layer]) ++layer;
  return layer;
}

Complex LayeredSphere::in_uniform_field(Vec3d x) const {
  const double r = norm(x);
  if (r == 0) return 0;
  return -x.z / r * from_infinity(*this, 1).at(layer_of(r), r);
}

Complex LayeredSphere::of_charge(Vec3d place, Vec3d x) const {
  const double d = norm(place), cosine = d > 0 ? dot(place, x) / (d * norm(x)) : 1;
  const Complex own = layer_of(norm(x)) == 0 ? 1.0 / (permittivity[0] * norm(x - place)) : 0;
  return own + series(*this, d, x, cosine, 0,
                      [&](int n, double p, double) { return std::pow(d, n) * p; });
}

// The derivative of dⁿ Pₙ(d̂·x̂) along the moment, by the place of the charge.
Complex LayeredSphere::of_dipole(Vec3d place, Vec3d moment, Vec3d x) const {
  const double d = norm(place), r = norm(x);
  const Vec3d axis = d > 0 ? place / d : moment / norm(moment);
  const double cosine = dot(axis, x) / r, radial = dot(moment, axis),
               across = dot(moment, x) / r - cosine * radial;
  const Vec3d apart = x - place;
  const Complex own =
      layer_of(r) == 0 ? dot(moment, apart) / (permittivity[0] * std::pow(norm(apart), 3)) : 0;
  return own + series(*this, d, x, cosine, 1, [&](int n, double p, double slope) {
           return std::pow(d, n - 1) * (n * p * radial + slope * across);
         });
}

}  // namespace fmbem::test
