#pragma once

#include <span>

#include "fmbem/bem/layer/field.hpp"
#include "fmbem/problems/solve_conductors.hpp"

namespace fmbem {

/// Potential in V and field in V/m of one problem of a solution, and where asked for its gradient
/// in V/m², at points in the unit of its mesh: evaluate_field() of its density, and what is
/// applied. Throws InputError as that does, and for a problem that is not there.
Field conductor_field(const ConductorSolution& solution, std::size_t problem,
                      std::span<const Vec3d> points, const FieldOptions& options = {});

}  // namespace fmbem
