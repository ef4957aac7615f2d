#pragma once

#include <memory>

#include "fmbem/fmm/choice/policy.hpp"
#include "fmbem/fmm/functionals.hpp"
#include "fmbem/fmm/plan.hpp"
#include "fmbem/fmm/tree/point_tree.hpp"

namespace fmbem::fmm {

/// The direction: sources act on targets or, transposed, the targets' strengths on the sources.
enum class Direction { forward, transposed };

/// Evaluations on the CPU in the boxes of one tree, at one accuracy.
class Backend {
 public:
  virtual ~Backend() = default;
  /// Overwrites the fields. Arguments are as Plan::evaluate() checks them. In a transposed pass,
  /// which functionals alone have, the strengths are charges at the targets, and the potential is
  /// that of each source.
  virtual void evaluate(const Strengths& strengths, const Fields& fields, Direction direction,
                        Seconds& seconds) = 0;
  virtual std::int64_t operator_bytes() const = 0;
  /// Of the functionals' moments, where they are kept.
  virtual std::int64_t moment_bytes() const = 0;
};

/// A backend for a tree whose sources are these functionals, with moments that are kept or are
/// integrated in every evaluation; the near field is then left to others. If `functionals` is null
/// the sources are points. What is handed over must outlive the backend.
std::unique_ptr<Backend> make_cpu_backend(const PointTree& tree, const Accuracy& accuracy,
                                          const Functionals* functionals = nullptr,
                                          Moments moments = Moments::afresh);

}  // namespace fmbem::fmm
