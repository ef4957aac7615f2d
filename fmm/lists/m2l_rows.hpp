#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fmbem/fmm/method.hpp"
#include "fmbem/fmm/tree/point_tree.hpp"

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

/// The orbits with boxes that are not farther from the child than that, in their sides.
std::uint32_t orbits_within(double gap);

/// The orbits that boxes of a level, from 1 on, need for M2L in either direction: bit a is set
/// where a box and one of orbit a do not touch, one with targets and the other with sources, and
/// are not farther from each other than `reach`, in the tree's unit. Of a hybrid where its parents
/// are split with those of orbit a; M2L at displacements, and treecodes, have none.
std::uint32_t acting_orbits(const PointTree& points, Method method, int level, double reach);

}  // namespace fmbem::fmm
