#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "fmbem/fmm/base/buffer.hpp"

// Passes over many numbers by all threads whose results are the same, to the bit, for any number of
// threads: what is counted or added up goes by chunks, whose bounds do not depend on threads.

namespace fmbem {

/// The numbers 0 … n − 1, cut into chunks of which a thread takes one at a time. There are at most
/// 256, and so few that `groups` counts kept for each of them are no more than n in all.
struct Chunks {
  explicit Chunks(std::int64_t numbers, std::int64_t groups = 1)
      : n(numbers), size(std::max({std::int64_t{1} << 14, (numbers + 255) / 256, groups})) {}

  /// Chunks of `least` numbers or more, where these few are worth a thread.
  static Chunks of_size(std::int64_t least, std::int64_t numbers) {
    Chunks chunks(numbers);
    chunks.size = std::max(least, (numbers + 255) / 256);
    return chunks;
  }

  std::int64_t count() const { return (n + size - 1) / size; }

  /// Calls body(chunk, first, last) for each, in parallel.
  template <class Body>
  void for_each(Body&& body) const {
    const std::int64_t chunks = count();
#pragma omp parallel for schedule(static) if (chunks > 1)
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
      body(chunk, chunk * size, std::min((chunk + 1) * size, n));
  }

  std::int64_t n, size;
};

/// What of(part) holds of each part, one after the other.
template <class Part, class Of>
auto joined(const std::vector<Part>& parts, Of&& of) {
  using T = typename std::decay_t<decltype(of(parts.front()))>::value_type;
  std::vector<std::size_t> begin(parts.size() + 1);
  for (std::size_t k = 0; k < parts.size(); ++k) begin[k + 1] = begin[k] + of(parts[k]).size();
  LargeVector<T> all(begin.back());
#pragma omp parallel for schedule(dynamic) if (parts.size() > 1)
  for (std::size_t k = 0; k < parts.size(); ++k)
    std::copy(of(parts[k]).begin(), of(parts[k]).end(), all.begin() + begin[k]);
  return all;
}

/// What body(first, last, found) adds to `found` for each chunk, in their order.
template <class T, class Body>
LargeVector<T> found_in_chunks(const Chunks& chunks, Body&& body) {
  std::vector<std::vector<T>> of_chunk(chunks.count());
  chunks.for_each([&](std::int64_t chunk, std::int64_t first, std::int64_t last) {
    std::vector<T> found;
    body(first, last, found);
    of_chunk[chunk] = std::move(found);
  });
  return joined(
      of_chunk, [](const std::vector<T>& found) -> const auto& { return found; });
}

/// A copy by all threads.
template <class T>
LargeVector<T> copied(std::span<const T> from) {
  const auto n = static_cast<std::int64_t>(from.size());
  LargeVector<T> to(n);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < n; ++i) to[i] = from[i];
  return to;
}

/// To as many, by all threads.
inline void copy_numbers(std::span<const double> from, std::span<double> to) {
  const auto n = static_cast<std::int64_t>(from.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < n; ++i) to[i] = from[i];
}

/// The sum of of(0) … of(n − 1).
template <class Of>
double sum_of(std::int64_t n, Of&& of) {
  const Chunks chunks(n);
  std::vector<double> of_chunk(chunks.count());
  chunks.for_each([&](std::int64_t chunk, std::int64_t first, std::int64_t last) {
    double sum = 0;
    for (std::int64_t i = first; i < last; ++i) sum += of(i);
    of_chunk[chunk] = sum;
  });
  double sum = 0;
  for (const double own : of_chunk) sum += own;
  return sum;
}

/// Of values that are not none.
template <class T>
struct Extremes {
  T least, most;
};
template <class T>
Extremes<T> extremes_of(std::span<const T> values) {
  T least = values[0], most = values[0];
  const auto n = static_cast<std::int64_t>(values.size());
#pragma omp parallel for schedule(static) reduction(min : least) reduction(max : most)
  for (std::int64_t i = 0; i < n; ++i) {
    least = std::min(least, values[i]);
    most = std::max(most, values[i]);
  }
  return {least, most};
}

/// [groups]: the sums of of(i) over the numbers i with group_of(i) = group.
template <class Sum, class Group, class Of>
std::vector<Sum> sums_of_groups(std::int64_t n, std::int64_t groups, Group&& group_of, Of&& of) {
  const Chunks chunks(n, groups);
  std::vector<std::vector<Sum>> of_chunk(chunks.count());
  chunks.for_each([&](std::int64_t chunk, std::int64_t first, std::int64_t last) {
    std::vector<Sum> sums(groups, Sum{});
    for (std::int64_t i = first; i < last; ++i) sums[group_of(i)] += of(i);
    of_chunk[chunk] = std::move(sums);
  });
  std::vector<Sum> sums(groups, Sum{});
  for (const std::vector<Sum>& own : of_chunk)
    for (std::int64_t group = 0; group < groups; ++group) sums[group] += own[group];
  return sums;
}

/// Numbers by groups, ascending in each.
struct GroupOrder {
  LargeVector<std::int32_t> number;
  std::vector<std::int32_t> begin;  ///< [groups + 1]

  std::span<const std::int32_t> operator[](std::size_t group) const {
    return std::span<const std::int32_t>(number).subspan(begin[group],
                                                         begin[group + 1] - begin[group]);
  }
};

/// The numbers 0 … n − 1 by group_of(number), from 0 to `groups` − 1.
template <class Group>
GroupOrder sort_by_group(std::int64_t n, std::int64_t groups, Group&& group_of) {
  const Chunks chunks(n, groups);
  std::vector<std::vector<std::int32_t>> next(chunks.count());  // a chunk's places in each group
  chunks.for_each([&](std::int64_t chunk, std::int64_t first, std::int64_t last) {
    std::vector<std::int32_t> count(groups, 0);
    for (std::int64_t i = first; i < last; ++i) ++count[group_of(i)];
    next[chunk] = std::move(count);
  });
  GroupOrder order{LargeVector<std::int32_t>(n), std::vector<std::int32_t>(groups + 1)};
  std::int32_t at = 0;
  for (std::int64_t group = 0; group < groups; ++group) {
    order.begin[group] = at;
    for (std::vector<std::int32_t>& of_chunk : next) at += std::exchange(of_chunk[group], at);
  }
  order.begin[groups] = at;
  chunks.for_each([&](std::int64_t chunk, std::int64_t first, std::int64_t last) {
    std::vector<std::int32_t>& place = next[chunk];
    for (std::int64_t i = first; i < last; ++i)
      order.number[place[group_of(i)]++] = static_cast<std::int32_t>(i);
  });
  return order;
}

/// The numbers from 0 to n − 1 for which is_chosen(number) holds, ascending.
template <class Chosen>
std::vector<std::int32_t> numbers_where(std::int64_t n, Chosen&& is_chosen) {
  const Chunks chunks(n);
  std::vector<std::int64_t> place(chunks.count());
  chunks.for_each([&](std::int64_t chunk, std::int64_t first, std::int64_t last) {
    std::int64_t count = 0;
    for (std::int64_t i = first; i < last; ++i) count += is_chosen(i) ? 1 : 0;
    place[chunk] = count;
  });
  std::int64_t at = 0;
  for (std::int64_t& of_chunk : place) at += std::exchange(of_chunk, at);
  std::vector<std::int32_t> numbers(at);
  chunks.for_each([&](std::int64_t chunk, std::int64_t first, std::int64_t last) {
    std::int64_t to = place[chunk];
    for (std::int64_t i = first; i < last; ++i)
      if (is_chosen(i)) numbers[to++] = static_cast<std::int32_t>(i);
  });
  return numbers;
}

}  // namespace fmbem
