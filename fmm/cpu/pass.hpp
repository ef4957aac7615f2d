#pragma once

#include <cstdint>
#include <vector>

#include "fmbem/fmm/base/buffer.hpp"
#include "fmbem/fmm/choice/policy.hpp"
#include "fmbem/fmm/cpu/kernels.hpp"
#include "fmbem/fmm/cpu/operators.hpp"
#include "fmbem/fmm/expansion/harmonic_table.hpp"
#include "fmbem/fmm/expansion/raised_moments.hpp"
#include "fmbem/fmm/lists/reach.hpp"
#include "fmbem/fmm/tree/point_tree.hpp"

namespace fmbem::fmm {

template <class T>
HarmonicSteps<T> steps_of(const HarmonicTable<T>& table) {
  return {table.p, table.up.data(), table.down.data(), table.diagonal.data()};
}

/// One evaluation for `vectors` right-hand sides: what the stages read and write. All that belongs
/// to points is in the tree's order.
template <class T>
struct Pass {
  const PointTree& tree;
  const ParityOrder& order;
  const Accuracy& accuracy;
  const CpuKernels<T>& kernels;
  const LevelOperators<T>& operators;
  const HarmonicTable<T>& table;
  int vectors = 0;
  /// The points of a box that act, and those that are acted on; a transposed pass swaps them.
  Range Box::*from = &Box::sources;
  Range Box::*to = &Box::targets;
  /// [vectors][sources], or empty; [vectors][strengths][sources] of functionals with more than one.
  LargeVector<T> charges{};
  std::array<LargeVector<T>, 3> dipoles{};  ///< by component, likewise
  T* moments = nullptr;                     ///< [boxes][vectors][K]
  T* locals = nullptr;                      ///< [boxes][vectors][K]
  LargeVector<double> potential{};          ///< [vectors][targets], or empty
  std::array<LargeVector<double>, 3> gradient{};
  std::array<LargeVector<double>, 6> hessian{};  ///< entries of Symmetric3, likewise
  LargeVector<double> near_buffer{};             ///< what P2P's chunks add to each other
  double kappa = 0;        ///< of Yukawa's kernel, in the tree's unit; 0: Laplace's
  double softening = 0;    ///< of Plummer's kernel, likewise; 0 without
  double reach = endless;  ///< pairs that are farther apart, likewise, are left out
  int top_level = 2;       ///< there and below boxes have expansions
  const RaisedMoments<T>* raised = nullptr;  ///< for M2P of Yukawa's kernel with gradients

  /// The result of that number: potential (0) or a component of the gradient (1 to 3).
  LargeVector<double>& result(int k) { return k == 0 ? potential : gradient[k - 1]; }
  bool is_transposed() const { return from == &Box::targets; }
  const SortedPoints& from_points() const {
    return is_transposed() ? tree.targets() : tree.sources;
  }
  const SortedPoints& to_points() const { return is_transposed() ? tree.sources : tree.targets(); }
  bool acts(const Box& box) const { return (box.*from).size() > 0; }
  bool is_acted_on(const Box& box) const { return (box.*to).size() > 0; }
  /// κ in the unit of boxes of a level.
  double kappa_of(int level) const { return kappa * tree.octree.side(level); }
  bool wants_values() const { return !potential.empty() || !gradient[0].empty(); }
  bool wants_hessian() const { return !hessian[0].empty(); }
  bool has_dipoles() const { return !dipoles[0].empty(); }
  T* moment(std::int64_t box) const { return moments + box * vectors * order.count; }
  T* local(std::int64_t box) const { return locals + box * vectors * order.count; }
};

// The stages other than P2P (near_data.hpp) and those of functionals (functional_moments.hpp). Each
// overwrites its results, except L2L and L2P, which add to them.

/// Moments of the leaves whose points act.
template <class T>
void p2m(const Pass<T>& pass, const std::vector<std::int32_t>& leaves);
/// Moments of the other boxes with sources, from the level above the deepest up to level 2.
template <class T>
void m2m(const Pass<T>& pass);
/// Local expansions of every box with targets from level 2 on, of the sources in its parent's
/// colleagues but not in its own.
template <class T>
void m2l(const Pass<T>& pass);
/// Adds the parents' local expansions to the children's.
template <class T>
void l2l(const Pass<T>& pass);
/// Adds the far field to the results.
template <class T>
void l2p(Pass<T>& pass);

}  // namespace fmbem::fmm
