#include "fmbem/fmm/choice/corners.hpp"

#include <mutex>
#include <tuple>

namespace fmbem::fmm {
namespace {

std::size_t places(std::vector<Vec3d>& points) {
  std::sort(points.begin(), points.end(), [](const Vec3d& a, const Vec3d& b) {
    return std::tie(a.x, a.y, a.z) < std::tie(b.x, b.y, b.z);
  });
  return static_cast<std::size_t>(std::unique(points.begin(), points.end()) - points.begin());
}

}  // namespace

bool has_copies(std::vector<Vec3d> sample) { return places(sample) < sample.size(); }
bool is_crowded(std::vector<Vec3d> sample) {
  constexpr std::size_t least_copies = 4;
  const std::size_t found = places(sample);
  return found > 1 && least_copies * found <= sample.size();  // at one place nothing acts
}

CornerWeights corner_weights(std::span<const Vec3d> points, double scale, const Cube& hull,
                             double inflation, int order) {
  CornerWeights all{};
  std::mutex adding;
#pragma omp parallel
  {
    CornerWeights mine{};
    for (int k = 0; k < corner_roots; ++k) {
      const Cube root = inflated(hull, corner_inflation(inflation, k));
      for (int level = 0; level < corner_levels; ++level) {
        const double cells = std::ldexp(1 / root.side, level + 2);
#pragma omp for schedule(static) nowait
        for (std::size_t i = 0; i < points.size(); ++i)
          mine[k][level] += corner_weight(scale * points[i], root.corner, cells, order);
      }
    }
    const std::lock_guard one_at_a_time(adding);
    for (int k = 0; k < corner_roots; ++k)
      for (int level = 0; level < corner_levels; ++level) all[k][level] += mine[k][level];
  }
  return all;
}

double inflation_off_corners(const CornerWeights& weights, double inflation, std::int64_t points,
                             int max_leaf) {
  const double leaves = static_cast<double>(points) / max_leaf;
  const int levels = std::clamp(static_cast<int>(std::ceil(std::log2(leaves) / 3)) - 1, 1,
                                corner_levels);  // from 2 on
  std::array<std::uint64_t, corner_roots> most;  // on any of them
  for (int k = 0; k < corner_roots; ++k)
    most[k] = *std::max_element(weights[k].begin(), weights[k].begin() + levels);
  const auto least = std::min_element(most.begin(), most.end());
  return corner_inflation(inflation, static_cast<int>(least - most.begin()));
}

}  // namespace fmbem::fmm
