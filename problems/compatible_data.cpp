#include "fmbem/problems/compatible_data.hpp"

#include <algorithm>
#include <cmath>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem {
namespace {

/// Of what enters and leaves a domain, what may be left by the discretization of data.
constexpr double most_left = 1e-2, least_told = 1e-6;

}  // namespace

int domain_of_panel(const ProblemParts& parts, std::size_t i) {
  return parts.domains.of[std::max(parts.sides.inside[i], parts.sides.outside[i])];
}

void check_compatible(const ProblemParts& parts, const PanelData& data,
                      const std::function<bool(std::size_t)>& gives_flux,
                      const std::function<bool(std::size_t)>& has_charge_given,
                      std::vector<std::string>& notices) {
  const BoundaryProblem& problem = parts.problem;
  const double to_si = problem.unit() * parts.mesh.scale_to_m;
  for (std::size_t d = 0; d < parts.domains.fixes.size(); ++d) {
    if (parts.domains.fixes[d]) continue;
    double sum = 0, size = 0;
    const auto add = [&](double flux) {
      sum += flux;
      size += std::abs(flux);
    };
    std::vector<bool> has_conductor(data.charge.size(), false);
    for (std::size_t i = 0; i < parts.panels.size(); ++i) {
      if (domain_of_panel(parts, i) != static_cast<int>(d)) continue;
      if (gives_flux(i)) add(to_si * parts.area[i] * data.given[i]);
      if (has_charge_given(i)) has_conductor[parts.conductors.of_panel[i]] = true;
    }
    for (std::size_t c = 0; c < has_conductor.size(); ++c)
      if (has_conductor[c]) add(data.charge[c]);
    if (data.applied)
      for (std::size_t s = 0; s < parts.region_of_source.size(); ++s)
        if (parts.domains.of[parts.region_of_source[s]] == static_cast<int>(d))
          add(problem.sources[s].charge);
    if (std::abs(sum) <= least_told * size) continue;
    const std::string sentence = "what enters the region \"" +
                                 problem.regions[parts.domains.first[d]].name +
                                 "\", whose potential nothing fixes, adds up to " + decimal(sum) +
                                 (problem.conducts() ? " A" : " C") + ", and should to 0";
    FMBEM_REQUIRE(std::abs(sum) <= most_left * size,
                  sentence << ": make the Neumann data and given charges compatible, or give the "
                              "potential somewhere");
    notices.push_back(sentence + ": the difference is spread over the surface");
  }
}

}  // namespace fmbem
