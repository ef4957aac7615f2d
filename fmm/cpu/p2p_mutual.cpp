// P2P by Newton's third law: each pair of leaves once, where the sources are the targets.
#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "fmbem/fmm/cpu/near_tile.hpp"

namespace fmbem::fmm {
namespace {

/// How many pairs make a chunk, and how many chunks there are at most, which is enough for many
/// threads.
constexpr std::int64_t pairs_of_a_chunk = std::int64_t{1} << 20;
constexpr std::int64_t most_chunks = 256;
/// The same where each chunk owes to all later points: 2 GiB of four results.
constexpr std::int64_t points_of_buffers = std::int64_t{1} << 27;

/// Points of other leaves that are summed at once: they fit the first cache with their sums.
constexpr int most_others = 512;

template <class T>
int results_wanted(const Pass<T>& pass) {
  int wanted = 0;
  for (int k = 0; k < 4; ++k) wanted += is_wanted(pass, k);
  return wanted;
}

/// Where sums go: the results of all points, and a chunk's part of the buffer. Null for a result
/// that is not asked for.
struct Totals {
  std::array<double*, 4> results{}, buffers{};
};

template <class T>
Totals totals_of(Pass<T>& pass, int vector, const MutualChunk& chunk) {
  Totals totals;
  double* buffer = pass.near_buffer.data() + results_wanted(pass) * chunk.buffer_begin;
  for (int k = 0; k < 4; ++k) {
    if (!is_wanted(pass, k)) continue;
    totals.results[k] =
        pass.result(k).data() + vector * static_cast<std::int64_t>(pass.tree.targets().size());
    totals.buffers[k] = buffer;
    buffer += chunk.buffer_points;
  }
  return totals;
}

/// Points with charges and room for their sums, padded to whole registers.
template <class N>
class MutualPoints {
 public:
  void resize(int n, const std::array<double*, 4>& wanted) {
    count_ = n;
    padded_ = whole_registers(cpu_kernels<N>(), n);
    for (auto& axis : place_) axis.resize(padded_);
    charge_.resize(padded_);
    for (int k = 0; k < 4; ++k)
      // One register more, which `scatter` may read.
      sums_[k].resize(wanted[k] ? padded_ + cpu_kernels<N>().lanes : 0);
  }

  template <class T>
  void fill(const NearCoordinates<N>& places, const Pass<T>& pass, int vector,
            std::span<const NearRange> pieces) {
    const T* const charges =
        pass.charges.data() + vector * static_cast<std::int64_t>(pass.tree.sources.size());
    const auto gather = [&](const N* from) {
      cpu_kernels<N>().gather(
          pieces.data(), static_cast<int>(pieces.size()), arrays_of<N>(places, from),
          {{place_[0].data(), place_[1].data(), place_[2].data()}, charge_.data()});
    };
    if constexpr (std::is_same_v<N, T>) {
      gather(charges);
    } else {
      gather(nullptr);
      N* to = charge_.data();
      for (const NearRange& piece : pieces)
        to = std::transform(charges + piece.begin, charges + piece.begin + piece.count, to,
                            [](T q) { return static_cast<N>(q); });
    }
    // Padding is put on a point of this leaf, where no point of another leaf is.
    for (auto& axis : place_) std::fill(axis.begin() + count_, axis.end(), axis[count_ - 1]);
    std::fill(charge_.begin() + count_, charge_.end(), N(0));
  }

  void clear_sums() {
    for (auto& sums : sums_) std::fill(sums.begin(), sums.end(), N(0));
  }

  int count() const { return count_; }
  NearPoints<N> points() { return points_of(count_); }
  NearPoints<N> whole_registers_of_points() { return points_of(padded_); }

  /// Adds the sums, which are in coordinates of that unit, to the points of the pieces.
  void scatter(std::span<const NearRange> pieces, double unit, const Totals& totals) const {
    for (int k = 0; k < 4; ++k)
      if (totals.results[k])
        cpu_kernels<N>().scatter(pieces.data(), static_cast<int>(pieces.size()), sums_[k].data(),
                                 unit_of_sum(k, unit), totals.results[k], totals.buffers[k]);
  }

 private:
  NearPoints<N> points_of(int n) {
    return {n,
            place_[0].data(),
            place_[1].data(),
            place_[2].data(),
            charge_.data(),
            pointer(sums_[0]),
            pointer(sums_[1]),
            pointer(sums_[2]),
            pointer(sums_[3])};
  }

  int count_ = 0, padded_ = 0;
  std::array<std::vector<typename NearCoordinate<N>::Type>, 3> place_;
  std::vector<N> charge_;
  NearSums<N> sums_;
};

/// Sums of one leaf with itself and with others, in precision N.
template <class N, class T>
class MutualLeaf {
 public:
  MutualLeaf(const NearData& near, const Pass<T>& pass, int vector)
      : near_(near), pass_(pass), vector_(vector) {}

  /// Begins a leaf.
  void start(const MutualChunk::Leaf& leaf, const Totals& totals) {
    piece_ = leaf.points;
    totals_ = totals;
    unit_ = NearCoordinates<N>::scale(pass_.tree.octree, leaf.level);
    leaf_.resize(piece_.count, totals.results);
    leaf_.fill(near_.sources<N>(), pass_, vector_, {&piece_, 1});
    close_.resize(leaf_.whole_registers_of_points().count);
  }

  /// Adds the pairs of the leaf's points with its points from `first` to `last`. Returns false,
  /// having added nothing, if some are too close for precision N.
  bool with_itself(int first, int last) {
    const NearPoints<N> p = leaf_.whole_registers_of_points();
    std::fill(close_.begin(), close_.end(), 0);
    leaf_.clear_sums();
    with_pair_kernel(pass_.kappa / unit_, pass_.softening * unit_, [&](auto kernel) {
      pair_kernels<N, decltype(kernel)>().near(kernel, 1, pass_.accuracy.root_terms,
                                               {last - first, p.x + first, p.y + first, p.z + first,
                                                p.charge + first, nullptr, nullptr, nullptr},
                                               {p.count, p.x, p.y, p.z, p.potential, p.gradient_x,
                                                p.gradient_y, p.gradient_z, close_.data()});
    });
    for (int i = 0; i < leaf_.count(); ++i)
      if (close_[i] > (i >= first && i < last)) return false;  // a point is close to itself
    leaf_.scatter({&piece_, 1}, unit_, totals_);
    return true;
  }

  /// Adds the pairs with `n` points of the pieces, to both sides. Returns false, having added
  /// nothing, if some are too close.
  bool with_others(std::span<const NearRange> pieces, int n) {
    others_.resize(n, totals_.results);
    others_.fill(near_.sources<N>(), pass_, vector_, pieces);
    // The pieces' points fill registers better than the leaf's, which the kernel takes one by one.
    const bool done =
        with_pair_kernel(pass_.kappa / unit_, pass_.softening * unit_, [&](auto kernel) {
          return pair_kernels<N, decltype(kernel)>().near_mutual(
              kernel, pass_.accuracy.root_terms, others_.whole_registers_of_points(),
              leaf_.points());
        });
    if (!done) return false;
    leaf_.scatter({&piece_, 1}, unit_, totals_);
    others_.scatter(pieces, unit_, totals_);
    return true;
  }

 private:
  const NearData& near_;
  const Pass<T>& pass_;
  int vector_;
  NearRange piece_{};
  Totals totals_;
  double unit_ = 1;
  MutualPoints<N> leaf_, others_;
  std::vector<std::int32_t> close_;
};

/// At most n points of the piece, from its point `first` on.
NearRange part_of(const NearRange& piece, int first, int n) {
  NearRange part = piece;
  part.begin += first;
  part.count = std::min(n, piece.count - first);
  if (part.buffer >= 0) part.buffer += first;
  return part;
}

/// Calls add(pieces, n) for all points of the pieces, n > 0 at a time, which are few enough.
template <class Add>
void for_some_points(std::span<const NearRange> pieces, Add&& add) {
  std::size_t first = 0;
  int taken = 0;  // points of the pieces from `first` on
  const auto add_up_to = [&](std::size_t end) {
    if (taken > 0) add(pieces.subspan(first, end - first), taken);
    first = end;
    taken = 0;
  };
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    if (taken + pieces[k].count > most_others) add_up_to(k);
    if (pieces[k].count <= most_others) {
      taken += pieces[k].count;
      continue;
    }
    for (int done = 0; done < pieces[k].count; done += most_others) {
      const NearRange piece = part_of(pieces[k], done, most_others);
      add(std::span(&piece, 1), piece.count);
    }
    first = k + 1;
  }
  add_up_to(pieces.size());
}

/// All pairs of a leaf that no earlier leaf has summed. Of the others, those that integers do not
/// hold come last.
template <class N, class T>
void sum_leaf(const MutualChunk::Leaf& leaf, std::span<const NearRange> others,
              MutualLeaf<N, T>& sums, MutualLeaf<double, T>& exact_sums, const Totals& totals) {
  bool exact_started = false;
  const auto exact = [&]() -> auto& {
    if (!exact_started) exact_sums.start(leaf, totals);
    exact_started = true;
    return exact_sums;
  };
  sums.start(leaf, totals);
  for (int begin = 0, end; leaf.meets_itself && begin < leaf.points.count; begin = end) {
    end = std::min(begin + Tile<N, T>::capacity, leaf.points.count);
    if (!sums.with_itself(begin, end)) exact().with_itself(begin, end);
  }
  const auto add = [&](std::span<const NearRange> pieces, int n) {
    if (!sums.with_others(pieces, n)) exact().with_others(pieces, n);
  };
  const auto beyond = std::find_if(others.begin(), others.end(),
                                   [](const NearRange& piece) { return !integers_hold(piece); });
  const auto held = static_cast<std::size_t>(beyond - others.begin());
  for_some_points(others.first(held), add);
  for_some_points(others.subspan(held), [&](std::span<const NearRange> pieces, int n) {
    exact().with_others(pieces, n);
  });
}

/// Adds the buffers to the results, chunk after chunk for each point.
template <class T>
void add_buffers(const NearData& near, Pass<T>& pass, int vector) {
  const auto n = static_cast<std::int64_t>(pass.tree.targets().size());
  constexpr std::int64_t slices = 64;
#pragma omp parallel for schedule(dynamic, 1)
  for (std::int64_t slice = 0; slice < slices; ++slice) {
    const std::int64_t begin = n * slice / slices, end = n * (slice + 1) / slices;
    for (const MutualChunk& chunk : near.chunks) {
      const Totals totals = totals_of(pass, vector, chunk);
      for (const NearRange& piece : chunk.outside) {
        if (piece.begin < begin || piece.begin >= end) continue;
        for (int k = 0; k < 4; ++k) {
          if (!totals.results[k]) continue;
          double* const to = totals.results[k] + piece.begin;
          const double* const from = totals.buffers[k] + piece.buffer;
          for (int i = 0; i < piece.count; ++i) to[i] += from[i];
        }
      }
    }
  }
}

/// The chunk of the leaves of those rows, in Morton order.
MutualChunk chunk_of(const PointTree& tree, std::span<const std::int32_t> rows) {
  const auto& boxes = tree.octree.boxes;
  const NearLists& near = tree.lists.p2p;
  const std::int32_t end = boxes[near.targets[rows.back()]].sources.end;
  MutualChunk chunk;
  std::vector<std::int32_t> outside;
  for (const std::int32_t row : rows)
    for (std::int64_t k = near.begin[row]; k < near.begin[row + 1]; ++k)
      if (boxes[near.sources[k]].sources.begin >= end) outside.push_back(near.sources[k]);
  std::sort(outside.begin(), outside.end());
  outside.erase(std::unique(outside.begin(), outside.end()), outside.end());
  for (const std::int32_t box : outside) {
    const Range points = boxes[box].sources;
    chunk.outside.push_back({points.begin, points.size(), chunk.buffer_points});
    chunk.buffer_points += points.size();
  }
  for (const std::int32_t row : rows) {
    const std::int32_t index = near.targets[row];
    const Box& leaf = boxes[index];
    bool meets_itself = false;
    const auto first_other = static_cast<std::ptrdiff_t>(chunk.others.size());
    for (std::int64_t k = near.begin[row]; k < near.begin[row + 1]; ++k) {
      const std::int32_t other = near.sources[k];
      const Range points = boxes[other].own_sources();
      meets_itself = meets_itself || other == index;
      if (points.begin <= leaf.sources.begin) continue;
      NearRange piece = near_range(points, boxes[other], leaf);
      if (points.begin >= end) {
        const auto place = std::lower_bound(outside.begin(), outside.end(), other);
        piece.buffer = chunk.outside[place - outside.begin()].buffer;
      }
      chunk.others.push_back(piece);
    }
    std::stable_partition(chunk.others.begin() + first_other, chunk.others.end(),
                          [](const NearRange& piece) { return integers_hold(piece); });
    chunk.leaves.push_back({near_range(leaf.sources, leaf, leaf), leaf.level, meets_itself,
                            static_cast<std::int64_t>(chunk.others.size())});
  }
  return chunk;
}

}  // namespace

std::vector<MutualChunk> mutual_chunks(const PointTree& tree) {
  const auto& boxes = tree.octree.boxes;
  const NearLists& near = tree.lists.p2p;
  std::vector<std::int32_t> rows(near.targets.size());
  std::iota(rows.begin(), rows.end(), 0);
  std::sort(rows.begin(), rows.end(), [&](std::int32_t a, std::int32_t b) {
    return boxes[near.targets[a]].sources.begin < boxes[near.targets[b]].sources.begin;
  });
  const std::int64_t pairs = near_pairs(tree.octree, near),
                     chunks = std::clamp<std::int64_t>(pairs / pairs_of_a_chunk, 1, most_chunks);
  std::vector<std::size_t> begin;  // of each chunk's rows
  std::int64_t done = 0;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (done * chunks >= static_cast<std::int64_t>(begin.size()) * pairs) begin.push_back(k);
    done += near_sources(tree.octree, near, rows[k]) * boxes[near.targets[rows[k]]].targets.size();
  }
  std::vector<MutualChunk> result(begin.size());
  begin.push_back(rows.size());
#pragma omp parallel for schedule(dynamic, 1)
  for (std::size_t c = 0; c < result.size(); ++c)
    result[c] = chunk_of(tree, std::span(rows).subspan(begin[c], begin[c + 1] - begin[c]));
  for (std::size_t c = 1; c < result.size(); ++c)
    result[c].buffer_begin = result[c - 1].buffer_begin + result[c - 1].buffer_points;
  return result;
}

std::vector<MutualChunk> direct_chunks(const PointTree& tree) {
  const Box& root = tree.octree.boxes[0];
  const auto n = static_cast<std::int64_t>(tree.sources.size());
  const std::int64_t room = points_of_buffers / std::max<std::int64_t>(n, 1);
  const std::int64_t chunks = std::clamp<std::int64_t>(
      n * n / 2 / pairs_of_a_chunk, 1, std::clamp<std::int64_t>(room, 16, most_chunks));
  const auto range = [&](std::int64_t begin, std::int64_t end) {
    return near_range({static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end)}, root,
                      root);
  };
  std::vector<MutualChunk> result;
  for (std::int64_t begin = 0, end, done = 0; begin < n; begin = end) {
    // A point's pairs with later points are n less its place; each chunk gets its part of them all.
    const auto part = static_cast<std::int64_t>(result.size()) + 1;
    for (end = begin; end < n && done * chunks < part * (n * n / 2);) {
      const std::int64_t next = std::min<std::int64_t>(end + most_others, n);
      done += (next - end) * (n - (end + next) / 2);
      end = next;
    }
    if (end == begin) end = n;
    MutualChunk chunk;
    if (!result.empty())
      chunk.buffer_begin = result.back().buffer_begin + result.back().buffer_points;
    for (std::int64_t first = end; first < n; first += most_others) {
      chunk.outside.push_back(range(first, std::min<std::int64_t>(first + most_others, n)));
      chunk.outside.back().buffer = chunk.buffer_points;
      chunk.buffer_points += chunk.outside.back().count;
    }
    for (std::int64_t first = begin, next; first < end; first = next) {
      next = std::min<std::int64_t>(first + most_others, end);
      if (next < end) chunk.others.push_back(range(next, end));
      chunk.others.insert(chunk.others.end(), chunk.outside.begin(), chunk.outside.end());
      chunk.leaves.push_back(
          {range(first, next), root.level, true, static_cast<std::int64_t>(chunk.others.size())});
    }
    result.push_back(std::move(chunk));
  }
  return result;
}

template <class N, class T>
void p2p_mutual(const NearData& near, Pass<T>& pass, int vector) {
  const auto n = static_cast<std::int64_t>(pass.tree.targets().size());
  const MutualChunk& last = near.chunks.back();
  pass.near_buffer.resize(results_wanted(pass) * (last.buffer_begin + last.buffer_points));
#pragma omp parallel
  {
    for (int k = 0; k < 4; ++k) {
      if (!is_wanted(pass, k)) continue;
      double* const result = pass.result(k).data() + vector * n;
#pragma omp for schedule(static)
      for (std::int64_t i = 0; i < n; ++i) result[i] = 0;
    }
    MutualLeaf<N, T> sums(near, pass, vector);
    MutualLeaf<double, T> exact_sums(near, pass, vector);
#pragma omp for schedule(dynamic, 1)
    for (std::size_t c = 0; c < near.chunks.size(); ++c) {
      const MutualChunk& chunk = near.chunks[c];
      const Totals totals = totals_of(pass, vector, chunk);
      for (double* const buffer : totals.buffers)
        if (buffer) std::fill_n(buffer, chunk.buffer_points, 0.0);
      std::int64_t begin = 0;
      for (const MutualChunk::Leaf& leaf : chunk.leaves) {
        sum_leaf(leaf, std::span(chunk.others).subspan(begin, leaf.others_end - begin), sums,
                 exact_sums, totals);
        begin = leaf.others_end;
      }
    }
  }
  add_buffers(near, pass, vector);
}

template void p2p_mutual<double>(const NearData&, Pass<double>&, int);
template void p2p_mutual<double>(const NearData&, Pass<float>&, int);
template void p2p_mutual<float>(const NearData&, Pass<double>&, int);
template void p2p_mutual<float>(const NearData&, Pass<float>&, int);

}  // namespace fmbem::fmm
