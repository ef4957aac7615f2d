#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fmbem/bem/layer/mixed_operator.hpp"
#include "fmbem/problems/media.hpp"
#include "fmbem/problems/study_system.hpp"

namespace fmbem {

/// The equations of one layer or of mixed rows on the surface of a problem.
class LayerStudySystem final : public StudySystem {
 public:
  /// As make_study_system(), for all formulations but `media` and `solvate`.
  LayerStudySystem(const StudyProblem& problem, const StudyEquation& equation,
                   const OperatorOptions& options);

  bool has_entries() const override { return true; }
  double entry(std::size_t i, std::size_t j) const override;
  std::unique_ptr<ApproximateInverse> inverse(std::optional<int> unknowns) const override;
  /// Of a source in a closed surface, and on the unit sphere; of dielectrics there alone.
  std::optional<double> exact(const StudyData& data) const override;

 private:
  std::vector<double> data_right_hand_sides(const StudyData& data) const override;
  double number_of(const StudyData& data, std::span<const double> solution) const override;
  bool has_flux(std::size_t i) const;
  std::vector<double> boundary_data(const StudyData& data) const;
  std::vector<double> right_hand_side_of(const std::vector<double>& boundary_data) const;
  std::vector<double> dielectric_right_hand_side(const StudyData& data) const;
  AppliedField applied(const StudyData& data) const;  ///< u₀
  std::optional<double> exact_dielectric(const StudyData& data) const;
  Vec3d source() const;

  StudyEquation equation_;
  bool closed_, is_unit_sphere_;
  std::vector<int> group_;  ///< [n panels], numbers of the mesh's groups
  int n_groups_;
  std::shared_ptr<const MixedOperator> mixed_;       ///< null for those of one layer
  std::vector<double> charge_factor_;                ///< of StudyRows
  std::shared_ptr<const BoundaryOperator> of_data_;  ///< K or V, of direct formulations
  mutable std::optional<Vec3d> source_;
};

}  // namespace fmbem
