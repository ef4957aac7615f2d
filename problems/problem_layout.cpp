#include "fmbem/problems/problem_layout.hpp"

#include "fmbem/problems/images.hpp"
#include "fmbem/problems/region_pieces.hpp"

namespace fmbem {

ProblemLayout::ProblemLayout(const SurfaceMesh& mesh, const BoundaryProblem& problem,
                             std::span<const ResolvedGroup> groups,
                             const std::vector<bool>& is_grounded, const Panels& panels,
                             std::vector<std::string>& notices)
    : sides(sides_of_panels(mesh, panels, groups)),
      finder(problem, panels, sides),
      region_of_source(regions_of_sources(problem, panels, finder, notices)),
      conductors(conductors_of(mesh, panels, groups)),
      domains(find_domains(problem, groups, is_grounded)),
      area(areas_of(panels)),
      applied(with_images(applied_field(problem, region_of_source), panels)),
      parts{mesh,       problem, groups, panels,     sides, region_of_source,
            conductors, domains, *area,  is_grounded} {
  check_pieces_of_regions(mesh, problem, groups, panels, domains);
}

PanelData ProblemLayout::data() const {
  PanelData data{given_values(parts.mesh, parts.panels, parts.problem, parts.groups)};
  for (const GroupCondition::OfConductor& given : conductors.given)
    data.charge.push_back(given.has_charge ? given.value : 0);
  return data;
}

PanelData ProblemLayout::without_data() const {
  return {std::vector<double>(parts.panels.size(), 0.0),
          std::vector<double>(conductors.all.size(), 0.0), false};
}

PanelData ProblemLayout::conductor_at_1_volt(std::size_t conductor) const {
  PanelData data = without_data();
  for (std::size_t i = 0; i < data.given.size(); ++i)
    if (conductors.of_panel[i] == static_cast<int>(conductor)) data.given[i] = 1;
  return data;
}

}  // namespace fmbem
