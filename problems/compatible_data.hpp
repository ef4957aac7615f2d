#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "fmbem/problems/media_system.hpp"
#include "fmbem/problems/problem_conditions.hpp"

namespace fmbem {

/// The domain beside a panel.
int domain_of_panel(const ProblemParts& parts, std::size_t i);

/// Calls add(C or A) for all that the data say to enter a domain: what panels give off, given
/// charges of conductors, and sources. Of each panel: whether it gives off what the data say, and
/// whether it is of a conductor whose charge they say.
template <class T, class GivesFlux, class HasCharge, class Add>
void add_given(const ProblemParts& parts, int domain, const BasicPanelData<T>& data,
               const GivesFlux& gives_flux, const HasCharge& has_charge_given, const Add& add) {
  const double to_si = parts.problem.unit() * parts.mesh.scale_to_m;
  std::vector<bool> has_conductor(data.charge.size(), false);
  for (std::size_t i = 0; i < parts.panels.size(); ++i) {
    if (domain_of_panel(parts, i) != domain) continue;
    if (gives_flux(i)) add(to_si * parts.area[i] * data.given[i]);
    if (has_charge_given(i)) has_conductor[parts.conductors.of_panel[i]] = true;
  }
  for (std::size_t c = 0; c < has_conductor.size(); ++c)
    if (has_conductor[c]) add(data.charge[c]);
  if (!data.applied) return;
  for (std::size_t s = 0; s < parts.region_of_source.size(); ++s)
    if (parts.domains.of[parts.region_of_source[s]] == domain)
      add(T(parts.problem.sources[s].charge));
}

/// What enters a domain has to add up to 0 where nothing says what φ is. Throws InputError where it
/// does not; a difference that the discretization of data may make is told in `notices`. The others
/// as in add_given().
void check_compatible(const ProblemParts& parts, const PanelData& data,
                      const std::function<bool(std::size_t)>& gives_flux,
                      const std::function<bool(std::size_t)>& has_charge_given,
                      std::vector<std::string>& notices);

}  // namespace fmbem
