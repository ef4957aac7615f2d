#include "fmbem/bem/near/norm_estimate.hpp"

#include <vector>

#include "fmbem/bem/near/near_rows.hpp"
#include "fmbem/bem/space/panel_sources.hpp"

namespace fmbem {

NormEstimate estimate_norm(std::span<const Vec3d> targets, const PanelSources& sources,
                           const fmm::PointTree& tree) {
  const fmm::NearLists& near = tree.lists.p2p;
  struct Ball {
    Vec3d centroid;
    double area;
  };
  std::vector<Ball> balls;
  balls.reserve(sources.size());
  for (std::size_t j = 0; j < sources.size(); ++j)
    balls.push_back({sources.centre(j), sources.area(j)});
  const std::size_t rows = near.targets.size(),
                    stride = std::max<std::size_t>(1, rows / rows_of_estimate);
  std::vector<double> near_sums((rows + stride - 1) / stride), sums(near_sums.size());
#pragma omp parallel for schedule(dynamic, 1)
  for (std::size_t k_row = 0; k_row < sums.size(); ++k_row) {
    const std::size_t row = k_row * stride;
    const std::int32_t target = tree.octree.boxes[near.targets[row]].targets.begin;
    const Vec3d x = targets[tree.targets().order[target]];
    const auto part = [&](const Ball& s) {
      return panel_size_over_distance(s.area, s.centroid, x);
    };
    for_near_sources(tree, near_row(tree, row),
                     [&](std::int32_t j) { near_sums[k_row] += part(balls[j]); });
    for (const Ball& s : balls) sums[k_row] += part(s);
  }
  return norm_estimate_of(near_sums, sums, sources.size() > sources.unknowns());
}

}  // namespace fmbem
