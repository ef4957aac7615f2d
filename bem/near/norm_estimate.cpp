#include "fmbem/bem/near/norm_estimate.hpp"

#include <algorithm>
#include <vector>

#include "fmbem/bem/near/near_rows.hpp"
#include "fmbem/bem/space/panel_sources.hpp"

namespace fmbem {
namespace {

/// What targets see of a panel, or of a piece of a long one.
struct Ball {
  Vec3d centroid, half;  ///< half: of pieces, else 0
  double area, kappa;
  double over_distance(Vec3d x) const {
    return norm2(half) > 0 ? piece_size_over_distance(area, centroid, half, x)
                           : panel_size_over_distance(area, centroid, x, kappa);
  }
};

/// The first target of a row of the near lists.
std::int32_t first_target(const fmm::PointTree& tree, std::size_t row) {
  return tree.targets().order[near_row(tree, row).targets.begin];
}

}  // namespace

double crowding(const Panels& panels, double kappa) {
  // Neighbours in Morton order, in place of the nearest panels.
  constexpr std::size_t neighbours = 200, sampled = 2048;
  const std::size_t n = panels.size(), row_stride = std::max<std::size_t>(1, n / rows_of_estimate),
                    stride = std::max<std::size_t>(1, n / sampled);
  const auto ball = [&](std::size_t j) {
    const Vec3d a = panels.vertex(j, 0);
    return Ball{panels.centroid(j),
                {},
                norm(cross(panels.vertex(j, 1) - a, panels.vertex(j, 2) - a)) / 2,
                kappa};
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
  const auto n = static_cast<std::int64_t>(sources.size());
  const bool of_pieces = sources.size() > sources.unknowns();
  const std::int64_t far_stride = of_pieces ? stride_of_far_pieces(n) : 1;
  const auto ball = [&](std::int64_t j) {
    return Ball{sources.centre(j), sources.half(j), sources.area(j), kappa};
  };
  std::vector<Ball> far;
  far.reserve(n / far_stride + 1);
  for (std::int64_t j = 0; j < n; j += far_stride) far.push_back(ball(j));
  const SampledRows rows(static_cast<std::int64_t>(tree.lists.p2p.targets.size()));
  std::vector<double> near_sums(rows.count), sums(rows.count);
#pragma omp parallel for schedule(dynamic, 1)
  for (std::size_t k_row = 0; k_row < sums.size(); ++k_row) {
    const std::size_t row = k_row * rows.stride;
    const Vec3d x = targets[first_target(tree, row)];
    double sampled = 0;  // of near pieces
    for_near_sources(tree, near_row(tree, row), [&](std::int32_t j) {
      const double sum = ball(j).over_distance(x);
      near_sums[k_row] += sum;
      if (far_stride > 1 && j % far_stride == 0) sampled += sum;
    });
    for (const Ball& s : far) sums[k_row] += s.over_distance(x);
    if (far_stride > 1)
      sums[k_row] = near_sums[k_row] + static_cast<double>(far_stride) * (sums[k_row] - sampled);
  }
  return norm_estimate_of(near_sums, sums, of_pieces);
}

NormEstimate estimate_double_layer(std::span<const Vec3d> targets, std::span<const Triangle> panels,
                                   const fmm::PointTree& tree) {
  const SampledRows rows(static_cast<std::int64_t>(tree.lists.p2p.targets.size()));
  std::vector<double> near_sums(rows.count);
#pragma omp parallel for schedule(dynamic, 1)
  for (std::size_t k = 0; k < near_sums.size(); ++k) {
    const std::size_t row = k * rows.stride;
    const Vec3d x = targets[first_target(tree, row)];
    for_near_sources(tree, near_row(tree, row), [&](std::int32_t j) {
      const Triangle& panel = panels[j];
      near_sums[k] += panel_flux(panel.area * panel.normal, panel.area, panel.centroid, x);
    });
  }
  return double_layer_estimate_of(near_sums);
}

}  // namespace fmbem
