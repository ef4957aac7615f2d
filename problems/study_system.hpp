#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/bem/layer/layer.hpp"
#include "fmbem/bem/layer/mixed_rows.hpp"
#include "fmbem/problems/study_equation.hpp"
#include "fmbem/problems/study_problem.hpp"

namespace fmbem {

/// Where boundary data come from.
struct StudyData {
  enum class Kind {
    one,  ///< g = 1 or q = −1: on the unit sphere u = 1/|x|; u₀ = −z; of `media` and `solvate`
          ///< what the problem has
    source,  ///< u = 1/(4π|x − s|) of a unit charge at s inside a body; u₀ = 1/(4πε|x − s|)
    opposite,  ///< g = 1 and −1 on groups in turn
    groups,    ///< g = 1 on a group and 0 on all others, for each of them; of `media` on conductors
    random,    ///< the right-hand side itself: uniform in [−1, 1), seeded, in the mesh's order
    given,     ///< the right-hand side itself, in the mesh's order
  };
  Kind kind = Kind::one;
  int vectors = 1;               ///< of random
  std::vector<double> values{};  ///< of given: [vectors][n]

  /// Whether they are right-hand sides themselves.
  bool is_vector() const { return kind == Kind::random || kind == Kind::given; }
};

/// One equation on one mesh, and what a study asks of it.
class StudySystem {
 public:
  virtual ~StudySystem() = default;
  StudySystem(const StudySystem&) = delete;
  StudySystem& operator=(const StudySystem&) = delete;

  const Panels& panels() const { return panels_; }
  const std::shared_ptr<const BoundaryOperator>& op() const { return op_; }
  std::size_t unknowns() const { return op_->size(); }
  /// [leaves + 1]: the first unknown of each.
  virtual std::vector<std::int64_t> leaf_begin() const;
  /// Whether there is entry().
  virtual bool has_entries() const { return false; }
  /// The equation's entry by closed forms, whichever way the operator is applied; without charge
  /// equations.
  virtual double entry(std::size_t, std::size_t) const { return 0; }
  /// The operator's own approximate inverse: null where it has none. `unknowns`: of its small
  /// systems on the mean, or as many as are best; of V alone, else throws InputError.
  virtual std::unique_ptr<ApproximateInverse> inverse(std::optional<int> unknowns) const;

  /// [vectors][unknowns]. Throws InputError for given ones that do not fit, and for data that the
  /// equation does not have.
  std::vector<double> right_hand_sides(const StudyData& data) const;

  /// What comes of the solution: the potential at probe(), or another number that says how good the
  /// solution is. Nothing of vectors, and of several right-hand sides.
  std::optional<double> quantity(const StudyData& data, std::span<const double> solution) const;
  /// It exactly, where that is known.
  virtual std::optional<double> exact(const StudyData& data) const = 0;
  /// The centre of the bounding box plus one and a half of its diagonal along (1, 1, 1): (3, 3, 3)
  /// for the unit sphere.
  Vec3d probe() const;

  /// √(the panels' mean area).
  double mesh_width() const;

 protected:
  explicit StudySystem(Panels panels) : panels_(std::move(panels)) {}

  /// Of what is no vector.
  virtual std::vector<double> data_right_hand_sides(const StudyData& data) const = 0;
  virtual double number_of(const StudyData& data, std::span<const double> solution) const = 0;
  double layer_entry(const Layer& layer, std::size_t i, std::size_t j) const;
  double mixed_entry(const MixedRows& rows, std::size_t i, std::size_t j) const;

  Panels panels_;
  std::shared_ptr<const BoundaryOperator> op_;
};

/// The problem must outlive it. Throws InputError for problems that are none of the formulation's,
/// such as open surfaces for all but `single`, and as operators do.
std::unique_ptr<StudySystem> make_study_system(const StudyProblem& problem,
                                               const StudyEquation& equation,
                                               const OperatorOptions& options);

}  // namespace fmbem
