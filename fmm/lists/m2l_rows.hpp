#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fmbem/fmm/tree/octree.hpp"

namespace fmbem::fmm {

/// The rows of the M2L products: a pair of a parent with targets and an orbit that is not empty.
std::int64_t m2l_rows(const Octree& tree);

/// The orbits around a parent in which there are sources: bit a is set for orbit a. `occupied`
/// holds, for each box, a bit for each octant whose child has sources.
std::uint32_t occupied_orbits(const Octree& tree, std::int32_t parent,
                              std::span<const std::uint8_t> occupied);
/// Those of the orbits in which the colleague at that place has children, given its occupied
/// octants.
std::uint32_t orbits_at(int place, std::uint8_t occupied);
/// [boxes]: bit g is set where child g has sources.
std::vector<std::uint8_t> occupied_octants(const Octree& tree);

}  // namespace fmbem::fmm
