#pragma once

#include <cstdint>
#include <vector>

#include "fmbem/fmm/base/buffer.hpp"
#include "fmbem/fmm/choice/policy.hpp"
#include "fmbem/fmm/cpu/kernels.hpp"
#include "fmbem/fmm/cpu/operators.hpp"
#include "fmbem/fmm/expansion/harmonic_table.hpp"
#include "fmbem/fmm/tree/point_tree.hpp"

namespace fmbem::fmm {

template <class T>
HarmonicSteps<T> steps_of(const HarmonicTable<T>& table) {
  return {table.p, table.up.data(), table.down.data(), table.diagonal.data()};
}

/// One evaluation for `vectors` right-hand sides: what the stages read and write. Everything about
/// points is in the tree's order.
template <class T>
struct Pass {
  const PointTree& tree;
  const ParityOrder& order;
  const Accuracy& accuracy;
  const CpuKernels<T>& kernels;
  const CpuOperators<T>& operators;
  const HarmonicTable<T>& table;
  int vectors = 0;
  /// Which points of a box act, and on which they act: the other way round in a transposed pass.
  Range Box::*from = &Box::sources;
  Range Box::*to = &Box::targets;
  LargeVector<T> charges{};                 ///< [vectors][sources], or empty
  std::array<LargeVector<T>, 3> dipoles{};  ///< by component, likewise
  T* moments = nullptr;                     ///< [boxes][vectors][K]
  T* locals = nullptr;                      ///< [boxes][vectors][K]
  LargeVector<double> potential{};          ///< [vectors][targets], or empty
  std::array<LargeVector<double>, 3> gradient{};
  std::array<LargeVector<double>, 6> hessian{};  ///< entries of Symmetric3, likewise
  LargeVector<double> near_buffer{};             ///< what P2P's chunks add to each other

  /// Potential (0) or a component of the gradient (1 to 3).
  LargeVector<double>& result(int k) { return k == 0 ? potential : gradient[k - 1]; }
  bool is_transposed() const { return from == &Box::targets; }
  const SortedPoints& from_points() const {
    return is_transposed() ? tree.targets() : tree.sources;
  }
  const SortedPoints& to_points() const { return is_transposed() ? tree.sources : tree.targets(); }
  bool acts(const Box& box) const { return (box.*from).size() > 0; }
  bool is_acted_on(const Box& box) const { return (box.*to).size() > 0; }
  bool wants_values() const { return !potential.empty() || !gradient[0].empty(); }
  bool wants_hessian() const { return !hessian[0].empty(); }
  bool has_dipoles() const { return !dipoles[0].empty(); }
  T* moment(std::int64_t box) const { return moments + box * vectors * order.count; }
  T* local(std::int64_t box) const { return locals + box * vectors * order.count; }
};

// The stages but P2P (near_data.hpp) and those of functionals (functional_moments.hpp). Each writes
// its results anew, except L2L and L2P, which add.

/// M of those leaves, whose points act.
template <class T>
void p2m(const Pass<T>& pass, const std::vector<std::int32_t>& leaves);
/// M of the other boxes with sources, from level `levels` − 2 up to 2.
template <class T>
void m2m(const Pass<T>& pass);
/// L of every box with targets from level 2 on, of the sources between its parent's colleagues and
/// its own.
template <class T>
void m2l(const Pass<T>& pass);
/// Adds the parent's L.
template <class T>
void l2l(const Pass<T>& pass);
/// Adds the far field to the results.
template <class T>
void l2p(Pass<T>& pass);

}  // namespace fmbem::fmm
