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

/// Levels from the second on of a uniform tree of so many points with such leaves.
int levels_of(std::int64_t points, int max_leaf) {
  const double leaves = static_cast<double>(points) / max_leaf;
  return std::clamp(static_cast<int>(std::ceil(std::log2(leaves) / 3)) - 1, 1, corner_levels);
}

/// The largest weight of each root on so many of the levels.
std::array<double, corner_roots> largest_weights(const CornerWeights& weights, int levels) {
  std::array<double, corner_roots> largest{};
  for (int k = 0; k < corner_roots; ++k)
    largest[k] =
        static_cast<double>(*std::max_element(weights[k].begin(), weights[k].begin() + levels));
  return largest;
}

}  // namespace

bool has_copies(std::vector<Vec3d> sample) { return places(sample) < sample.size(); }
bool is_crowded(std::vector<Vec3d> sample) {
  constexpr std::size_t least_copies = 4;
  const std::size_t found = places(sample);
  return found > 1 && least_copies * found <= sample.size();  // at one place nothing acts
}

bool is_on_lattice(std::vector<Vec3d> sample) {
  if (sample.empty()) return false;
  std::size_t most = 0;  // values of a coordinate
  std::vector<double> values(sample.size());
  for (int axis = 0; axis < 3; ++axis) {
    for (std::size_t k = 0; k < sample.size(); ++k) values[k] = sample[k][axis];
    std::sort(values.begin(), values.end());
    // Rounding makes several values of one.
    const double rounding = 1e-12 * (values.back() - values.front());
    std::size_t found = 1;
    for (std::size_t k = 1; k < values.size(); ++k) found += values[k] - values[k - 1] > rounding;
    most = std::max(most, found);
    if (2 * most > values.size()) return false;
  }
  return 2 * most <= places(sample);  // copies have the values of one
}

std::vector<Cube> roots_of_lattice(const Hull& hull) {
  std::vector<Cube> roots;
  for (const double inflation : inflations_of_lattices)
    roots.push_back(inflated(hull, inflation, true));
  return roots;
}

std::vector<Cube> roots_beside(const Hull& hull, double inflation) {
  std::vector<Cube> roots;
  for (int k = 0; k < corner_roots; ++k)
    roots.push_back(inflated(hull, inflation_beside(inflation, k)));
  return roots;
}

CornerWeights corner_weights(std::span<const Vec3d> points, double scale,
                             std::span<const Cube> roots, int order) {
  CornerWeights all{};
  std::mutex adding;
#pragma omp parallel
  {
    CornerWeights mine{};
    for (int k = 0; k < corner_roots; ++k)
      for (int level = 0; level < corner_levels; ++level) {
        const double cells = std::ldexp(1 / roots[k].side, level + 2);
#pragma omp for schedule(static) nowait
        for (std::size_t i = 0; i < points.size(); ++i)
          mine[k][level] += corner_weight(scale * points[i], roots[k].corner, cells, order);
      }
    const std::lock_guard one_at_a_time(adding);
    for (int k = 0; k < corner_roots; ++k)
      for (int level = 0; level < corner_levels; ++level) all[k][level] += mine[k][level];
  }
  return all;
}

std::vector<int> roots_off_corners(const CornerWeights& weights, std::int64_t points,
                                   int smallest_leaf) {
  constexpr double enough = 1.3;
  const int levels = levels_of(points, smallest_leaf);
  std::array<bool, corner_roots> serves;
  serves.fill(true);
  for (int first = 1; first <= levels; ++first) {  // leaves may be larger
    const auto largest = largest_weights(weights, first);
    const double limit = enough * *std::min_element(largest.begin(), largest.end());
    for (int k = 0; k < corner_roots; ++k) serves[k] = serves[k] && largest[k] <= limit;
  }
  std::vector<int> roots;
  for (int k = 0; k < corner_roots; ++k)
    if (serves[k]) roots.push_back(k);
  if (roots.empty()) roots.push_back(root_off_corners(weights, points, smallest_leaf));
  return roots;
}

int root_off_corners(const CornerWeights& weights, std::int64_t points, int max_leaf) {
  const auto largest = largest_weights(weights, levels_of(points, max_leaf));
  return static_cast<int>(std::min_element(largest.begin(), largest.end()) - largest.begin());
}

}  // namespace fmbem::fmm
