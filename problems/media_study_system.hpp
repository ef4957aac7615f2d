#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fmbem/problems/problem_layout.hpp"
#include "fmbem/problems/study_system.hpp"

namespace fmbem {

/// Conductors and dielectrics as a BoundaryProblem has them: the equations of MediaSystem, whose
/// data are the problem's own, or each conductor at 1 V in turn.
class MediaStudySystem final : public StudySystem {
 public:
  /// Throws InputError for problems without media, with losses or other formulations than the
  /// single layer, and as ProblemSolver does.
  MediaStudySystem(const StudyProblem& problem, const OperatorOptions& options);

  bool has_entries() const override { return true; }
  double entry(std::size_t i, std::size_t j) const override {
    return mixed_entry(system_.rows(), i, j);
  }
  std::optional<double> exact(const StudyData& data) const override;

 private:
  std::vector<double> data_right_hand_sides(const StudyData& data) const override;
  double number_of(const StudyData& data, std::span<const double> solution) const override;

  const StudyProblem& problem_;
  std::vector<ResolvedGroup> groups_;
  std::vector<bool> is_grounded_;
  std::vector<std::string> notices_;
  ProblemLayout layout_;
  MediaSystem system_;
};

}  // namespace fmbem
