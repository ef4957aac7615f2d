#include "fmbem/bem/near/norm_estimate.hpp"

#include <algorithm>
#include <vector>

#include "fmbem/bem/near/near_rows.hpp"
#include "fmbem/bem/space/panel_sources.hpp"

namespace fmbem {
namespace {

/// What targets far away see of a panel.
struct Ball {
  Vec3d centroid;
  double area, kappa;
  double over_distance(Vec3d x) const { return panel_size_over_distance(area, centroid, x, kappa); }
};

}  // namespace

double crowding(const Panels& panels, double kappa) {
  // Neighbours in Morton order, in place of the nearest panels.
  constexpr std::size_t neighbours = 200, sampled = 2048;
  const std::size_t n = panels.size(), row_stride = std::max<std::size_t>(1, n / rows_of_estimate),
                    stride = std::max<std::size_t>(1, n / sampled);
  const auto ball = [&](std::size_t j) {
    const Vec3d a = panels.vertex(j, 0);
    return Ball{panels.centroid(j),
                norm(cross(panels.vertex(j, 1) - a, panels.vertex(j, 2) - a)) / 2, kappa};
  };
  std::vector<Ball> samples;
  for (std::size_t j = stride / 2; j < n; j += stride) samples.push_back(ball(j));
  double largest = 0, sum = 0;
  std::size_t rows = 0;
  for (std::size_t i = row_stride / 2; i < n; i += row_stride, ++rows) {
    const Vec3d x = panels.centroid(i);
    const std::size_t begin = i - std::min(i, neighbours), end = std::min(n, i + neighbours);
    double close = 0, others = 0;
    for (std::size_t j = begin; j < end; ++j) close += ball(j).over_distance(x);
    for (std::size_t k = 0; k < samples.size(); ++k)
      if (const std::size_t j = stride / 2 + k * stride; j < begin || j >= end)
        others += samples[k].over_distance(x);
    largest = std::max(largest, close);
    sum += close + static_cast<double>(stride) * others;
  }
  return largest * static_cast<double>(rows) / sum;
}

NormEstimate estimate_norm(std::span<const Vec3d> targets, const PanelSources& sources,
                           const fmm::PointTree& tree, double kappa) {
  const fmm::NearLists& near = tree.lists.p2p;
  std::vector<Ball> balls;
  balls.reserve(sources.size());
  for (std::size_t j = 0; j < sources.size(); ++j)
    balls.push_back({sources.centre(j), sources.area(j), kappa});
  const std::size_t rows = near.targets.size(),
                    stride = std::max<std::size_t>(1, rows / rows_of_estimate);
  std::vector<double> near_sums((rows + stride - 1) / stride), sums(near_sums.size());
#pragma omp parallel for schedule(dynamic, 1)
  for (std::size_t k_row = 0; k_row < sums.size(); ++k_row) {
    const std::size_t row = k_row * stride;
    const std::int32_t target = tree.octree.boxes[near.targets[row]].targets.begin;
    const Vec3d x = targets[tree.targets().order[target]];
    for_near_sources(tree, near_row(tree, row),
                     [&](std::int32_t j) { near_sums[k_row] += balls[j].over_distance(x); });
    for (const Ball& s : balls) sums[k_row] += s.over_distance(x);
  }
  return norm_estimate_of(near_sums, sums, sources.size() > sources.unknowns());
}

}  // namespace fmbem
