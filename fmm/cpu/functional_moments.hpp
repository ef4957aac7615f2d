#pragma once

#include "fmbem/fmm/base/buffer.hpp"
#include "fmbem/fmm/cpu/pass.hpp"
#include "fmbem/fmm/functionals.hpp"

namespace fmbem::fmm {

template <class T>
struct BoxPoints;

/// The kernel of moments: κ in the tree's unit, 0 for Laplace's; and the first level whose boxes
/// have expansions, above which moments are not made.
struct FunctionalKernel {
  double kappa = 0;
  int top_level = 2;
};

/// Moments of a tree's sources that are functionals, in their boxes: a row [K] in parity order for
/// each strength of each source, kept or integrated again in each pass. The rows are S in the basis
/// of expansions: M = Σ_j x_j row_j for sources and, transposed, y_j = row_j · L. Where they are
/// not kept, P2M in double precision makes no rows: all points of a box go through the kernel
/// together.
template <class T>
class FunctionalMoments {
 public:
  /// What is handed over must outlive this object.
  FunctionalMoments(const PointTree& tree, const HarmonicTable<T>& table,
                    const Functionals& functionals, Moments moments,
                    const FunctionalKernel& kernel);

  /// Sets the moments M of every box with sources of its own.
  void p2m(const Pass<T>& pass) const;
  /// Adds the far field to the results of a transposed pass.
  void l2p(Pass<T>& pass) const;

 private:
  /// Calls body(box, its own sources, rows) for the boxes with sources of their own, from all
  /// threads.
  template <class Body>
  void for_boxes(Body&& body) const;
  void p2m_of_points(const Pass<T>& pass) const;
  void add_points(const Pass<T>& pass, std::int32_t box, BoxPoints<T>& room) const;
  /// [strengths][own sources][K] of one box.
  void integrate(std::int32_t box, WeightedPoints& points, T* rows) const;
  /// κ in the unit of a box.
  double kappa_of(const Box& box) const { return kernel_.kappa * tree_.octree.side(box.level); }
  /// Boxes far larger than 1/κ have no far field; their moments would be out of range.
  bool has_moments(const Box& box) const {
    return kernel_.kappa == 0 || box.level >= kernel_.top_level;
  }
  int strengths() const { return functionals_.strengths(); }
  /// Numbers of the rows of so many sources.
  std::int64_t numbers(std::int64_t sources) const { return sources * strengths() * count(); }
  std::int64_t count() const { return static_cast<std::int64_t>(table_.p + 1) * (table_.p + 1); }
  bool is_kept() const { return rows_.size() > 0 || single_rows_.size() > 0; }

  const PointTree& tree_;
  const HarmonicTable<T>& table_;
  const Functionals& functionals_;
  FunctionalKernel kernel_;
  // Box by box, [strengths][own sources][K], in one of them, or both empty.
  Buffer<T> rows_;
  Buffer<float> single_rows_;
};

}  // namespace fmbem::fmm
