#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "fmbem/fmm/base/precision.hpp"
#include "fmbem/fmm/base/ranks.hpp"
#include "fmbem/fmm/base/symmetric3.hpp"
#include "fmbem/fmm/base/vec3.hpp"
#include "fmbem/fmm/method.hpp"

namespace fmbem::fmm {

/// What sits at the sources, for `count` right-hand sides: charges q and dipole moments d, each
/// [count][n_sources], in the order in which the plan got the sources. Either may be empty.
struct Strengths {
  std::span<const double> charges{};
  std::span<const Vec3d> dipoles{};
  int count = 1;
};

/// Where the results go, [count][n_targets]; what is empty is not computed.
struct Fields {
  std::span<double> potential{};
  std::span<Vec3d> gradient{};
  std::span<Symmetric3d> hessian{};  ///< second derivatives
};
void set_to_zero(const Fields& fields);

/// What a plan is made for. What is not given follows from the tolerance, the points and the rates
/// of the machine.
struct PlanOptions {
  /// Relative L2 error of each result, for charges of mixed sign that most points have: 1e-14 to
  /// 0.1, in single precision from 1e-6 on. Gradients are relative to those of all points but the
  /// thousandth that is closest to others, whatever its charges (docs/fmm.md).
  double tolerance = 1e-6;
  std::optional<Precision> precision{};  ///< single where the tolerance allows it
  double kappa = 0;            ///< of Yukawa's kernel, 1/length; 0, as by default, is Laplace's
  bool gradient = false;       ///< gradients will be asked for, and are to meet the tolerance
  bool dipoles = false;        ///< sources will have dipole moments
  bool hessian = false;        ///< so will second derivatives
  std::optional<int> order{};  ///< degree p of the expansions, 1 to 40
  /// Most points of a leaf; the FMM's, in the mean of a box and its colleagues (merge_leaves()).
  std::optional<int> max_leaf{};
  std::optional<double> inflation{};  ///< side of the root over that of the bounding cube, [1, 2)
  const Ranks* ranks = &one_rank();   ///< that share the points: one for now
  Method method = Method::fmm;
  /// Of a treecode or a hybrid: a box of radius r_s acts on one of radius r_t at the distance R of
  /// their centres by its expansion if (r_t + r_s)/R ≤ θ, 0 < θ ≤ 1. Radii are half diagonals.
  /// Default: 0.5 of a treecode; of a hybrid √3/2, boxes of one size being two sides apart, so that
  /// M2L is the FMM's.
  std::optional<double> theta{};
  /// What M2P of a treecode or a hybrid sums. Default: monomials up to order 6, where they are
  /// faster; with Yukawa's kernel harmonics.
  std::optional<Expansion> expansion{};
  /// ε of Plummer's kernel 1/(4π√(r² + ε²)), a length; 0, as by default, is Laplace's. Direct sums
  /// alone have it.
  double softening = 0;
  /// A histogram has at most 8 levels. On the CPU deeper boxes search for their points in its
  /// cells; the GPU, whose cells are to hold a leaf's points, sorts where it would need more
  /// levels, or far more cells than points. Trees of hybrids are made on the CPU for both.
  Construction construction = Construction::radix_sort;
  /// Of the GPU's near field in an FMM or a hybrid.
  ThirdLaw third_law = ThirdLaw::automatic;
};

/// What a plan chose and what it holds.
struct PlanInfo {
  int order;  ///< p
  Precision precision;
  int levels;  ///< of the octree, the root's included
  int max_leaf;
  double inflation;
  std::int64_t boxes, leaves;
  std::int64_t near_pairs;      ///< source-target pairs that are summed directly
  std::int64_t m2l_rows;        ///< parents times orbits: 8 products of a row each
  std::int64_t memory_bytes;    ///< of the plan, without the operators
  std::int64_t operator_bytes;  ///< of the translation operators, which plans share
  Method method = Method::fmm;  ///< never automatic
  /// Of a treecode or a hybrid: boxes that act on targets by their expansions.
  std::int64_t m2p_pairs = 0;
  Expansion expansion = Expansion::spherical;  ///< of M2P, in a treecode or a hybrid
  std::int64_t p2l_pairs = 0;  ///< of a hybrid: sources that act on expansions of boxes
  std::int64_t m2l_pairs = 0;  ///< of a hybrid with θ below 0.866: pairs of boxes, not in rows
  bool third_law = false;      ///< on the GPU: each pair of leaves is summed once
};

/// Seconds of the last evaluation, by stage, and of making the plan.
using Seconds = std::map<std::string, double>;

class PlanImpl;

/// Lets {} mean default options: a list of these can only be empty.
struct NoOptions {
  NoOptions() = delete;
};

/// A fast multipole method for fixed points, or another method for the same sums:
///
///     potential(x_i) = Σ_j G(x_i, y_j) q_j + d_j · ∇_y G(x_i, y_j),   G(x, y) = 1/(4π|x − y|),
///
/// its gradient and its second derivatives in x_i; also for Yukawa's kernel
/// exp(−κ|x − y|)/(4π|x − y|). Pairs that coincide contribute nothing. The same bits come out for
/// any number of threads. Threads may share a plan: its evaluations go one after the other, those
/// of several plans side by side.
/// Sources: Greengard and Rokhlin 1997; docs/theory.md, docs/fmm.md.
class Plan {
 public:
  /// Sources that are the targets too.
  explicit Plan(std::span<const Vec3d> points, const PlanOptions& options = {});
  Plan(std::span<const Vec3d> sources, std::span<const Vec3d> targets,
       const PlanOptions& options = {});
  /// Plan(points, {}) is Plan(points): without this one {} could be no targets, too.
  Plan(std::span<const Vec3d> points, std::initializer_list<NoOptions>);
  /// For the backends (cuda/fmm_plan.hpp).
  explicit Plan(std::unique_ptr<PlanImpl> made);
  // The first two throw InputError for options that cannot be met and for positions that are not
  // finite, and ResourceError where memory does not suffice. The points need not outlive the plan.
  ~Plan();
  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;

  std::size_t sources() const;
  std::size_t targets() const;

  /// Throws InputError for sizes that do not belong together, strengths that are not finite, and
  /// derivatives or dipoles that the plan was not made for. Results may not lie where strengths do:
  /// they are set to 0 first. O((sources + targets) p²).
  void evaluate(const Strengths& strengths, const Fields& fields) const;
  /// The same, to the last bit, after which evaluate_seconds() has the stages on a GPU, too. These
  /// go one after the other there, which takes longer.
  void evaluate_stages(const Strengths& strengths, const Fields& fields) const;

  /// Puts the points elsewhere: the plan is then what a new one would be for as many points, in a
  /// fraction of the time (docs/fmm.md). Order, precision, leaf size, inflation and operators stay,
  /// and with the order what close pairs of the first points made of it;
  /// results have the bits of a new plan with these choices. But operators of Yukawa's kernel
  /// belong to the sizes of boxes, so with κ > 0 the root stays, too, for points inside of it whose
  /// bounding cube is at least half as large; and where targets are farther from all sources than
  /// they were, that kernel's order and precision rise to what they need there. No other thread may
  /// use the plan meanwhile.
  ///
  /// Throws what the constructors do, and InputError for another number of points, and for one set
  /// of points where the plan has two, or the reverse. The plan then is as it was; on the GPU not
  /// after a ResourceError. O(n log n).
  void move(std::span<const Vec3d> points);
  void move(std::span<const Vec3d> sources, std::span<const Vec3d> targets);

  PlanInfo info() const;
  /// Of the last evaluation: sort, P2M, M2M, M2L, L2L, L2P, P2P; of a treecode sort, P2M, M2M, M2P
  /// and P2P, of a direct sum sort and P2P, of a hybrid P2L and M2P besides. On a GPU: copy, to its
  /// memory and back, and evaluate, or after evaluate_stages() the stages in its place. There
  /// "gather" brings M2L its factors, M2P of a treecode sums its pairs of points as well, and
  /// direct sums and treecodes have "results".
  Seconds evaluate_seconds() const;
  /// Of making the plan, or of its last move: choose, sort, tree, lists, operators.
  Seconds plan_seconds() const;

 private:
  template <class Evaluate>
  void evaluate_checked(const Strengths& strengths, const Fields& fields,
                        Evaluate&& evaluate) const;

  std::unique_ptr<PlanImpl> impl_;
};

}  // namespace fmbem::fmm
