#pragma once

#include <memory>

#include "fmbem/fmm/choice/policy.hpp"
#include "fmbem/fmm/functionals.hpp"
#include "fmbem/fmm/plan.hpp"
#include "fmbem/fmm/tree/point_tree.hpp"

namespace fmbem::fmm {

/// From the sources to the targets; transposed, the targets' strengths act on the sources.
enum class Direction { forward, transposed };

/// Evaluations on the CPU in the boxes of one tree, at one accuracy.
class Backend {
 public:
  virtual ~Backend() = default;
  /// Overwrites the fields. Arguments as checked by Plan::evaluate(). Transposed, of functionals
  /// alone, strengths are charges at the targets, and the potential is that of each source.
  virtual void evaluate(const Strengths& strengths, const Fields& fields, Direction direction,
                        Seconds& seconds) = 0;
  virtual std::int64_t operator_bytes() const = 0;
};

/// With the sources of the tree being those of the functionals, whose moments are kept or
/// integrated in every evaluation: then the near field is left to others; or, if that is null,
/// points. What is handed over must outlive the backend.
std::unique_ptr<Backend> make_cpu_backend(const PointTree& tree, const Accuracy& accuracy,
                                          const Functionals* functionals = nullptr,
                                          Moments moments = Moments::afresh);

}  // namespace fmbem::fmm
