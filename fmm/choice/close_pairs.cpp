#include "fmbem/fmm/choice/close_pairs.hpp"

#include <cmath>
#include <mutex>

#include "fmbem/fmm/base/vec3.hpp"
#include "fmbem/fmm/choice/policy.hpp"

namespace fmbem::fmm {
namespace {

constexpr std::uint64_t least_left_out = 32, part_left_out = 1000;
/// Of fewer points, those left out would be more than a hundredth.
constexpr std::uint64_t least_points = 100 * least_left_out;

/// Smaller leaves have larger errors than stretches tell. Default ones are not smaller, but at low
/// orders, for which the factor of policy.cpp holds, too.
constexpr int least_given_leaf = 2 * least_stretch;

/// That of a least stretch within 2^-19.5 of the root's side. Keys of 64 bits do not tell such
/// points from each other, so that their order, which is that of their neighbours, depends on the
/// backend.
constexpr double too_crowded = 0x1p78;

/// The lower end of a bin; that of the first is 0.
double magnitude_of(int bin) {
  if (bin == 0) return 0;
  return std::ldexp(1 + static_cast<double>(bin % bins_of_power) / bins_of_power,
                    bin / bins_of_power + least_power);
}

/// S_i with Yukawa's kernel, from below: a pair has e^{−2κr} (1 + κr)²/r⁴ in the place of 1/r⁴,
/// which is convex in the latter, so that the least is that of neighbours which are all as far.
double screened(double sum, double kappa) {
  constexpr int neighbours = 2 * neighbours_a_side;
  const double kr = kappa * std::pow(neighbours / sum, 0.25), of_one = (1 + kr) * std::exp(-kr);
  return sum * of_one * of_one;
}

/// Counts the stretches in a largest one.
void count_extents(const SortedPoints& points, std::int64_t begin, PairCounts& counts) {
  constexpr int parts = largest_stretch / least_stretch;
  std::array<Vec3d, parts> low, high;
  for (int part = 0; part < parts; ++part) {
    const std::int64_t first = begin + part * least_stretch;
    const auto bounds = [&](const LargeVector<double>& axis) {
      return std::minmax_element(axis.begin() + first, axis.begin() + first + least_stretch);
    };
    const auto x = bounds(points.x), y = bounds(points.y), z = bounds(points.z);
    low[part] = {*x.first, *y.first, *z.first};
    high[part] = {*x.second, *y.second, *z.second};
  }
  for (int size = 1; size <= parts; size *= 2)
    for (int first = 0; first < parts; first += size) {
      double extent = 0;
      for (int axis = 0; axis < 3; ++axis) {
        double lowest = low[first][axis], highest = high[first][axis];
        for (int part = first + 1; part < first + size; ++part) {
          lowest = std::min(lowest, low[part][axis]);
          highest = std::max(highest, high[part][axis]);
        }
        extent = std::max(extent, highest - lowest);
      }
      ++counts.stretches[magnitude_bin(stretch_magnitude(size * least_stretch, extent))];
    }
}

/// Counts the points of a largest stretch, and the stretches in it if it is whole.
void count_stretch(const SortedPoints& points, std::int64_t begin, PairCounts& counts) {
  constexpr int around = neighbours_a_side;
  const auto n = static_cast<std::int64_t>(points.size());
  const std::int64_t end = std::min(n, begin + largest_stretch);
  if (end - begin == largest_stretch) count_extents(points, begin, counts);
  std::array<double, largest_stretch> sums{};
  const auto add = [&](std::int64_t first, std::int64_t last, std::int64_t step) {
    for (std::int64_t i = first; i < last; ++i)
      sums[i - begin] +=
          inverse_fourth_power(points.x[i] - points.x[i + step], points.y[i] - points.y[i + step],
                               points.z[i] - points.z[i + step]);
  };
  for (int step = 1; step <= around; ++step) {
    add(std::max<std::int64_t>(begin, step), end, -step);
    add(begin, std::min(end, n - step), step);
  }
  for (std::int64_t i = begin; i < end; ++i) ++counts.points[magnitude_bin(sums[i - begin])];
}

}  // namespace

PairCounts count_pairs(const SortedPoints& points) {
  const auto n = static_cast<std::int64_t>(points.size());
  PairCounts all;
  std::mutex adding;
#pragma omp parallel
  {
    PairCounts mine;
#pragma omp for schedule(static) nowait
    for (std::int64_t begin = 0; begin < n; begin += largest_stretch)
      count_stretch(points, begin, mine);
    const std::lock_guard one_at_a_time(adding);
    for (int bin = 0; bin < magnitude_bins; ++bin) {
      all.points[bin] += mine.points[bin];
      all.stretches[bin] += mine.stretches[bin];
    }
  }
  return all;
}

double gradient_over_far(const PairCounts& counts, double kappa) {
  std::uint64_t n = 0;
  for (const std::uint32_t of_bin : counts.points) n += of_bin;
  if (n < least_points) return 0;
  std::uint64_t left_out = std::max(least_left_out, n / part_left_out);
  double pairs = 0, stretches = 0;
  for (int bin = magnitude_bins - 1; bin > 0; --bin) {
    const std::uint64_t here = counts.points[bin], skipped = std::min(left_out, here);
    left_out -= skipped;
    pairs += screened(magnitude_of(bin), kappa) * static_cast<double>(here - skipped);
  }
  for (int bin = 0; bin < magnitude_bins; ++bin) {
    if (counts.stretches[bin] == 0) continue;
    if (magnitude_of(bin) >= too_crowded) return 0;
    stretches += magnitude_of(bin + 1) * counts.stretches[bin];  // by its upper end
  }
  constexpr double sizes = 3, square = least_stretch * least_stretch;
  return std::sqrt(sizes * pairs / (square * stretches));
}

bool weighs_close_pairs(const PlanOptions& options, bool sources_are_targets) {
  return weighs_branching(options, sources_are_targets) && options.gradient &&
         (options.method == Method::hybrid ||  // which merges leaves that are too small
          options.max_leaf.value_or(least_given_leaf) >= least_given_leaf);
}

}  // namespace fmbem::fmm
