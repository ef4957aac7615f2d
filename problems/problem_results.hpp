#pragma once

#include <span>
#include <string>
#include <vector>

#include "fmbem/problems/media_system.hpp"
#include "fmbem/problems/problem_regions.hpp"
#include "fmbem/problems/solve_problem.hpp"

namespace fmbem {

/// What a solver has of its problem.
struct ProblemParts {
  const SurfaceMesh& mesh;
  std::span<const ResolvedGroup> groups;
  const Panels& panels;
  const PanelSides& sides;
  std::span<const int> region_of_source;
  const Domains& domains;
  const PanelConditions& conditions;
  std::span<const double> area;
  const MediaSystem& system;
  const std::vector<bool>& is_grounded;  ///< [regions]: they reach a ground plane
};

/// Adds what a density of these data means to the solution.
void add_result(const ProblemParts& parts, std::string name, const PanelData& data,
                std::vector<double> sigma, ProblemSolution& solution);

}  // namespace fmbem
