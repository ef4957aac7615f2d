// P2P: leaves whose sources act directly.
#include <algorithm>
#include <type_traits>

#include "fmbem/fmm/cpu/pass.hpp"

namespace fmbem::fmm {
namespace {

/// In double precision coordinates are taken as they are, so that differences are exact; in single
/// precision they are relative to the target leaf, in its sides.
struct Frame {
  Vec3d origin;
  double scale = 1;
};
template <class T>
Frame frame_of(const PlanData& data, const Box& box) {
  if constexpr (std::is_same_v<T, double>) return {};
  return {data.tree.centre(box), 1 / data.tree.side(box.level)};
}

template <class T>
void copy_coordinates(const double* from, int n, double origin, double scale, T* to) {
  for (int i = 0; i < n; ++i) to[i] = static_cast<T>((from[i] - origin) * scale);
}

/// Sources of several leaves, collected until there are enough for a call of the kernel.
template <class T>
class Tile {
 public:
  static constexpr int capacity = 512;  // coordinates and charges fill half of a 32 KiB cache

  Tile(const Pass<T>& pass, int first_vector, int width)
      : pass_(pass), first_vector_(first_vector), width_(width) {
    x_.resize(capacity);
    y_.resize(capacity);
    z_.resize(capacity);
    charge_.assign(static_cast<std::size_t>(capacity) * width, T(0));
    if (pass.has_dipoles())
      for (auto& component : dipole_)
        component.assign(static_cast<std::size_t>(capacity) * width, T(0));
  }

  bool is_full() const { return count_ == capacity; }
  void clear() { count_ = 0; }

  /// Takes as many of the sources as fit; returns what is left.
  Range take(Range range, const Frame& frame) {
    const int n = std::min(range.size(), capacity - count_);
    const SortedPoints& s = pass_.data.sources;
    copy_coordinates(s.x.data() + range.begin, n, frame.origin.x, frame.scale, x_.data() + count_);
    copy_coordinates(s.y.data() + range.begin, n, frame.origin.y, frame.scale, y_.data() + count_);
    copy_coordinates(s.z.data() + range.begin, n, frame.origin.z, frame.scale, z_.data() + count_);
    if (!pass_.charges.empty()) copy_strengths(pass_.charges, range.begin, n, T(1), charge_);
    if (pass_.has_dipoles())
      for (int axis = 0; axis < 3; ++axis)
        copy_strengths(pass_.dipoles[axis], range.begin, n, static_cast<T>(frame.scale),
                       dipole_[axis]);
    count_ += n;
    return {range.begin + n, range.end};
  }

  NearSources<T> sources() const {
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
  void copy_strengths(const std::vector<T>& from, std::int32_t first, int n, T scale,
                      std::vector<T>& to) {
    const std::int64_t n_sources = static_cast<std::int64_t>(pass_.data.sources.size());
    const int present = std::min(width_, pass_.vectors - first_vector_);
    for (int v = 0; v < present; ++v) {
      const T* strength = from.data() + (first_vector_ + v) * n_sources + first;
      T* out = to.data() + static_cast<std::int64_t>(count_) * width_ + v;
      for (int j = 0; j < n; ++j) out[static_cast<std::int64_t>(j) * width_] = scale * strength[j];
    }
  }

  const Pass<T>& pass_;
  int first_vector_, width_, count_ = 0;
  std::vector<T> x_, y_, z_, charge_;
  std::array<std::vector<T>, 3> dipole_;
};

/// Targets of one leaf, and what acts on them.
template <class T>
struct LeafTargets {
  std::vector<T> x, y, z, potential, gradient_x, gradient_y, gradient_z;
  int padded = 0;

  void fill(const Pass<T>& pass, Range range, const Frame& frame, int width) {
    const SortedPoints& t = pass.data.targets();
    const int n = range.size(), lanes = pass.kernels.lanes;
    padded = (n + lanes - 1) / lanes * lanes;
    for (auto* axis : {&x, &y, &z}) axis->assign(padded, T(0));
    copy_coordinates(t.x.data() + range.begin, n, frame.origin.x, frame.scale, x.data());
    copy_coordinates(t.y.data() + range.begin, n, frame.origin.y, frame.scale, y.data());
    copy_coordinates(t.z.data() + range.begin, n, frame.origin.z, frame.scale, z.data());
    const std::size_t results = static_cast<std::size_t>(padded) * width;
    if (!pass.potential.empty()) potential.assign(results, T(0));
    if (!pass.gradient[0].empty())
      for (auto* axis : {&gradient_x, &gradient_y, &gradient_z}) axis->assign(results, T(0));
  }

  NearTargets<T> view() {
    const auto pointer = [](std::vector<T>& v) { return v.empty() ? nullptr : v.data(); };
    return {padded,
            x.data(),
            y.data(),
            z.data(),
            pointer(potential),
            pointer(gradient_x),
            pointer(gradient_y),
            pointer(gradient_z)};
  }
};

template <class T>
void p2p_leaf(Pass<T>& pass, std::size_t row, int first_vector, int width, Tile<T>& tile,
              LeafTargets<T>& targets) {
  const PlanData& data = pass.data;
  const Box& box = data.tree.boxes[data.near.targets[row]];
  const Frame frame = frame_of<T>(data, box);
  targets.fill(pass, box.targets, frame, width);
  const auto flush = [&] {
    pass.kernels.near(width, data.accurate_roots, tile.sources(), targets.view());
    tile.clear();
  };
  for (std::int64_t k = data.near.begin[row]; k < data.near.begin[row + 1]; ++k) {
    Range range = data.tree.boxes[data.near.sources[k]].sources;
    while (range.size() > 0) {
      range = tile.take(range, frame);
      if (tile.is_full()) flush();
    }
  }
  flush();

  const std::int64_t n_targets = static_cast<std::int64_t>(data.targets().size());
  const int present = std::min(width, pass.vectors - first_vector);
  const auto write = [&](const std::vector<T>& from, double scale, std::vector<double>& to) {
    for (int v = 0; v < present; ++v)
      for (int i = 0; i < box.targets.size(); ++i)
        to[(first_vector + v) * n_targets + box.targets.begin + i] =
            scale * from[v * targets.padded + i];
  };
  if (!pass.potential.empty()) write(targets.potential, frame.scale, pass.potential);
  if (!pass.gradient[0].empty()) {
    const double scale = frame.scale * frame.scale;
    write(targets.gradient_x, scale, pass.gradient[0]);
    write(targets.gradient_y, scale, pass.gradient[1]);
    write(targets.gradient_z, scale, pass.gradient[2]);
  }
}

}  // namespace

template <class T>
void p2p(Pass<T>& pass) {
  const int many = pass.kernels.near_vectors;
  for (int first = 0; first < pass.vectors;) {
    // Two vectors on their own are faster than four of which two are zero.
    const int width = pass.vectors - first > many / 2 ? many : 1;
#pragma omp parallel
    {
      Tile<T> tile(pass, first, width);
      LeafTargets<T> targets;
#pragma omp for schedule(dynamic, 8)
      for (std::size_t row = 0; row < pass.data.near.targets.size(); ++row)
        p2p_leaf(pass, row, first, width, tile, targets);
    }
    first += width;
  }
}

template void p2p(Pass<double>&);
template void p2p(Pass<float>&);

}  // namespace fmbem::fmm
