#include "fmbem/bem/space/panel_pieces.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "fmbem/fmm/base/bounds.hpp"
#include "fmbem/fmm/choice/search.hpp"

namespace fmbem {
namespace {

/// Panels of the sample by which boxes are chosen.
constexpr std::size_t sampled_targets = 128, sampled_sources = 2048;
/// The distance within which targets are near to what is in a box, in its sides; and the side of
/// the box that a whole panel sinks to, in its lengths: means over all positions of both.
constexpr double near_sides = 1.3, whole_sides = 1.9;
/// Boxes are at least this many times as large as a panel is wide.
constexpr double least_aspect = 4;
/// The least part of all near entries' cost that cutting has to save; other panels have so many
/// entries a row.
constexpr double worth_it = 0.9, usual_entries = 300;
/// A piece may stick out of its box by this part of a side: less than panel_overhang, because it
/// has a width, too.
constexpr double end_overhang = 0.05;

/// The places where the strip passes from box to box, ascending, without those close to its ends;
/// and the apex, if there is any such place.
void find_cuts(const Strip& strip, const BoxPlanes& planes, std::vector<double>& cuts) {
  cuts.clear();
  const double side = std::max(planes.side, least_aspect * strip.width);
  for (int axis = 0; axis < 3; ++axis) {
    const double step = strip.along[axis], from = strip.start[axis] - planes.corner[axis],
                 to = from + step * strip.length, low = std::min(from, to),
                 high = std::max(from, to), end = end_overhang * side;
    if (step == 0) continue;
    for (double k = std::ceil((low + end) / side); k * side < high - end; ++k)
      cuts.push_back((k * side - from) / step);
  }
  // A cut at the apex makes each piece a trapezoid.
  if (!cuts.empty() && strip.apex > 0 && strip.apex < strip.length) cuts.push_back(strip.apex);
  std::sort(cuts.begin(), cuts.end());
  // Planes of two directions may be passed at the same place, up to rounding.
  const double same = 1e-9 * strip.length;
  cuts.erase(
      std::unique(cuts.begin(), cuts.end(), [&](double a, double b) { return b - a < same; }),
      cuts.end());
}

double distance_to_edge(Vec3d x, const Strip& strip) {
  const double s = std::clamp(dot(x - strip.start, strip.along), 0.0, strip.length);
  return norm(x - (strip.start + s * strip.along));
}

std::size_t stride_of(std::size_t n, std::size_t wanted) {
  return std::max<std::size_t>(1, n / wanted);
}

/// What cutting at the planes of boxes of some side would cost, from samples.
class CostOfBoxes {
 public:
  CostOfBoxes(std::span<const Triangle> panels, std::span<const std::int32_t> long_panels,
              const PieceCosts& costs)
      : costs_(costs), n_(static_cast<double>(panels.size())) {
    const std::size_t stride = stride_of(long_panels.size(), sampled_sources);
    for (std::size_t k = stride / 2; k < long_panels.size(); k += stride)
      strips_.push_back(make_strip(panels[long_panels[k]]));
    stand_for_ = static_cast<double>(long_panels.size()) / static_cast<double>(strips_.size());
    std::vector<Vec3d> targets;
    const std::size_t target_stride = stride_of(panels.size(), sampled_targets);
    for (std::size_t i = target_stride / 2; i < panels.size(); i += target_stride)
      targets.push_back(panels[i].centroid);
    targets_ = static_cast<double>(targets.size());
    distance_.resize(targets.size() * strips_.size());
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < targets.size(); ++i)
      for (std::size_t j = 0; j < strips_.size(); ++j)
        distance_[i * strips_.size() + j] = distance_to_edge(targets[i], strips_[j]);
  }

  double narrowest() const {
    double width = std::numeric_limits<double>::max();
    for (const Strip& strip : strips_) width = std::min(width, strip.width);
    return width;
  }

  /// Seconds of a product; with an infinite side nothing is cut.
  double operator()(double side) const {
    double near = 0, pieces = 0;
    const std::size_t n_strips = strips_.size();
#pragma omp parallel for schedule(static) reduction(+ : near)
    for (std::size_t k = 0; k < distance_.size(); ++k)
      near +=
          distance_[k] <= near_sides * std::min(side, whole_sides * strips_[k % n_strips].length);
    for (const Strip& strip : strips_) {
      const Vec3d u = strip.along;
      pieces += 1 + strip.length * (std::abs(u.x) + std::abs(u.y) + std::abs(u.z)) / side;
    }
    return costs_.near_entry * n_ * (usual_entries + stand_for_ * near / targets_) +
           costs_.piece * stand_for_ * pieces;
  }

 private:
  PieceCosts costs_;
  double n_, stand_for_ = 1, targets_ = 1;
  std::vector<Strip> strips_;
  std::vector<double> distance_;  ///< [targets][strips]
};

/// The cube that the tree is made in, before it is inflated.
Cube hull_of(std::span<const Triangle> panels) {
  const auto [low, high] =
      coordinate_bounds(3 * static_cast<std::int64_t>(panels.size()),
                        [&](std::int64_t k) { return panels[k / 3].vertex[k % 3]; });
  return bounding_cube(low, high);
}

/// Numbers of the long ones, ascending.
std::vector<std::int32_t> find_long(std::span<const Triangle> panels) {
  const auto n = static_cast<std::int64_t>(panels.size());
  std::vector<char> found(n);
  std::int64_t count = 0;
#pragma omp parallel for schedule(static) reduction(+ : count)
  for (std::int64_t j = 0; j < n; ++j) count += found[j] = is_long(panels[j]);
  std::vector<std::int32_t> numbers;
  if (count == 0) return numbers;
  numbers.reserve(count);
  for (std::int64_t j = 0; j < n; ++j)
    if (found[j]) numbers.push_back(static_cast<std::int32_t>(j));
  return numbers;
}

}  // namespace

PanelPieces::PanelPieces(std::span<const Triangle> panels, const BoxPlanes& planes,
                         double inflation)
    : inflation_(inflation), begin_(panels.size() + 1) {
  const auto n = static_cast<std::int64_t>(panels.size());
  const auto cut = [&](std::int64_t j, std::vector<double>& cuts) {
    cuts.clear();
    if (is_long(panels[j])) find_cuts(make_strip(panels[j]), planes, cuts);
  };
#pragma omp parallel
  {
    std::vector<double> cuts;
#pragma omp for schedule(static)
    for (std::int64_t j = 0; j < n; ++j) {
      cut(j, cuts);
      begin_[j + 1] = static_cast<std::int32_t>(cuts.size()) + 1;
    }
  }
  begin_[0] = 0;
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  panel_.resize(begin_[n]);
  place_.resize(begin_[n] + n);
#pragma omp parallel
  {
    std::vector<double> cuts;
#pragma omp for schedule(static)
    for (std::int64_t j = 0; j < n; ++j) {
      cut(j, cuts);
      std::fill(panel_.begin() + begin_[j], panel_.begin() + begin_[j + 1],
                static_cast<std::int32_t>(j));
      const auto places = place_.begin() + begin_[j] + j;
      *places = 0;
      std::copy(cuts.begin(), cuts.end(), places + 1);
      places[static_cast<std::ptrdiff_t>(cuts.size()) + 1] = longest_length(panels[j]);
    }
  }
}

std::shared_ptr<const PanelPieces> cut_long_panels(std::span<const Triangle> panels,
                                                   const PieceCosts& costs) {
  const std::vector<std::int32_t> long_panels = find_long(panels);
  if (long_panels.empty()) return nullptr;
  const CostOfBoxes cost(panels, long_panels, costs);
  const Cube hull = hull_of(panels);
  const double uncut = cost(std::numeric_limits<double>::infinity());
  double best = worth_it * uncut;
  std::shared_ptr<const PanelPieces> pieces;
  BoxPlanes planes{};
  double best_inflation = 0;
  for (const double inflation : fmm::inflations)
    for (double side = 0.25 * inflation * hull.side; side > least_aspect * cost.narrowest();
         side /= 2) {
      const double trial = cost(side);
      if (trial >= best) continue;
      best = trial;
      best_inflation = inflation;
      planes = {fmm::inflated(hull, inflation).corner, side};
    }
  if (best_inflation == 0) return nullptr;
  return std::make_shared<PanelPieces>(panels, planes, best_inflation);
}

}  // namespace fmbem
