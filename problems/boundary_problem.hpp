#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "fmbem/bem/geometry/symmetry.hpp"
#include "fmbem/fmm/base/vec3.hpp"
#include "fmbem/problems/units.hpp"

namespace fmbem {

/// What fills space. Regions of a problem all have permittivities or all have conductivities.
struct Region {
  std::string name;
  double coefficient = 1;  ///< relative permittivity, or conductivity in S/m
  /// The permittivity is complex, coefficient − i loss: time goes as exp(+iωt).
  double loss = 0;

  /// T is double, for problems without losses, or std::complex<double>.
  template <class T>
  T coefficient_as() const {
    if constexpr (std::is_same_v<T, double>)
      return coefficient;
    else
      return T(coefficient, -loss);
  }
};

/// How a problem becomes an integral equation.
enum class ProblemFormulation {
  single,  ///< layer: one density on all surfaces
  /// Potentials that are given on all of the boundary of one region: RegionDirichlet.
  direct,
  second_kind,
};

/// A panel, as data are given there.
struct SurfacePoint {
  std::size_t panel;   ///< number of the triangle in the mesh
  std::size_t panels;  ///< of the mesh
  Vec3d x;             ///< its centroid, in the mesh's coordinates
  Vec3d normal;        ///< from inside to outside
};
using SurfaceData = std::function<double(const SurfacePoint&)>;
SurfaceData constant(double value);

/// What holds on a group, and what lies on its sides. n points out of the region, so c ∂φ/∂n is the
/// flux density that enters it; c is ε₀ε_r, or the conductivity.
struct GroupCondition {
  enum class Kind {
    conductor,  ///< φ the same all over it; `conductor` has more
    dirichlet,  ///< φ = value, V
    neumann,    ///< c ∂φ/∂n = value, C/m² or A/m²
    robin,      ///< c ∂φ/∂n = value − coefficient φ; F/m² or S/m²
    interface,  ///< φ and c ∂φ/∂n go on
  };
  std::string group;
  Kind kind = Kind::conductor;
  SurfaceData value{}, coefficient{};

  struct OfConductor {
    std::string name{};       ///< groups with one name are one conductor
    bool has_charge = false;  ///< that is given: C, or the current A that it gives off; else φ, V
    double value = 0;
  };
  OfConductor conductor{};
  const std::string& conductor_name() const {
    return conductor.name.empty() ? group : conductor.name;
  }
  bool floats() const { return kind == Kind::conductor && conductor.has_charge; }
  /// Whether it says what φ is, and not up to a constant.
  bool fixes_potential() const {
    return !floats() && kind != Kind::neumann && kind != Kind::interface;
  }

  /// A region's name; "" where nothing is solved for. Where neither side says anything, both are
  /// `outside` of the problem, or with a Neumann or Robin condition the outside alone; where one
  /// does, there is nothing on the other.
  std::optional<std::string> inside{}, outside{};
  bool truncated = false;  ///< an interface that would go on where its mesh ends
};

/// A source; `region` is found where it is not said.
struct ProblemSource {
  enum class Kind { charge, dipole, line } kind = Kind::charge;
  Vec3d at{}, to{};   ///< in the mesh's coordinates; a line runs from `at` to `to`
  double charge = 0;  ///< C, or A with conductivities
  Vec3d moment{};     ///< C m, or A m
  std::optional<std::string> region{};
};

/// ∇·(c ∇φ) = −sources in regions bounded by the groups of a mesh: what `fmbem solve` reads
/// (docs/problems.md).
struct BoundaryProblem {
  enum class Coefficient { permittivity, conductivity };
  Coefficient coefficient = Coefficient::permittivity;
  std::vector<Region> regions{{"vacuum", 1}};
  std::string outside = "vacuum";  ///< "": nothing is solved for out there
  std::vector<GroupCondition> groups{};
  std::vector<ProblemSource> sources{};
  Vec3d field{};  ///< V/m, uniform: what there would be without the mesh
  /// On one side of each lies all there is; sources and surfaces have images beyond.
  SymmetryPlanes planes{};
  ProblemFormulation formulation = ProblemFormulation::single;

  bool has_losses() const {
    return std::any_of(regions.begin(), regions.end(), [](const Region& r) { return r.loss != 0; });
  }
  bool conducts() const { return coefficient == Coefficient::conductivity; }
  /// What a coefficient of 1 is: ε₀ in F/m, or 1 S/m.
  double unit() const { return conducts() ? 1 : epsilon_0; }
};

}  // namespace fmbem
