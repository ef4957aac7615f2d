#include "fmbem/problems/media_study_system.hpp"

#include <array>

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {
namespace {

const BoundaryProblem& media_of(const StudyProblem& problem) {
  FMBEM_REQUIRE(problem.media,
                "the formulation media needs a problem with media: use --problem cell or shells, "
                "or --media FILE.json");
  FMBEM_REQUIRE(
      !problem.media->has_losses() && problem.media->formulation == ProblemFormulation::single,
      "the formulation media is for the single layer, without losses");
  return *problem.media;
}

Panels panels_of(const StudyProblem& problem, const OperatorOptions& options) {
  FMBEM_REQUIRE(media_of(problem).planes.empty(),
                "the formulation media is for problems without symmetry planes");
  return make_panels(problem.mesh, options.processor.value_or(Processor::cpu));
}

/// Conductors whose charge is given between two media are solved for at potentials.
PanelConditions conditions_without_driven(const ProblemParts& parts) {
  ProblemConditions<double> conditions = conditions_of<double>(parts);
  for (std::size_t c = 0; c < conditions.driven.size(); ++c)
    FMBEM_REQUIRE(!conditions.driven[c], "the conductor \""
                                             << conditions.panels.names[c]
                                             << "\" floats between two media: studies are for "
                                                "conductors at potentials there");
  return std::move(conditions.panels);
}

}  // namespace

MediaStudySystem::MediaStudySystem(const StudyProblem& problem, const OperatorOptions& options)
    : StudySystem(panels_of(problem, options)),
      problem_(problem),
      groups_(resolve_groups(problem.mesh, *problem.media)),
      is_grounded_(check_regions_closed(problem.mesh, *problem.media, groups_)),
      layout_(problem.mesh, *problem.media, groups_, is_grounded_, panels_, notices_),
      system_(panels_, conditions_without_driven(layout_.parts), layout_.applied,
              problem.mesh.scale_to_m) {
  op_ = system_.make_operator(options);
}

std::vector<double> MediaStudySystem::data_right_hand_sides(const StudyData& data) const {
  if (data.kind == StudyData::Kind::one) return system_.right_hand_side(layout_.data());
  FMBEM_REQUIRE(data.kind == StudyData::Kind::groups && !layout_.conductors.all.empty(),
                "data of media are those of the problem (--rhs one) or each conductor at 1 V "
                "(--rhs groups), if there are any");
  std::vector<double> b;
  for (std::size_t c = 0; c < layout_.conductors.all.size(); ++c) {
    const std::vector<double> one = system_.right_hand_side(layout_.conductor_at_1_volt(c));
    b.insert(b.end(), one.begin(), one.end());
  }
  return b;
}

double MediaStudySystem::number_of(const StudyData&, std::span<const double> solution) const {
  const std::array<Vec3d, 1> at{probe()};
  constexpr double exact_integrals = 0;
  return system_.field(solution, at, {.tolerance = exact_integrals}).potential.front();
}

std::optional<double> MediaStudySystem::exact(const StudyData& data) const {
  if (!problem_.exact_potential || data.kind != StudyData::Kind::one) return std::nullopt;
  return problem_.exact_potential(probe());
}

}  // namespace fmbem
