#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/bem/layer/mixed_operator.hpp"
#include "fmbem/meshes/mesh.hpp"
#include "fmbem/problems/media.hpp"
#include "fmbem/problems/study_equation.hpp"

namespace fmbem {

/// Where boundary data come from.
struct StudyData {
  enum class Kind {
    one,     ///< g = 1 or q = −1: on the unit sphere u = 1/|x|; u₀ = −z
    source,  ///< u = 1/(4π|x − s|) of a unit charge at s inside a body; u₀ = 1/(4πε|x − s|)
    random,  ///< the right-hand side itself: uniform in [−1, 1), seeded, in the mesh's order
    given,   ///< the right-hand side itself, in the mesh's order
  };
  Kind kind = Kind::one;
  int vectors = 1;               ///< of random
  std::vector<double> values{};  ///< of given: [vectors][n]
};

/// One equation on one mesh, and what a study asks of it.
class StudySystem {
 public:
  /// Throws InputError for formulations other than `single` on open surfaces, and as
  /// make_boundary_operator() does.
  StudySystem(const SurfaceMesh& mesh, const StudyEquation& equation,
              const OperatorOptions& options);

  const Panels& panels() const { return panels_; }
  std::shared_ptr<const BoundaryOperator> op() const { return op_; }
  /// The equation's entry by closed forms, whichever way the operator is applied; without Gauss's
  /// law of dielectric bodies.
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
  /// Tells that the surface is the unit sphere about the mesh's origin.
  void set_unit_sphere(bool is_one) { is_unit_sphere_ = is_one; }
  /// It exactly, where that is known: of a source in a closed surface, and on the unit sphere; of
  /// dielectrics there alone.
  std::optional<double> exact_potential(const StudyData& data) const;
  /// The centre of the bounding box plus one and a half of its diagonal along (1, 1, 1): (3, 3, 3)
  /// for the unit sphere.
  Vec3d probe() const;

  /// √(the panels' mean area).
  double mesh_width() const;

 private:
  bool has_flux(std::size_t i) const;
  std::vector<double> boundary_data(const StudyData& data) const;
  std::vector<double> dielectric_right_hand_side(const StudyData& data) const;
  AppliedField applied(const StudyData& data) const;  ///< u₀
  std::optional<double> exact_dielectric_potential(const StudyData& data) const;
  Vec3d source() const;

  Panels panels_;
  StudyEquation equation_;
  bool closed_, is_unit_sphere_ = false;
  std::shared_ptr<const MixedOperator> mixed_;  ///< null for those of one layer
  std::vector<double> charge_factor_;           ///< of StudyRows
  std::shared_ptr<const BoundaryOperator> op_;
  std::shared_ptr<const BoundaryOperator> of_data_;  ///< K or V, of direct formulations
  mutable std::optional<Vec3d> source_;
};

}  // namespace fmbem
