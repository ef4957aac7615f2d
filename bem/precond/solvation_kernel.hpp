#pragma once

// The arithmetic of the inverse for potentials and fluxes, shared by CPU and GPU.
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

/// [regions]
struct MediaView {
  const double *permittivity, *kappa;
};

/// K between nodes as points that are smeared, without screening: the mean, on node k, of the
/// potential of dipoles of density 1 on node l, at this distance.
FMBEM_HD inline double smeared_distance(const Cluster& k, const Cluster& l) {
  return std::sqrt(norm2(k.centroid - l.centroid) + point_smear2(k) + point_smear2(l));
}
FMBEM_HD inline double smooth_k(const Cluster& k, const Cluster& l, Vec3d normal_l,
                                double distance) {
  return inv_4pi * l.area * dot(normal_l, k.centroid - l.centroid) /
         (distance * distance * distance);
}

/// Of a node from its halves.
FMBEM_HD inline NodeSides sides_of_halves(const Cluster& l, const NodeSides& of_l, const Cluster& r,
                                          const NodeSides& of_r) {
  const double left = l.area / (l.area + r.area), right = 1 - left, apart = smeared_distance(l, r);
  return {left * of_l.normal + right * of_r.normal,
          left * (of_l.own_k + smooth_k(l, r, of_r.normal, apart)) +
              right * (of_r.own_k + smooth_k(r, l, of_l.normal, apart)),
          of_l.inside, of_l.outside};
}

}  // namespace fmbem
