#pragma once

#include <cstddef>

#include "fmbem/fmm/base/processor.hpp"

namespace fmbem {

/// What is asked of a product y = α A x + β y.
struct Product {
  int vectors = 1;  ///< x is [vectors][columns], y is [vectors][rows]
  /// ‖(Ã−A)x‖/(‖A‖‖x‖) at the most. 0, and whatever is looser than the map's own tolerance, means
  /// that one. A tighter product costs more: what it needs is made for it alone.
  double tolerance = 0;
  bool transposed = false;  ///< Aᵀ: x is [vectors][rows] then, and y [vectors][columns]
  double alpha = 1, beta = 0;
};

/// A linear map A of vectors in host memory and, where its data are on a GPU, of vectors there.
/// Threads may share a map: products in host memory wait for each other where they have to.
class LinearMap {
 public:
  virtual ~LinearMap() = default;

  virtual std::size_t rows() const = 0;
  virtual std::size_t columns() const = 0;

  /// y = α A x + β y; y is not read if β is 0. Throws InputError for what this map cannot do.
  void apply(const double* x, double* y, const Product& product = {}) const;

  virtual Processor processor() const { return Processor::cpu; }
  /// The same with x and y in the GPU's memory, enqueued in its default stream, in the order of
  /// what else is there. x is not checked: for one that is not finite, which apply() refuses with
  /// an InputError, the FMM gives NaN everywhere. Throws Error where processor() is not the GPU.
  void apply_on_device(const double* x, double* y, const Product& product = {}) const;
  /// Waits until all that apply_on_device() has enqueued is done.
  virtual void wait() const {}

 protected:
  /// y = A x, with the product's vectors and tolerance, transposed or not; its α is 1, its β 0.
  virtual void multiply(const double* x, double* y, const Product& product) const = 0;
  virtual void multiply_on_device(const double* x, double* y, const Product& product) const;
};

/// For maps without a transpose: throws InputError if one is asked for.
void refuse_transposed(const Product& product, const char* map);

}  // namespace fmbem
