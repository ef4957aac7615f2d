#pragma once

#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "fmbem/solvers/krylov_system.hpp"

namespace fmbem {

/// A right-hand side that has been solved for.
struct SolvedProblem {
  Vec b, x;
  double norm_b;
  SolveReport* report;
};

/// Finds true residuals by the accurate product. Where they are above the tolerance it refines: it
/// solves A d = b − A x for d and adds it to x, until they are below [Wilkinson 1963]. Residuals
/// come from products as accurate as x asks for: an operator's error counts against ‖A‖‖x‖, which
/// is far more than ‖b‖ where charges of opposite sign face each other across a narrow gap. Where
/// panels are of very different sizes, or x is large on a few of them, so is that of a solution
/// without any cancellation; there the product of V's rows with |x| tells, for an error of each
/// pair relative to its entry. After a correction, which is small, b − A x − A d is as accurate by
/// a looser product with d.
///
/// Problems that PETSc has not solved are left as they are. So are those for whose tolerance no
/// product is accurate enough (SolveReport::attainable_residual then says what is possible). Where
/// memory does not suffice for the accurate product, the operator's own serves, so that the
/// solution is not lost.
class Refinement {
 public:
  /// Solves each problem by the Krylov method.
  using Solve = std::function<std::vector<SolveReport>(std::span<const KrylovSystem::Problem>)>;

  /// `loose`: Product::tolerance of the products that solutions came from, which those of
  /// corrections are relaxed from as well for as long as that gets on; 0 for the operator's own.
  Refinement(const BoundaryOperator& op, double tolerance, Solve solve, double loose = 0)
      : op_(op), tolerance_(tolerance), loose_(loose), solve_(std::move(solve)) {}

  void refine(std::span<SolvedProblem> problems);

 private:
  static constexpr double unknown = std::numeric_limits<double>::infinity();
  /// Of the Krylov method.
  enum class Products { loose, own, tight };
  struct Open {
    SolvedProblem* problem;
    Products products;
    double last_residual;       ///< before the last step
    OwnedVec residual{};        ///< b − A x, once it is known
    OwnedVec correction{};      ///< that was added to x last
    double known_to = unknown;  ///< the Product::tolerance with which the residual was found
    double cancellation = 0;    ///< find_cancellations(); 0: not known yet
  };

  /// ‖A‖‖x‖/‖b‖; of the solution it is SolveReport::condition.
  double size_at_most(Vec x, const SolvedProblem& problem) const;
  /// Finds what errors of products with x are relative to, over ‖b‖, where it is not known.
  void find_cancellations(std::span<Open* const> open) const;
  /// From products with |x|.
  void find_sizes(std::span<Open* const> open) const;
  double loosest_tolerance() const;
  double product_tolerance(const Open& open) const;
  void measure(std::span<Open*> open);
  void measure_corrections(std::span<Open*> open);
  static void tell(const Open& open);
  bool is_done(const Open& open) const;
  static bool has_stalled(Open& open);
  KrylovSystem::Products products_of(const Open& open) const;
  void correct(std::span<Open*> open);

  const BoundaryOperator& op_;
  double tolerance_, loose_;
  Solve solve_;
};

}  // namespace fmbem
