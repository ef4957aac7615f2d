// P2P by Newton's third law: each pair of leaves once, where the sources are the targets.
#include <algorithm>
#include <numeric>

#include "fmbem/fmm/base/simd.hpp"
#include "fmbem/fmm/cpu/near_tile.hpp"

namespace fmbem::fmm {
namespace {

/// Pairs that are worth a chunk; and chunks enough for many threads.
constexpr std::int64_t pairs_of_a_chunk = std::int64_t{1} << 20;
constexpr std::int64_t most_chunks = 256;

/// Points of one leaf, in a tile or its own.
struct Piece {
  std::int32_t box;
  Range points;
};

template <class N>
inline void add_scaled_to(int n, double scale, const N* from, double* to) {
  for (int i = 0; i < n; ++i) to[i] += scale * static_cast<double>(from[i]);
}
FMBEM_SIMD_CLONES void add_scaled(int n, double scale, const float* from, double* to) {
  add_scaled_to(n, scale, from, to);
}
FMBEM_SIMD_CLONES void add_scaled(int n, double scale, const double* from, double* to) {
  add_scaled_to(n, scale, from, to);
}

/// Sums of one leaf with others, in precision N.
template <class N, class T>
class MutualLeaf {
 public:
  MutualLeaf(const NearData& near, const Pass<T>& pass, int vector)
      : near_(near), pass_(pass), vector_(vector), tile_(near.sources<N>(), pass, vector, 1) {
    for (int k = 0; k < 4; ++k)
      if (is_wanted(pass, k)) tile_sums_[k].resize(Tile<N, T>::capacity);
  }

  /// Turns to a leaf.
  void start(const Box& leaf) {
    leaf_ = &leaf;
    unit_ = NearPlaces<N>::unit(pass_.data.tree, leaf);
    const int n = leaf.targets.size();
    padded_ = whole_registers(cpu_kernels<N>(), n);
    const T* const charge =
        pass_.charges.data() + vector_ * static_cast<std::int64_t>(pass_.data.sources.size());
    charge_.assign(padded_, N(0));
    for (int i = 0; i < n; ++i) charge_[i] = static_cast<N>(charge[leaf.targets.begin + i]);
    for (auto& axis : place_) axis.resize(padded_);
    near_.targets<N>().copy(leaf.targets, leaf, leaf,
                            {place_[0].data(), place_[1].data(), place_[2].data()});
    // Where a point is, none of another leaf is.
    for (auto& axis : place_) std::fill(axis.begin() + n, axis.end(), axis[n - 1]);
    close_.resize(padded_);
    for (int k = 0; k < 4; ++k) {
      if (!is_wanted(pass_, k)) continue;
      sums_[k].resize(padded_);
      own_[k].resize(padded_);
    }
  }

  /// Sums of the leaf's points with each other into totals [result][points], unless some are too
  /// close for precision N: then false.
  bool with_itself(const std::array<double*, 4>& totals) {
    const int n = leaf_->targets.size();
    std::fill(close_.begin(), close_.end(), 0);
    for (auto& sums : own_) std::fill(sums.begin(), sums.end(), 0.0);
    for (Range left = leaf_->sources; left.size() > 0;) {
      clear_sums();
      tile_.clear();
      left = tile_.take(left, *leaf_, *leaf_);
      cpu_kernels<N>().near(
          1, pass_.data.root_terms, tile_.sources(),
          {padded_, place_[0].data(), place_[1].data(), place_[2].data(), pointer(sums_[0]),
           pointer(sums_[1]), pointer(sums_[2]), pointer(sums_[3]), close_.data()});
      for (int k = 0; k < 4; ++k)
        for (std::size_t i = 0; i < sums_[k].size(); ++i) own_[k][i] += sums_[k][i];
    }
    const auto has_others = [](std::int32_t close) { return close > 1; };
    if (std::any_of(close_.begin(), close_.begin() + n, has_others)) return false;
    add(own_, 0, n, totals);
    return true;
  }

  /// Sums with the points of the pieces, which fit into a tile: into totals of the leaf and, for
  /// the others, to where `totals_of(piece)` says. False, and nothing, as above.
  template <class TotalsOf>
  bool with_others(const std::vector<Piece>& pieces, const std::array<double*, 4>& totals,
                   TotalsOf&& totals_of) {
    tile_.clear();
    for (const Piece& piece : pieces)
      tile_.take(piece.points, pass_.data.tree.boxes[piece.box], *leaf_);
    const NearSources<N> others = tile_.sources();
    const NearPoints<N> leaf{padded_,           place_[0].data(),  place_[1].data(),
                             place_[2].data(),  charge_.data(),    pointer(sums_[0]),
                             pointer(sums_[1]), pointer(sums_[2]), pointer(sums_[3])};
    if (!cpu_kernels<N>().near_mutual(
            pass_.data.root_terms, leaf,
            {others.count, others.x, others.y, others.z, others.charge, pointer(tile_sums_[0]),
             pointer(tile_sums_[1]), pointer(tile_sums_[2]), pointer(tile_sums_[3])}))
      return false;
    add(sums_, 0, leaf_->targets.size(), totals);
    int first = 0;
    for (const Piece& piece : pieces) {
      add(tile_sums_, first, piece.points.size(), totals_of(piece));
      first += piece.points.size();
    }
    return true;
  }

 private:
  void clear_sums() {
    for (auto& sums : sums_) std::fill(sums.begin(), sums.end(), N(0));
  }
  template <class S>
  void add(const NearSums<S>& sums, int first, int n, const std::array<double*, 4>& totals) const {
    for (int k = 0; k < 4; ++k) {
      if (!sums[k].empty()) add_scaled(n, unit_of_sum(k, unit_), sums[k].data() + first, totals[k]);
    }
  }

  const NearData& near_;
  const Pass<T>& pass_;
  int vector_;
  Tile<N, T> tile_;
  const Box* leaf_ = nullptr;
  double unit_ = 1;
  int padded_ = 0;
  std::array<std::vector<typename NearCoordinate<N>::Type>, 3> place_;
  std::vector<N> charge_;
  NearSums<N> sums_, tile_sums_;
  NearSums<double> own_;  ///< of the leaf's points with each other
  std::vector<std::int32_t> close_;
};

template <class T>
int results_wanted(const Pass<T>& pass) {
  int wanted = 0;
  for (int k = 0; k < 4; ++k) wanted += is_wanted(pass, k);
  return wanted;
}

/// The chunk's part of the buffer of each result, or null.
template <class T>
std::array<double*, 4> buffers_of(Pass<T>& pass, const MutualChunk& chunk) {
  std::array<double*, 4> parts{};
  double* next = pass.near_buffer.data() + results_wanted(pass) * chunk.buffer_begin;
  for (int k = 0; k < 4; ++k) {
    if (!is_wanted(pass, k)) continue;
    parts[k] = next;
    next += chunk.buffer_points;
  }
  return parts;
}

/// Where a chunk's sums go.
template <class T>
class ChunkTotals {
 public:
  ChunkTotals(Pass<T>& pass, int vector)
      : pass_(pass),
        first_(vector * static_cast<std::int64_t>(pass.data.targets().size())),
        in_buffer_(pass.data.tree.boxes.size(), -1) {}

  void start(const MutualChunk& chunk) {
    buffer_ = buffers_of(pass_, chunk);
    for (double* const part : buffer_)
      if (part) std::fill_n(part, chunk.buffer_points, 0.0);
    for (const auto& neighbour : chunk.neighbours) in_buffer_[neighbour.box] = neighbour.begin;
  }
  void end(const MutualChunk& chunk) {
    for (const auto& neighbour : chunk.neighbours) in_buffer_[neighbour.box] = -1;
  }

  std::array<double*, 4> of(const Piece& piece) {
    const std::int32_t begin = in_buffer_[piece.box];
    std::array<double*, 4> totals{};
    for (int k = 0; k < 4; ++k) {
      if (!is_wanted(pass_, k)) continue;
      totals[k] = begin < 0 ? pass_.result(k).data() + first_ + piece.points.begin
                            : buffer_[k] + begin + piece.points.begin -
                                  pass_.data.tree.boxes[piece.box].sources.begin;
    }
    return totals;
  }

 private:
  Pass<T>& pass_;
  std::int64_t first_;
  std::vector<std::int32_t> in_buffer_;  ///< [boxes], −1 for those of the chunk
  std::array<double*, 4> buffer_{};
};

/// All pairs of the leaf of that row that no earlier leaf has summed.
template <class N, class T>
void sum_leaf(const PlanData& data, std::int32_t row, MutualLeaf<N, T>& sums,
              MutualLeaf<double, T>& exact_sums, std::vector<Piece>& pieces,
              ChunkTotals<T>& totals) {
  const std::int32_t index = data.near.targets[row];
  const Box& leaf = data.tree.boxes[index];
  const std::array<double*, 4> of_leaf = totals.of({index, leaf.targets});
  const auto totals_of = [&](const Piece& piece) { return totals.of(piece); };
  bool exact_started = false;
  const auto exact = [&]() -> auto& {
    if (!exact_started) exact_sums.start(leaf);
    exact_started = true;
    return exact_sums;
  };
  int room = Tile<N, T>::capacity;
  const auto flush = [&] {
    if (!pieces.empty() && !sums.with_others(pieces, of_leaf, totals_of))
      exact().with_others(pieces, of_leaf, totals_of);
    pieces.clear();
    room = Tile<N, T>::capacity;
  };
  sums.start(leaf);
  for (std::int64_t k = data.near.begin[row]; k < data.near.begin[row + 1]; ++k) {
    const std::int32_t other = data.near.sources[k];
    Range points = data.tree.boxes[other].own_sources();
    if (other == index && !sums.with_itself(of_leaf)) exact().with_itself(of_leaf);
    if (points.begin <= leaf.sources.begin) continue;
    while (points.size() > 0) {
      const int n = std::min(points.size(), room);
      pieces.push_back({other, {points.begin, points.begin + n}});
      points.begin += n;
      room -= n;
      if (room == 0) flush();
    }
  }
  flush();
}

/// Adds the buffers to the results, chunk after chunk for each point.
template <class T>
void add_buffers(const NearData& near, Pass<T>& pass, int vector) {
  const auto n = static_cast<std::int64_t>(pass.data.targets().size());
  constexpr std::int64_t slices = 64;
#pragma omp parallel for schedule(dynamic, 1)
  for (std::int64_t slice = 0; slice < slices; ++slice) {
    const std::int64_t begin = n * slice / slices, end = n * (slice + 1) / slices;
    for (const MutualChunk& chunk : near.chunks) {
      const std::array<double*, 4> buffers = buffers_of(pass, chunk);
      for (const auto& neighbour : chunk.neighbours) {
        const Range points = pass.data.tree.boxes[neighbour.box].sources;
        if (points.begin < begin || points.begin >= end) continue;
        for (int k = 0; k < 4; ++k) {
          if (!is_wanted(pass, k)) continue;
          double* const to = pass.result(k).data() + vector * n + points.begin;
          const double* const from = buffers[k] + neighbour.begin;
          for (int i = 0; i < points.size(); ++i) to[i] += from[i];
        }
      }
    }
  }
}

}  // namespace

std::vector<MutualChunk> mutual_chunks(const PlanData& data) {
  const auto& boxes = data.tree.boxes;
  const NearLists& near = data.near;
  const auto begin_of = [&](std::int32_t box) { return boxes[box].sources.begin; };
  std::vector<std::int32_t> rows(near.targets.size());
  std::iota(rows.begin(), rows.end(), 0);
  std::sort(rows.begin(), rows.end(), [&](std::int32_t a, std::int32_t b) {
    return begin_of(near.targets[a]) < begin_of(near.targets[b]);
  });
  const std::int64_t pairs = near_pairs(data.tree, near),
                     chunks = std::clamp<std::int64_t>(pairs / pairs_of_a_chunk, 1, most_chunks);
  std::vector<MutualChunk> result;
  std::int64_t done = 0;
  for (const std::int32_t row : rows) {
    if (done * chunks >= static_cast<std::int64_t>(result.size()) * pairs) result.emplace_back();
    result.back().rows.push_back(row);
    std::int64_t sources = 0;
    for (std::int64_t k = near.begin[row]; k < near.begin[row + 1]; ++k)
      sources += boxes[near.sources[k]].sources.size();
    done += sources * boxes[near.targets[row]].targets.size();
  }
#pragma omp parallel for schedule(dynamic, 1)
  for (MutualChunk& chunk : result) {
    const std::int32_t end = boxes[near.targets[chunk.rows.back()]].sources.end;
    std::vector<std::int32_t> outside;
    for (const std::int32_t row : chunk.rows)
      for (std::int64_t k = near.begin[row]; k < near.begin[row + 1]; ++k)
        if (begin_of(near.sources[k]) >= end) outside.push_back(near.sources[k]);
    std::sort(outside.begin(), outside.end());
    outside.erase(std::unique(outside.begin(), outside.end()), outside.end());
    for (const std::int32_t box : outside) {
      chunk.neighbours.push_back({box, chunk.buffer_points});
      chunk.buffer_points += boxes[box].sources.size();
    }
  }
  for (std::size_t c = 1; c < result.size(); ++c)
    result[c].buffer_begin = result[c - 1].buffer_begin + result[c - 1].buffer_points;
  return result;
}

template <class N, class T>
void p2p_mutual(const NearData& near, Pass<T>& pass, int vector) {
  const auto n = static_cast<std::int64_t>(pass.data.targets().size());
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
    ChunkTotals<T> totals(pass, vector);
    std::vector<Piece> pieces;
#pragma omp for schedule(dynamic, 1)
    for (std::size_t c = 0; c < near.chunks.size(); ++c) {
      totals.start(near.chunks[c]);
      for (const std::int32_t row : near.chunks[c].rows)
        sum_leaf(pass.data, row, sums, exact_sums, pieces, totals);
      totals.end(near.chunks[c]);
    }
  }
  add_buffers(near, pass, vector);
}

template void p2p_mutual<double>(const NearData&, Pass<double>&, int);
template void p2p_mutual<double>(const NearData&, Pass<float>&, int);
template void p2p_mutual<float>(const NearData&, Pass<double>&, int);
template void p2p_mutual<float>(const NearData&, Pass<float>&, int);

}  // namespace fmbem::fmm
