#include "fmbem/bem/space/cut_boxes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "fmbem/fmm/choice/search.hpp"

namespace fmbem {
namespace {

/// The distance within which targets are near to what is in a box, in its sides; and the side of
/// the box that a whole panel sinks to, in its lengths: means over all positions of both.
constexpr double near_sides = 1.3, whole_sides = 1.9;
/// The least part of all near entries' cost that cutting has to save; other panels have so many
/// entries a row.
constexpr double worth_it = 0.9, usual_entries = 300;

double distance_to_edge(Vec3d x, const Strip& strip) {
  const double s = std::clamp(dot(x - strip.start, strip.along), 0.0, strip.length);
  return norm(x - (strip.start + s * strip.along));
}

double narrowest(const std::vector<Strip>& strips) {
  double width = std::numeric_limits<double>::max();
  for (const Strip& strip : strips) width = std::min(width, strip.width);
  return width;
}

/// Pairs of the sample that are near in boxes of each side; sides ascend, and the last is infinite.
std::vector<double> count_near(const PanelSample& sample, const std::vector<double>& sides) {
  const std::size_t n = sides.size();
  std::vector<double> near(n);
  double* const count = near.data();
#pragma omp parallel for schedule(static) reduction(+ : count[:n])
  for (std::size_t i = 0; i < sample.targets.size(); ++i)
    for (const Strip& strip : sample.strips) {
      const double distance = distance_to_edge(sample.targets[i], strip);
      if (distance > near_sides * (whole_sides * strip.length)) continue;
      const auto side =
          std::ranges::lower_bound(sides, distance, {}, [](double s) { return near_sides * s; });
      ++count[side - sides.begin()];
    }
  std::partial_sum(near.begin(), near.end(), near.begin());
  return near;
}

}  // namespace

std::optional<CutBoxes> choose_cut_boxes(const PanelSample& sample, const PieceCosts& costs) {
  const double least = least_aspect * narrowest(sample.strips);
  std::vector<double> sides{std::numeric_limits<double>::infinity()};
  for (const double inflation : fmm::inflations)
    for (double side = 0.25 * inflation * sample.hull.side; side > least; side /= 2)
      sides.push_back(side);
  std::sort(sides.begin(), sides.end());
  const std::vector<double> near = count_near(sample, sides);

  double lengths = 0;  // with the planes of each direction that they pass
  for (const Strip& strip : sample.strips) {
    const Vec3d u = strip.along;
    lengths += strip.length * (std::abs(u.x) + std::abs(u.y) + std::abs(u.z));
  }
  const auto n = static_cast<double>(sample.panels),
             strips = static_cast<double>(sample.strips.size()),
             targets = static_cast<double>(sample.targets.size()),
             stand_for = static_cast<double>(sample.long_panels) / strips;
  // Seconds of a product; with an infinite side nothing is cut.
  const auto cost = [&](double side) {
    const double entries = near[std::ranges::lower_bound(sides, side) - sides.begin()];
    return costs.near_entry * n * (usual_entries + stand_for * entries / targets) +
           costs.piece * stand_for * (strips + lengths / side);
  };
  double best = worth_it * cost(sides.back());
  std::optional<CutBoxes> boxes;
  for (const double inflation : fmm::inflations)
    for (double side = 0.25 * inflation * sample.hull.side; side > least; side /= 2) {
      const double trial = cost(side);
      if (trial >= best) continue;
      best = trial;
      boxes = CutBoxes{{fmm::inflated(sample.hull, inflation).corner, side}, inflation};
    }
  return boxes;
}

}  // namespace fmbem
