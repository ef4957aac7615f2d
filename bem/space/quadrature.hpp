#pragma once

#include <vector>

namespace fmbem {

/// Points and weights on the triangle (0,0), (1,0), (0,1); the weights sum to 1.
struct TriangleRule {
  std::vector<double> xi, eta, weight;
};

/// The n × n product rule on the collapsed square, with Gauss points of degree 2n − 1 in each
/// direction. It is exact for polynomials of degree 2n − 2, as the collapse takes one degree
/// [Stroud 1971, 2.2]. 1 ≤ n ≤ 32.
TriangleRule collapsed_gauss(int n);

/// A rule with the triangle's symmetry. An orbit has a weight for each of its points, whose
/// barycentric coordinates are the permutations of (a, b, 1 − a − b): three where a = b.
struct SymmetricRule {
  struct Orbit {
    double a, b, weight;
  };
  double centroid = 0;  ///< its weight; 0 where it is no point
  std::vector<Orbit> orbits;
};

/// The rule of degree 1 (the centroid), 2 (3 points), 5 (7 points) [Stroud 1971, T2 2-1, 5-1] or 8
/// (16 points) [Dunavant 1985].
SymmetricRule symmetric_orbits(int degree);

/// The same, point by point.
TriangleRule symmetric_rule(int degree);

/// Nodes and weights of Gauss's rule on (0, 1). 1 ≤ n ≤ 64.
void gauss_legendre(int n, std::vector<double>& node, std::vector<double>& weight);

}  // namespace fmbem
