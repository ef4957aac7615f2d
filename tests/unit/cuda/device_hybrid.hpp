#pragma once

#include "fmbem/fmm/expansion/parity_order.hpp"
#include "fmbem/fmm/lists/reach.hpp"
#include "fmbem/fmm/plan.hpp"
#include "fmbem/fmm/tree/point_tree.hpp"

namespace fmbem::test {

/// What near lists reach on the device.
fmm::NearReach near_reach_on_device(Precision near_precision);

struct DeviceHybridOptions {
  int order;
  Precision precision, near_precision;
  fmm::Expansion expansion = fmm::Expansion::spherical;
  double kappa = 0, reach = fmm::endless;  ///< of Yukawa's kernel
};

/// Evaluates a tree with the lists of a hybrid on the device. Points are as the tree was made of,
/// of a scale of 1; one array as sources and targets is one set of points.
void evaluate_hybrid_on_device(const fmm::PointTree& tree, const std::vector<Vec3d>& sources,
                               const std::vector<Vec3d>& targets,
                               const DeviceHybridOptions& options, const fmm::Strengths& strengths,
                               const fmm::Fields& fields);

}  // namespace fmbem::test
