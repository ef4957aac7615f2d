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
  for (std::size_t d = 0; d < parts.domains.fixes.size(); ++d) {
    if (parts.domains.fixes[d]) continue;
    double sum = 0, size = 0;
    add_given(parts, static_cast<int>(d), data, gives_flux, has_charge_given, [&](double flux) {
      sum += flux;
      size += std::abs(flux);
    });
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
