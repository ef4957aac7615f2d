#pragma once

#include <string>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/meshes/mesh.hpp"
#include "fmbem/problems/units.hpp"

namespace fmbem {

/// A dense square matrix, row by row.
struct SquareMatrix {
  std::size_t n = 0;
  std::vector<double> values;  ///< [n][n]
  explicit SquareMatrix(std::size_t size = 0) : n(size), values(size * size, 0.0) {}
  double& operator()(std::size_t i, std::size_t j) { return values[i * n + j]; }
  double operator()(std::size_t i, std::size_t j) const { return values[i * n + j]; }
};
SquareMatrix scaled(SquareMatrix matrix, double factor);
/// In absolute value; 0 of an empty matrix.
double largest_entry(const SquareMatrix& matrix);

/// Farads of 4πε₀ times a mesh's unit of length, the capacitance of a sphere of that radius.
double natural_capacitance(double scale_to_m);

/// One or several groups at one potential.
struct Conductor {
  std::string name;
  std::vector<std::string> groups;
};

/// Conductors of a mesh: those that are asked for, then every other group by itself that is no
/// interface between dielectrics. Throws InputError for unknown or repeated names, for interfaces
/// that conductors cross (they may end there), and for two conductors that touch or cross: the
/// coefficient between them diverges as the mesh is refined, or means nothing. What counts is in
/// mesh.contacts, or without them what find_contacts() finds now; who solves often on a mesh of
/// their own sets mesh.contacts to that once. Groups that are joined to one conductor may touch.
std::vector<Conductor> make_conductors(const SurfaceMesh& mesh, const std::vector<Conductor>& asked,
                                       const std::vector<std::string>& interfaces = {});

/// [n groups]: the conductor that each belongs to, −1 of interfaces.
std::vector<int> conductor_of_groups(const SurfaceMesh& mesh,
                                     const std::vector<Conductor>& conductors);

/// [n panels]: conductor of each panel, −1 of interfaces, in the order of Panels.
std::vector<int> conductor_of_panels(const SurfaceMesh& mesh, const Panels& panels,
                                     const std::vector<Conductor>& conductors);

/// The capacitors of a circuit: between conductors i ≠ j −(C_ij + C_ji)/2, to infinity on the
/// diagonal Σ_j (C_ij + C_ji)/2.
SquareMatrix mutual_capacitance(const SquareMatrix& maxwell);

/// Largest |C_ij − C_ji| over the largest |C_ij|.
double asymmetry(const SquareMatrix& maxwell);

}  // namespace fmbem
