#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fmbem/fmm/tree/octree.hpp"

namespace fmbem::fmm {

/// Rows of the M2L products: pairs of a parent with targets and an orbit that is not empty.
std::int64_t m2l_rows(const Octree& tree);

/// Orbits of the boxes around a parent in which there are sources: bit a is set for orbit a.
/// `occupied` holds, box by box, the octants whose child has sources.
std::uint32_t occupied_orbits(const Octree& tree, std::int32_t parent,
                              std::span<const std::uint8_t> occupied);
/// Those of them that the colleague at that place, with these octants occupied, has children in.
std::uint32_t orbits_at(int place, std::uint8_t occupied);
/// [boxes]: bit g is set where child g has sources.
std::vector<std::uint8_t> occupied_octants(const Octree& tree);

}  // namespace fmbem::fmm
