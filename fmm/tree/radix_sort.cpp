#include "fmbem/fmm/tree/radix_sort.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <omp.h>

#include "fmbem/fmm/base/buffer.hpp"
#include "fmbem/fmm/tree/morton_bits.hpp"

namespace fmbem::fmm {
namespace {

/// Bits of a pass, whose counters are to stay in the first cache, and passes until groups of equal
/// bits are looked at: 11 levels, which tell most points of a cloud from each other.
constexpr int bits_of_pass = 11, passes = 3;
constexpr std::size_t digits = std::size_t{1} << bits_of_pass;
/// Up to so many points comparing is faster than counting, and so many are worth a thread.
constexpr std::size_t few = 2048, points_of_a_thread = 50'000;

std::size_t digit(const KeyedPoint& point, int shift) { return point.key >> shift & (digits - 1); }

/// Sorts by one digit, stably; not where all have the same. Returns whether it did.
bool sort_by_digit(std::span<const KeyedPoint> from, KeyedPoint* to, int shift) {
  const std::size_t n = from.size();
  const int threads =
      std::clamp(static_cast<int>(n / points_of_a_thread), 1, omp_get_max_threads());
  std::vector<std::array<std::size_t, digits>> place(threads);
  const auto of_thread = [&](int t) { return std::pair{n * t / threads, n * (t + 1) / threads}; };
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int t = 0; t < threads; ++t) {
    const auto [begin, end] = of_thread(t);
    place[t].fill(0);
    for (std::size_t i = begin; i < end; ++i) ++place[t][digit(from[i], shift)];
  }
  std::size_t before = 0;
  for (std::size_t d = 0; d < digits; ++d) {
    const std::size_t begin = before;
    for (auto& of : place) before += std::exchange(of[d], before);
    if (before - begin == n) return false;
  }
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int t = 0; t < threads; ++t) {
    const auto [begin, end] = of_thread(t);
    for (std::size_t i = begin; i < end; ++i) to[place[t][digit(from[i], shift)]++] = from[i];
  }
  return true;
}

bool is_before(const KeyedPoint& a, const KeyedPoint& b) {
  return a.key != b.key ? a.key < b.key : a.index < b.index;
}

/// Sorts points that agree in all bits from `top` on.
void sort_below(std::span<KeyedPoint> points, int top, KeyedPoint* spare) {
  if (top <= 0) return;  // stable passes left equal keys in the order of their indices
  KeyedPoint *now = points.data(), *next = spare;
  const int low = std::max(0, top - passes * bits_of_pass);
  for (int shift = low; shift < top; shift += bits_of_pass)
    if (sort_by_digit({now, points.size()}, next, shift)) std::swap(now, next);
  if (now != points.data()) std::copy_n(now, points.size(), points.data());
  const std::size_t n = points.size(), stretch = few, stretches = (n + stretch - 1) / stretch;
  const auto starts = [&](std::size_t i) {  // a group of points that agree in all bits from low on
    return i == 0 || points[i].key >> low != points[i - 1].key >> low;
  };
  // Where the groups of each stretch begin is found before any are sorted: a thread then looks at
  // no points but those of the groups that begin in its own.
  std::vector<std::size_t> first(stretches + 1, n);
#pragma omp parallel for schedule(static)
  for (std::size_t s = 0; s < stretches; ++s)
    for (std::size_t i = s * stretch; i < std::min(n, (s + 1) * stretch) && first[s] == n; ++i)
      if (starts(i)) first[s] = i;
  for (std::size_t s = stretches; s-- > 0;) first[s] = std::min(first[s], first[s + 1]);
  std::vector<std::pair<std::size_t, std::size_t>> large(stretches);  // at most one begins in each
#pragma omp parallel for schedule(static)
  for (std::size_t s = 0; s < stretches; ++s)
    for (std::size_t begin = first[s], end = begin; begin < first[s + 1]; begin = end) {
      for (++end; end < first[s + 1] && !starts(end);) ++end;
      if (end - begin > few)
        large[s] = {begin, end};
      else if (end - begin > 1)
        std::sort(points.data() + begin, points.data() + end, is_before);
    }
  for (const auto& [begin, end] : large)
    if (begin < end) sort_below(points.subspan(begin, end - begin), low, spare);
}

}  // namespace

void radix_sort(std::span<KeyedPoint> points) {
  if (points.size() <= few) return std::sort(points.begin(), points.end(), is_before);
  const Buffer<KeyedPoint> spare(points.size());
  sort_below(points, 3 * deepest_level, spare.data());
}

}  // namespace fmbem::fmm
