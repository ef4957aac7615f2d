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

/// What enters a domain has to add up to 0 where nothing says what φ is. Throws InputError where it
/// does not; a difference that the discretization of data may make is told in `notices`. Of each
/// panel: whether it gives off what the data say, and whether it is of a conductor whose charge
/// they say.
void check_compatible(const ProblemParts& parts, const PanelData& data,
                      const std::function<bool(std::size_t)>& gives_flux,
                      const std::function<bool(std::size_t)>& has_charge_given,
                      std::vector<std::string>& notices);

}  // namespace fmbem
