#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/meshes/mesh.hpp"

namespace fmbem {

/// Boundary integral equations for a potential u outside of bodies that vanishes far away, by
/// panels with constant densities; K and K' as make_boundary_operator() has them, normals outward.
enum class Formulation {
  single,   ///< u = g on the surface: V σ = g, u = ∫G σ
  direct,   ///< the same for q = ∂u/∂n: V q = (K − ½) g, u = ∫∂G/∂n g − ∫G q
  second,   ///< q given: (½ − K) u = −V q, the same potential
  adjoint,  ///< q given: (½ − K') σ = −q, u = ∫G σ
};
const char* name(Formulation formulation);
/// "V", "1/2 - K", …: the layers of its equation.
const char* layer_name(Formulation formulation);

/// Where boundary data come from.
struct StudyData {
  enum class Kind {
    one,     ///< g = 1 or q = −1: on the unit sphere u = 1/|x|
    source,  ///< u = 1/(4π|x − s|) of a unit charge at s inside a body
    random,  ///< the right-hand side itself: uniform in [−1, 1), seeded, in the mesh's order
    given,   ///< the right-hand side itself, in the mesh's order
  };
  Kind kind = Kind::one;
  int vectors = 1;               ///< of random
  std::vector<double> values{};  ///< of given: [vectors][n]
};

/// One formulation on one mesh, and what a study asks of it.
class StudySystem {
 public:
  /// Throws InputError for formulations other than `single` on open surfaces, and as
  /// make_boundary_operator() does.
  StudySystem(const SurfaceMesh& mesh, Formulation formulation, const OperatorOptions& options);

  const Panels& panels() const { return panels_; }
  std::shared_ptr<const BoundaryOperator> op() const { return op_; }
  /// The equation's entry by closed forms, whichever way the operator is applied.
  double entry(std::size_t i, std::size_t j) const;
  /// The operator's own approximate inverse: null where it has none. `unknowns`: of its small
  /// systems on the mean, or as many as are best; of V alone, else throws InputError.
  std::unique_ptr<ApproximateInverse> inverse(std::optional<int> unknowns) const;

  /// [vectors][n] in the order of panels. Throws InputError for given ones that do not fit.
  std::vector<double> right_hand_sides(const StudyData& data) const;

  /// The potential at probe(), from the solution.
  double potential(const StudyData& data, std::span<const double> solution) const;
  /// Whether `data` are of a problem with a potential.
  static bool has_potential(const StudyData& data);
  /// Tells that data of 1 make the potential of a point at the origin, with that capacitance over
  /// 4πε₀, as on a sphere.
  void set_point_like(std::optional<double> capacitance) { point_like_ = capacitance; }
  /// It exactly, where that is known: of a source in a closed surface, and of what is like a point.
  std::optional<double> exact_potential(const StudyData& data) const;
  /// The centre of the bounding box plus one and a half of its diagonal along (1, 1, 1): (3, 3, 3)
  /// for the unit sphere.
  Vec3d probe() const;

  /// √(the panels' mean area).
  double mesh_width() const;

 private:
  bool has_neumann_data() const;
  std::vector<double> boundary_data(const StudyData& data) const;
  Vec3d source() const;

  Panels panels_;
  Formulation formulation_;
  bool closed_;
  std::shared_ptr<const BoundaryOperator> op_;
  std::shared_ptr<const BoundaryOperator> of_data_;  ///< K or V, of direct formulations
  std::optional<double> point_like_;
  mutable std::optional<Vec3d> source_;
};

}  // namespace fmbem
