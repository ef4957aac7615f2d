#pragma once

#include <algorithm>
#include <array>
#include <type_traits>
#include <vector>

#include "fmbem/fmm/cpu/near_data.hpp"

namespace fmbem::fmm {

template <class N>
NearArrays<const N> arrays_of(const NearCoordinates<N>& places, const N* charge) {
  const auto axes = places.axes();
  return {{axes[0], axes[1], axes[2]}, charge};
}

/// Sources of several leaves as another leaf sees them, collected until there are enough for a call
/// of the kernel. The near field works in N, whatever precision the expansions have.
template <class N, class T>
class Tile {
 public:
  /// In double precision coordinates and charges fill half of a cache of 32 KiB. In single
  /// precision the sums of a tile are short enough to lose no digits.
  static constexpr int capacity = std::is_same_v<N, double> ? 512 : 128;

  Tile(const NearCoordinates<N>& places, const Pass<T>& pass, int first_vector, int width)
      : places_(places), pass_(pass), first_vector_(first_vector), width_(width) {
    for (auto& axis : place_) axis.resize(capacity);
    charge_.assign(static_cast<std::size_t>(capacity) * width, N(0));
    if (pass.has_dipoles())
      for (auto& component : dipole_)
        component.assign(static_cast<std::size_t>(capacity) * width, N(0));
  }

  bool is_full() const { return count_ == capacity; }
  void clear() { count_ = 0; }

  /// Takes as many of the sources of a box as fit, as seen from `leaf`; returns what is left.
  Range take(Range range, const Box& box, const Box& leaf) {
    const int n = std::min(range.size(), capacity - count_);
    const Range taken{range.begin, range.begin + n};
    const NearRange piece = near_range(taken, box, leaf);
    cpu_kernels<N>().gather(
        &piece, 1, arrays_of<N>(places_, nullptr),
        {{&place_[0][count_], &place_[1][count_], &place_[2][count_]}, nullptr});
    if (!pass_.charges.empty()) copy_strengths(pass_.charges, taken, N(1), charge_);
    if (pass_.has_dipoles())
      for (int axis = 0; axis < 3; ++axis)
        copy_strengths(pass_.dipoles[axis], taken,
                       static_cast<N>(NearCoordinates<N>::scale(pass_.tree.octree, leaf.level)),
                       dipole_[axis]);
    count_ += n;
    return {taken.end, range.end};
  }

  NearSources<N> sources() const {
    const bool dipoles = pass_.has_dipoles();
    return {count_,
            place_[0].data(),
            place_[1].data(),
            place_[2].data(),
            charge_.data(),
            dipoles ? dipole_[0].data() : nullptr,
            dipoles ? dipole_[1].data() : nullptr,
            dipoles ? dipole_[2].data() : nullptr};
  }

 private:
  void copy_strengths(const LargeVector<T>& from, Range range, N scale, std::vector<N>& to) {
    const auto n_sources = static_cast<std::int64_t>(pass_.tree.sources.size());
    const int present = std::min(width_, pass_.vectors - first_vector_);
    for (int v = 0; v < present; ++v) {
      const T* strength = from.data() + (first_vector_ + v) * n_sources + range.begin;
      N* out = to.data() + static_cast<std::int64_t>(count_) * width_ + v;
      if (width_ == 1)  // a loop that the compiler vectorises
        for (int j = 0; j < range.size(); ++j) out[j] = scale * static_cast<N>(strength[j]);
      else
        for (int j = 0; j < range.size(); ++j)
          out[static_cast<std::int64_t>(j) * width_] = scale * static_cast<N>(strength[j]);
    }
  }

  const NearCoordinates<N>& places_;
  const Pass<T>& pass_;
  int first_vector_, width_, count_ = 0;
  std::array<std::vector<typename NearCoordinate<N>::Type>, 3> place_;
  std::vector<N> charge_;
  std::array<std::vector<N>, 3> dipole_;
};

/// Potential and gradient, or those of them that are asked for.
template <class N>
using NearSums = std::array<std::vector<N>, 4>;

template <class N>
N* pointer(std::vector<N>& values) {
  return values.empty() ? nullptr : values.data();
}

/// The factor for sums of that result (0: potential, 1 to 3: gradient) in coordinates of that unit.
inline double unit_of_sum(int result, double unit) { return result == 0 ? unit : unit * unit; }

template <class T>
bool is_wanted(const Pass<T>& pass, int result) {
  return !(result == 0 ? pass.potential : pass.gradient[0]).empty();
}

}  // namespace fmbem::fmm
