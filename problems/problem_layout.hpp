#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "fmbem/problems/media_system.hpp"
#include "fmbem/problems/problem_conditions.hpp"
#include "fmbem/problems/problem_regions.hpp"

namespace fmbem {

/// What a problem says of each panel, and its data. All that it is given must outlive it.
struct ProblemLayout {
  /// `groups` and `is_grounded`: of resolve_groups() and check_regions_closed(). Throws InputError
  /// as those do whom it asks: regions_of_sources(), conductors_of(), applied_field(). Adds their
  /// notices.
  ProblemLayout(const SurfaceMesh& mesh, const BoundaryProblem& problem,
                std::span<const ResolvedGroup> groups, const std::vector<bool>& is_grounded,
                const Panels& panels, std::vector<std::string>& notices);
  ProblemLayout(const ProblemLayout&) = delete;
  ProblemLayout& operator=(const ProblemLayout&) = delete;

  /// As the problem has them.
  PanelData data() const;
  /// All are 0, and there are no sources.
  PanelData without_data() const;
  /// The same with one conductor at 1 V.
  PanelData conductor_at_1_volt(std::size_t conductor) const;

  PanelSides sides;
  RegionFinder finder;
  std::vector<int> region_of_source;
  ProblemConductors conductors;
  Domains domains;
  Areas area;            ///< [n panels]
  AppliedField applied;  ///< with images
  ProblemParts parts;
};

}  // namespace fmbem
