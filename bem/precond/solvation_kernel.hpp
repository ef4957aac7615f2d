#pragma once

// The arithmetic of the inverse for potentials and fluxes.
#include <cmath>
#include <cstdint>

#include "fmbem/bem/precond/mixed_kernel.hpp"

namespace fmbem {

/// What a node of a tree over panels between the same two regions has beside its Cluster.
struct NodeSides {
  Vec3d normal;                  ///< the mean by area
  double own_k;                  ///< what the halves of a cluster make of each other by K
  std::int32_t inside, outside;  ///< the regions behind it and ahead
};

/// The distance of nodes as points that are smeared, and what a density 1 of dipoles on node l
/// makes on node k, without screening.
FMBEM_HD inline double smeared_distance(const Cluster& k, const Cluster& l) {
  return std::sqrt(norm2(k.centroid - l.centroid) + point_smear2(k) + point_smear2(l));
}
FMBEM_HD inline double smooth_k(const Cluster& k, const Cluster& l, Vec3d normal_l,
                                double distance) {
  return inv_4pi * l.area * dot(normal_l, k.centroid - l.centroid) /
         (distance * distance * distance);
}

}  // namespace fmbem
