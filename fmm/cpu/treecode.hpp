#pragma once

#include "fmbem/fmm/cpu/near_data.hpp"
#include "fmbem/fmm/lists/treecode_walk.hpp"

namespace fmbem::fmm {

/// Writes the results of a treecode, from moments of all boxes from the top level on; adds the
/// seconds of M2P and P2P. The near field is in double precision: boxes that walks find near may be
/// many sides away, farther than integer coordinates (near_coordinates.hpp) reach.
template <class T>
void treecode(const NearData& near, Pass<T>& pass, Seconds& seconds);

}  // namespace fmbem::fmm
