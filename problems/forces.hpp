#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/problems/media.hpp"

namespace fmbem {

/// What forces act on as one: panels, and charges that it encloses.
struct Body {
  std::string name;
  double permittivity = 1;    ///< relative, of the medium around it
  std::optional<Vec3d> about{};  ///< of the torque, in the mesh's coordinates; else its centroid
  bool is_dielectric = false;  ///< its material is inside its closed surfaces, and what lies there is its
};

/// Panels with the charge of a solved problem.
struct ChargedPanels {
  const Panels& panels;
  /// [n panels], σ of φ = Vσ + φ_a in V per unit of the mesh's length: the charge on a panel, free
  /// and bound, is ε₀σ.
  std::span<const double> sigma;
  std::span<const int> body_of;  ///< [n panels]; −1 of those that belong to none
  std::span<const Body> bodies;
  const AppliedField& applied;
  double scale_to_m = 1;
};
