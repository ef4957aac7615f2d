#pragma once

#include <cstdint>
#include <vector>

#include "fmbem/fmm/base/buffer.hpp"
#include "fmbem/fmm/cpu/kernels.hpp"
#include "fmbem/fmm/cpu/operators.hpp"
#include "fmbem/fmm/expansion/harmonic_table.hpp"
#include "fmbem/fmm/plan_data.hpp"

namespace fmbem::fmm {

template <class T>
HarmonicSteps<T> steps_of(const HarmonicTable<T>& table) {
  return {table.p, table.up.data(), table.down.data(), table.diagonal.data()};
}

/// One evaluation for `vectors` right-hand sides: what the stages read and write. Everything about
/// points is in the plan's order.
template <class T>
struct Pass {
  const PlanData& data;
  const CpuKernels<T>& kernels;
  const CpuOperators<T>& operators;
  const HarmonicTable<T>& table;
  int vectors = 0;
  LargeVector<T> charges{};                 ///< [vectors][sources], or empty
  std::array<LargeVector<T>, 3> dipoles{};  ///< by component, likewise
  T* moments = nullptr;                     ///< [boxes][vectors][K]
  T* locals = nullptr;                      ///< [boxes][vectors][K]
  LargeVector<double> potential{};          ///< [vectors][targets], or empty
  std::array<LargeVector<double>, 3> gradient{};
  LargeVector<double> near_buffer{};  ///< what P2P's chunks add to each other

  /// Potential (0) or a component of the gradient (1 to 3).
  LargeVector<double>& result(int k) { return k == 0 ? potential : gradient[k - 1]; }
  bool has_dipoles() const { return !dipoles[0].empty(); }
  T* moment(std::int64_t box) const { return moments + box * vectors * data.order.count; }
  T* local(std::int64_t box) const { return locals + box * vectors * data.order.count; }
};

// The stages but P2P (near_data.hpp). Each writes its results anew, except L2L and L2P, which add.

/// M of every leaf with sources.
template <class T>
void p2m(const Pass<T>& pass);
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
