// P2P: leaves whose sources act directly.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>

#include "fmbem/fmm/cpu/pass.hpp"

namespace fmbem::fmm {
namespace {

/// In double precision coordinates are taken as they are. In single precision they are integers,
/// relative to the target leaf: all that is near to it lies within four of its sides, 2^30 units.
struct Frame {
  Vec3d corner, centre;
  double scale = 1;
};
template <class N>
Frame frame_of(const PlanData& data, const Box& box) {
  if constexpr (std::is_same_v<N, double>) return {};
  return {data.tree.root.corner, data.tree.centre_from_corner(box),
          0x1p28 / data.tree.side(box.level)};
}

template <class Coordinate>
void copy_coordinates(const double* from, int n, const Frame& frame, int axis, Coordinate* to) {
  if constexpr (std::is_same_v<Coordinate, double>)
    std::copy_n(from, n, to);
  else
    for (int i = 0; i < n; ++i)
      to[i] = static_cast<Coordinate>(
          std::lrint((from[i] - frame.corner[axis] - frame.centre[axis]) * frame.scale));
}

/// Sources of several leaves, collected until there are enough for a call of the kernel. The near
/// field works in N, whatever the expansions are in.
template <class N, class T>
class Tile {
 public:
  /// In double precision coordinates and charges fill half of a cache of 32 KiB; in single
  /// precision the sums of a tile are short enough to lose nothing.
  static constexpr int capacity = std::is_same_v<N, double> ? 512 : 128;

  Tile(const Pass<T>& pass, int first_vector, int width)
      : pass_(pass), first_vector_(first_vector), width_(width) {
    x_.resize(capacity);
    y_.resize(capacity);
    z_.resize(capacity);
    charge_.assign(static_cast<std::size_t>(capacity) * width, N(0));
    if (pass.has_dipoles())
      for (auto& component : dipole_)
        component.assign(static_cast<std::size_t>(capacity) * width, N(0));
  }

  bool is_full() const { return count_ == capacity; }
  void clear() { count_ = 0; }

  /// Takes as many of the sources as fit; returns what is left.
  Range take(Range range, const Frame& frame) {
    const int n = std::min(range.size(), capacity - count_);
    const SortedPoints& s = pass_.data.sources;
    copy_coordinates(s.x.data() + range.begin, n, frame, 0, x_.data() + count_);
    copy_coordinates(s.y.data() + range.begin, n, frame, 1, y_.data() + count_);
    copy_coordinates(s.z.data() + range.begin, n, frame, 2, z_.data() + count_);
    if (!pass_.charges.empty()) copy_strengths(pass_.charges, range.begin, n, N(1), charge_);
    if (pass_.has_dipoles())
      for (int axis = 0; axis < 3; ++axis)
        copy_strengths(pass_.dipoles[axis], range.begin, n, static_cast<N>(frame.scale),
                       dipole_[axis]);
    count_ += n;
    return {range.begin + n, range.end};
  }

  NearSources<N> sources() const {
    const bool dipoles = pass_.has_dipoles();
    return {count_,
            x_.data(),
            y_.data(),
            z_.data(),
            charge_.data(),
            dipoles ? dipole_[0].data() : nullptr,
            dipoles ? dipole_[1].data() : nullptr,
            dipoles ? dipole_[2].data() : nullptr};
  }

 private:
  void copy_strengths(const std::vector<T>& from, std::int32_t first, int n, N scale,
                      std::vector<N>& to) {
    const std::int64_t n_sources = static_cast<std::int64_t>(pass_.data.sources.size());
    const int present = std::min(width_, pass_.vectors - first_vector_);
    for (int v = 0; v < present; ++v) {
      const T* strength = from.data() + (first_vector_ + v) * n_sources + first;
      N* out = to.data() + static_cast<std::int64_t>(count_) * width_ + v;
      for (int j = 0; j < n; ++j) out[static_cast<std::int64_t>(j) * width_] = scale * strength[j];
    }
  }

  const Pass<T>& pass_;
  int first_vector_, width_, count_ = 0;
  std::vector<typename NearCoordinate<N>::Type> x_, y_, z_;
  std::vector<N> charge_;
  std::array<std::vector<N>, 3> dipole_;
};

/// Some targets of a leaf, and what acts on them: the sums of one tile, and of all.
template <class N>
struct LeafTargets {
  std::vector<std::int32_t> index;  ///< of the sorted points
  std::vector<typename NearCoordinate<N>::Type> x, y, z;
  std::array<std::vector<N>, 4> tile_sums;  ///< potential and gradient, [width][padded]
  std::array<std::vector<double>, 4> sums;
  std::vector<std::int32_t> close;  ///< sources that were left out as too close
  int padded = 0;

  /// Takes the targets in `index`.
  template <class T>
  void fill(const Pass<T>& pass, const Frame& frame, int width) {
    const SortedPoints& t = pass.data.targets();
    const int n = static_cast<int>(index.size());
    padded = whole_registers(cpu_kernels<N>(), n);
    for (auto* axis : {&x, &y, &z}) axis->assign(padded, 0);
    for (int i = 0; i < n; ++i) {
      copy_coordinates(&t.x[index[i]], 1, frame, 0, &x[i]);
      copy_coordinates(&t.y[index[i]], 1, frame, 1, &y[i]);
      copy_coordinates(&t.z[index[i]], 1, frame, 2, &z[i]);
    }
    close.assign(padded, 0);
    const std::size_t results = static_cast<std::size_t>(padded) * width;
    for (int k = 0; k < 4; ++k) {
      if (k == 0 ? pass.potential.empty() : pass.gradient[0].empty()) continue;
      tile_sums[k].assign(results, N(0));
      sums[k].assign(results, 0.0);
    }
  }

  NearTargets<N> view() {
    const auto pointer = [](std::vector<N>& v) { return v.empty() ? nullptr : v.data(); };
    return {padded,
            x.data(),
            y.data(),
            z.data(),
            pointer(tile_sums[0]),
            pointer(tile_sums[1]),
            pointer(tile_sums[2]),
            pointer(tile_sums[3]),
            close.data()};
  }

  void add_tile() {
    for (int k = 0; k < 4; ++k) {
      for (std::size_t i = 0; i < sums[k].size(); ++i) {
        sums[k][i] += tile_sums[k][i];
        tile_sums[k][i] = 0;
      }
    }
  }
};

/// What a thread works with.
template <class N, class T>
struct NearWork {
  NearWork(const Pass<T>& pass, int first, int many)
      : first_vector(first), width(many), tile(pass, first, many) {}

  int first_vector, width;
  Tile<N, T> tile;
  LeafTargets<N> targets;
};

/// The near field of the targets in work.targets.index, which are of the leaf of that row.
template <class N, class T>
void p2p_targets(Pass<T>& pass, std::size_t row, NearWork<N, T>& work) {
  const PlanData& data = pass.data;
  const Frame frame = frame_of<N>(data, data.tree.boxes[data.near.targets[row]]);
  LeafTargets<N>& targets = work.targets;
  targets.fill(pass, frame, work.width);
  const auto flush = [&] {
    cpu_kernels<N>().near(work.width, data.root_terms, work.tile.sources(), targets.view());
    targets.add_tile();
    work.tile.clear();
  };
  for (std::int64_t k = data.near.begin[row]; k < data.near.begin[row + 1]; ++k) {
    Range range = data.tree.boxes[data.near.sources[k]].own_sources();
    while (range.size() > 0) {
      range = work.tile.take(range, frame);
      if (work.tile.is_full()) flush();
    }
  }
  flush();

  const std::int64_t n_targets = static_cast<std::int64_t>(data.targets().size());
  const int present = std::min(work.width, pass.vectors - work.first_vector);
  const auto write = [&](const std::vector<double>& from, double scale, std::vector<double>& to) {
    for (int v = 0; v < present; ++v)
      for (std::size_t i = 0; i < targets.index.size(); ++i)
        to[(work.first_vector + v) * n_targets + targets.index[i]] =
            scale * from[v * targets.padded + i];
  };
  if (!pass.potential.empty()) write(targets.sums[0], frame.scale, pass.potential);
  if (!pass.gradient[0].empty())
    for (int axis = 0; axis < 3; ++axis)
      write(targets.sums[1 + axis], frame.scale * frame.scale, pass.gradient[axis]);
}

/// Does once more, in double precision, the targets that had sources too close for integers.
template <class T>
void repeat_close(Pass<T>& pass, std::size_t row, const LeafTargets<float>& done,
                  NearWork<double, T>& work) {
  const NearLists& near = pass.data.near;
  const auto first = near.sources.begin() + near.begin[row];
  const auto last = near.sources.begin() + near.begin[row + 1];
  const bool meets_itself =
      pass.data.sources_are_targets && std::find(first, last, near.targets[row]) != last;
  work.targets.index.clear();
  for (std::size_t i = 0; i < done.index.size(); ++i)
    if (done.close[i] > meets_itself) work.targets.index.push_back(done.index[i]);
  if (!work.targets.index.empty()) p2p_targets(pass, row, work);
}

template <class N, class T>
void p2p_in(Pass<T>& pass) {
  const int many = cpu_kernels<N>().near_vectors;
  for (int first = 0; first < pass.vectors;) {
    // Two vectors on their own are faster than four of which two are zero.
    const int width = pass.vectors - first > many / 2 ? many : 1;
#pragma omp parallel
    {
      NearWork<N, T> work(pass, first, width);
      NearWork<double, T> again(pass, first, width);
#pragma omp for schedule(dynamic, 8)
      for (std::size_t row = 0; row < pass.data.near.targets.size(); ++row) {
        const Range range = pass.data.tree.boxes[pass.data.near.targets[row]].targets;
        work.targets.index.resize(range.size());
        std::iota(work.targets.index.begin(), work.targets.index.end(), range.begin);
        p2p_targets(pass, row, work);
        if constexpr (std::is_same_v<N, float>) repeat_close(pass, row, work.targets, again);
      }
    }
    first += width;
  }
}

}  // namespace

template <class T>
void p2p(Pass<T>& pass) {
  if (pass.data.near_precision == Precision::single_precision)
    p2p_in<float>(pass);
  else
    p2p_in<double>(pass);
}

template void p2p(Pass<double>&);
template void p2p(Pass<float>&);

}  // namespace fmbem::fmm
