#include "fmbem/cuda/evaluation.cuh"
#include "tests/unit/cuda/device_hybrid.hpp"

namespace fmbem::test {

fmm::NearReach near_reach_on_device(Precision near_precision) {
  return cuda::near_reach(near_precision);
}

void evaluate_hybrid_on_device(const fmm::PointTree& tree, const std::vector<Vec3d>& sources,
                               const std::vector<Vec3d>& targets,
                               const DeviceHybridOptions& options, const fmm::Strengths& strengths,
                               const fmm::Fields& fields) {
  const cuda::Stream stream;
  const bool same = &sources == &targets;
  const auto y = cuda::to_device(sources, stream), x = cuda::to_device(targets, stream);
  const int most = cuda::targets_of_a_warp(options.near_precision == Precision::single_precision,
                                           true, static_cast<std::int64_t>(targets.size()));
  const auto levels =
      options.kappa == 0 ? fmm::DisplacedLevels::together : fmm::DisplacedLevels::apart;
  const cuda::PlanTree on_device = cuda::hybrid_plan_tree(tree, most, false, levels, stream);
  cuda::PlanPoints points{{y.data(), y.size()},
                          {x.data(), x.size()},
                          cuda::to_device(tree.sources.order, stream),
                          cuda::to_device(tree.other_targets.order, stream)};
  if (same) points.targets = points.sources;
  const auto evaluation =
      cuda::make_evaluation(on_device, std::move(points), fmm::ParityOrder(options.order),
                            {.precision = options.precision,
                             .near_precision = options.near_precision,
                             .root_terms = 2,
                             .third_law = false,
                             .targets_of_a_warp = most,
                             .kernel = {options.kappa, options.reach, 1},
                             .expansion = options.expansion},
                            stream);
  const auto charges = cuda::to_device(strengths.charges, stream);
  const auto dipoles = cuda::to_device(strengths.dipoles, stream);
  cuda::DeviceBuffer<double> potential(fields.potential.size(), stream);
  cuda::DeviceBuffer<Vec3d> gradient(fields.gradient.size(), stream);
  evaluation->evaluate({charges.data(), dipoles.data(), strengths.count},
                       {potential.data(), gradient.data()});
  potential.download(fields.potential.data());
  gradient.download(fields.gradient.data());
  stream.wait();
}

}  // namespace fmbem::test
