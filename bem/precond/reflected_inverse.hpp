#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "fmbem/bem/geometry/panel_images.hpp"
#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/bem/layer/complex_rows.hpp"

namespace fmbem {

/// An approximate inverse for panels before symmetry planes, from one of the whole: the residual is
/// extended to the images with its signs, and of the result the panels' densities are kept. If the
/// whole's is exact, so is this, as its operator commutes with the reflections.
class ReflectedInverse final : public ApproximateInverse {
 public:
  /// `parts`: 2 for complex densities, 1 for real ones.
  ReflectedInverse(const Panels& panels, std::unique_ptr<ApproximateInverse> of_whole,
                   int parts = 1);

  std::string name() const override { return of_whole_->name(); }
  std::size_t size() const override { return parts_ * panels_.size(); }
  std::int64_t memory_bytes() const override { return of_whole_->memory_bytes(); }

 protected:
  void multiply(const double* x, double* y, const Product& product) const override;

 private:
  Panels panels_;
  std::unique_ptr<ApproximateInverse> of_whole_;
  int parts_;
};

/// Rows of the whole from those of the panels. A part that a charge equation names is one with its
/// image where it touches a mirror plane, else the image is a part of its own, with an equation
/// like it.
template <class T>
BasicMixedRows<T> rows_of_whole(const Panels& panels, const BasicMixedRows<T>& rows);

/// MixedInverse of the rows of panels, or of the whole's where they have images, which knows of no
/// stretched rows.
template <class T>
std::unique_ptr<ApproximateInverse> make_mixed_inverse(const Panels& panels,
                                                       const BasicMixedRows<T>& rows);

}  // namespace fmbem
