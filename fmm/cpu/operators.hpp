#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "fmbem/fmm/base/buffer.hpp"
#include "fmbem/fmm/expansion/m2l_blocks.hpp"
#include "fmbem/fmm/expansion/translations.hpp"
#include "fmbem/fmm/method.hpp"
#include "fmbem/fmm/tree/point_tree.hpp"

namespace fmbem::fmm {

/// The first level on which boxes may be far from others. Targets of a treecode may be in a corner
/// of a box of the first level, far from the others; so may leaves of a hybrid.
constexpr int first_far_level(Method method) {
  return method == Method::treecode || method == Method::hybrid ? 1 : 2;
}

/// M2L of the orbits that have one order.
template <class T>
struct M2lGroup {
  ParityOrder order;
  std::vector<int> orbits;
  std::int64_t block_size;
  Buffer<T> blocks;  ///< [orbits][8][K][K], packed

  const T* block(std::size_t k, int e) const {
    return blocks.data() + (8 * static_cast<std::int64_t>(k) + e) * block_size;
  }
};

/// The blocks of translations.hpp, packed for CpuKernels::multiply, which has rows of coefficients
/// on the left.
template <class T>
struct CpuOperators {
  std::array<std::vector<T>, 8> upward;    ///< [K][K_e]
  std::array<std::vector<T>, 8> downward;  ///< [K_e][K]
  std::vector<M2lGroup<T>> m2l;

  std::int64_t bytes() const;
};

/// One set for each kernel and order, shared by all living plans. That of a homogeneous
/// kernel serves boxes of all levels; another kernel is in the unit of the boxes' side, the
/// parents' of upward and downward. M2L has the orbits whose bits are set.
template <class T, class Kernel>
std::shared_ptr<const CpuOperators<T>> cpu_operators(const Kernel& kernel, const ParityOrder& order,
                                                     M2lOrders orders, M2l m2l = M2l::fitted,
                                                     std::uint32_t some = all_but_siblings);

/// From now on sets outlive the last plan that uses them, up to so many bytes in all; those made
/// first go first. 0, as at the start of a process, keeps none. For programs that make plans of
/// the same orders again and again: a set of order 28 takes seconds to make.
void keep_operators(std::int64_t bytes);

/// The operators of a tree: one set for all levels, or one for each level from the first one on.
template <class T>
class LevelOperators {
 public:
  /// None: nothing is far.
  LevelOperators() = default;
  explicit LevelOperators(std::shared_ptr<const CpuOperators<T>> one) : sets_{std::move(one)} {}
  /// Yukawa's, κ being in the tree's unit: pairs beyond `reach`, in that unit, are left out. Each
  /// level has the orbits that its boxes need: surfaces far apart have many levels and few of them.
  LevelOperators(double kappa, double reach, const PointTree& tree, Method method,
                 const ParityOrder& order, M2lOrders orders);

  bool serves_all_levels() const { return sets_.size() == 1; }
  const CpuOperators<T>& of_parents(int level) const { return of(level); }
  const CpuOperators<T>& of_children(int level) const { return of(level + 1); }
  /// The first level whose boxes have M2L, or the number of levels.
  int top_level(const Octree& octree) const;
  std::int64_t bytes() const;

 private:
  const CpuOperators<T>& of(int level) const {
    return *sets_[serves_all_levels() ? 0 : static_cast<std::size_t>(level - first_)];
  }
  int first_ = 2;
  std::vector<std::shared_ptr<const CpuOperators<T>>> sets_;
};

}  // namespace fmbem::fmm
