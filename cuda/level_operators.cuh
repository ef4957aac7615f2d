#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <cuda_runtime.h>

#include "fmbem/cuda/check.cuh"
#include "fmbem/cuda/operators.cuh"
#include "fmbem/cuda/tree.cuh"
#include "fmbem/fmm/base/tasks.hpp"
#include "fmbem/fmm/expansion/box_fit.hpp"
#include "fmbem/fmm/expansion/harmonic_samples.hpp"
#include "fmbem/fmm/expansion/m2l_blocks.hpp"
#include "fmbem/fmm/expansion/yukawa_translations.hpp"
#include "fmbem/fmm/lists/reach.hpp"

namespace fmbem::cuda {

/// The kernel of a plan: Laplace's, or Yukawa's in the tree's unit, whose pairs beyond `reach`, in
/// that unit, are left out.
struct PlanKernel {
  double kappa = 0, reach = fmm::endless;
  /// The first level whose boxes have expansions, if the kernel's reach does not leave out more.
  int top_level = 2;
  M2lBlocks m2l = M2lBlocks::all;
};

/// The operators of a tree: one set for all levels, or one for each level that needs them.
template <class T>
class LevelOperators {
 public:
  /// The levels that need them, without making any.
  LevelOperators(const PlanKernel& kernel, const DeviceTree& tree)
      : kernel_{kernel.kappa, kernel.top_level}, m2l_(kernel.m2l) {
    if (kernel.kappa == 0) return;
    while (kernel_.top_level < tree.levels() && side(tree, kernel_.top_level) > kernel.reach)
      ++kernel_.top_level;
    reach_ = kernel.reach;
  }

  void make(const fmm::ParityOrder& order, const DeviceTree& tree) {
    if (serves_all_levels()) {
      sets_ = {device_operators<T>(fmm::Laplace(), order, m2l_)};
      orbits_ = {fmm::orbits - 1};
      return;
    }
    const int levels = std::max(0, tree.levels() - kernel_.top_level);
    sets_.resize(levels);
    orbits_.resize(levels);
    std::vector<fmm::Yukawa> kernels;
    std::vector<int> missing;
    for (int k = 0; k < levels; ++k) {
      const double unit = side(tree, kernel_.top_level + k);
      kernels.push_back({kernel_.kappa * unit});
      orbits_[k] = orbits_within(reach_ / unit);
      sets_[k] = known_operators<T>(kernels[k], order, m2l_);
      if (!sets_[k]) missing.push_back(k);
    }
    // What levels have in common, made by all threads and held till all have their own.
    const auto of_fit = fmm::harmonic_samples(fmm::fitted_degree(order.p)),
               of_upward = fmm::harmonic_samples(order.p);
    if (!missing.empty() && m2l_ == M2lBlocks::all) of_fit->cube();
    for (const int k : missing) of_upward->sphere(fmm::upward_rings(order.p, kernels[k]));
    int device = 0;
    FMBEM_CUDA(cudaGetDevice(&device));
    // The host's part of each is too small for all threads.
    for_tasks(static_cast<std::int64_t>(missing.size()), [&](std::int64_t i) {
      FMBEM_CUDA(cudaSetDevice(device));  // each thread has its own
      const int k = missing[i];
      sets_[k] = device_operators<T>(kernels[k], order, m2l_);
    });
  }

  const FarKernel& kernel() const { return kernel_; }
  bool serves_all_levels() const { return kernel_.kappa == 0; }
  /// M2M and L2L of parents of a level.
  OperatorsView<T> of_parents(int level) const { return sets_[index(level)]->view(); }
  /// M2L between their children, and how many orbits it has: all up to the last one within reach.
  OperatorsView<T> of_children(int level) const { return sets_[index(level + 1)]->view(); }
  int orbits_of_children(int level) const { return orbits_[index(level + 1)]; }

  std::int64_t bytes() const {
    std::int64_t sum = 0;
    for (const auto& set : sets_) sum += set->bytes();
    return sum;
  }

 private:
  static double side(const DeviceTree& tree, int level) {
    return std::ldexp(tree.root.side, -level);
  }
  static int orbits_within(double gap) {
    int count = fmm::orbits - 1;
    while (count > 1 && fmm::m2l_gap(count) > gap) --count;
    return count;
  }
  std::size_t index(int level) const {
    return serves_all_levels() ? 0 : static_cast<std::size_t>(level - kernel_.top_level);
  }

  FarKernel kernel_;
  M2lBlocks m2l_;
  double reach_ = 0;
  std::vector<std::shared_ptr<const DeviceOperators<T>>> sets_;
  std::vector<int> orbits_;
};

}  // namespace fmbem::cuda
