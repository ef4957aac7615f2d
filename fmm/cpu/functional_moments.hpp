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

/// Moments that are kept, those of a box with parts shared by its sources and those of others.
template <class Row>
struct KeptMoments {
  struct Shared {
    int parts = 0;             ///< 0: no parts
    Buffer<Row> moments;       ///< [parts][K]
    Buffer<Row> coefficients;  ///< [own sources][parts]
  };
  std::vector<Shared> shared;       ///< [boxes with sources]
  std::vector<std::int64_t> begin;  ///< [boxes with sources + 1], of the others' rows
  Buffer<Row> rows;                 ///< box after box, [strengths][own sources][K]

  std::int64_t bytes() const {
    std::int64_t numbers = static_cast<std::int64_t>(rows.size());
    for (const Shared& box : shared)
      numbers += static_cast<std::int64_t>(box.moments.size() + box.coefficients.size());
    return numbers * static_cast<std::int64_t>(sizeof(Row));
  }
};

/// Moments of a tree's sources that are functionals, in their boxes: a row [K] in parity order for
/// each strength of each source, kept or integrated again in each pass. The rows are S in the basis
/// of expansions: M = Σ_j x_j row_j for sources and, transposed, y_j = row_j · L. Where they are
/// not kept, P2M in double precision makes no rows: all points of a box go through the kernel
/// together. Where sources share parts (Functionals::share_parts) the parts have rows, and
/// strengths of sources are gathered to those of parts.
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
  std::int64_t kept_bytes() const { return kept_.bytes() + single_.bytes(); }

 private:
  template <class Row>
  void keep(KeptMoments<Row>& kept) const;
  template <class Row>
  void p2m_kept(const Pass<T>& pass, const KeptMoments<Row>& kept) const;
  /// The far field at box i's sources, whose local expansion is given.
  template <class Row>
  void take_kept(const KeptMoments<Row>& kept, std::size_t i, const T* local,
                 std::vector<T>& sums) const;
  void p2m_of_points(const Pass<T>& pass) const;
  void add_points(const Pass<T>& pass, std::int32_t box, BoxPoints<T>& room) const;
  /// Adds what a box's own sources have, whose rows are given, to its moments of vector v.
  template <class Row>
  void add_own(const Pass<T>& pass, int v, Range own, const Row* rows, T* moment) const;
  /// [strengths][own sources][K] of one box.
  void integrate(std::int32_t box, BoxPoints<T>& room, T* rows) const;
  /// [K] of some points in a box; that of the second strength `next` numbers on.
  void integrate_points(const Box& box, const WeightedPoints& points, BoxPoints<T>& room, T* row,
                        std::int64_t next) const;
  bool share_parts(const Box& box, SharedParts& shared) const;
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
  static Range own_of(const PointTree& tree, std::size_t i) {
    return tree.octree.boxes[tree.lists.source_boxes[i]].own_sources();
  }

  const PointTree& tree_;
  const HarmonicTable<T>& table_;
  const Functionals& functionals_;
  FunctionalKernel kernel_;
  Moments moments_;
  // One of them, or none.
  KeptMoments<T> kept_;
  KeptMoments<float> single_;
};

}  // namespace fmbem::fmm
