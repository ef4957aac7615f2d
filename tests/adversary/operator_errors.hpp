#pragma once

// Errors of fast operators, as the tolerance means them.
#include <cstddef>
#include <utility>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/layer/layer.hpp"
#include "tests/unit/vectors.hpp"

namespace fmbem::test {

/// What errors are relative to: ‖V‖, and 1/2 of K and K'.
inline double reference_norm(const BoundaryOperator& dense, const Layer& layer) {
  if (layer != single_layer) return 0.5;
  return two_norm(dense.size(), [&](const Vector& x, bool transposed) {
    Vector y(x.size());
    dense.apply(x.data(), y.data(), {.transposed = transposed});
    return y;
  });
}

/// The error of a fast operator à with weights w: diag(w) (Ã−A) diag(w)⁻¹, or its transpose. Errors
/// of K' averaged over panels are those of charges, so that w are areas there.
class OperatorError {
 public:
  OperatorError(const Panels& panels, const Layer& layer, const BoundaryOperator& dense)
      : dense_(&dense), weights_(panels.size(), 1.0) {
    if (layer.target == Trace::normal)
      for (std::size_t i = 0; i < weights_.size(); ++i) weights_[i] = panels.area(i);
  }

  /// Its product with x. multiply(x, y) puts Ã x, or Ãᵀ x, into y.
  template <class Multiply>
  Vector operator()(Vector x, bool transposed, const Multiply& multiply) const {
    weigh(x, transposed);
    Vector y(x.size()), exact(x.size());
    multiply(x.data(), y.data());
    dense_->apply(x.data(), exact.data(), {.transposed = transposed});
    y = difference(std::move(y), exact);
    weigh(y, !transposed);
    return y;
  }
  /// The same of an operator's products to a tolerance; 0 is its own.
  Vector operator()(Vector x, bool transposed, const BoundaryOperator& fast,
                    double tolerance) const {
    return (*this)(std::move(x), transposed, [&](const double* from, double* to) {
      fast.apply(from, to, {.tolerance = tolerance, .transposed = transposed});
    });
  }

 private:
  void weigh(Vector& z, bool by_weight) const {
    for (std::size_t i = 0; i < z.size(); ++i)
      z[i] = by_weight ? z[i] * weights_[i] : z[i] / weights_[i];
  }

  const BoundaryOperator* dense_;
  Vector weights_;
};

}  // namespace fmbem::test
