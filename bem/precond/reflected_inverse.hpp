#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "fmbem/bem/geometry/panel_images.hpp"
#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/bem/layer/mixed_rows.hpp"

namespace fmbem {

/// An approximate inverse for panels before symmetry planes, from one of the whole: the residual is
/// extended to the images with its signs, and of the result the panels' densities are kept. If the
/// whole's is exact, so is this, as its operator commutes with the reflections.
class ReflectedInverse final : public ApproximateInverse {
 public:
  ReflectedInverse(const Panels& panels, std::unique_ptr<ApproximateInverse> of_whole);

  std::string name() const override { return of_whole_->name(); }
  std::size_t size() const override { return panels_.size(); }
  std::int64_t memory_bytes() const override { return of_whole_->memory_bytes(); }

 protected:
  void multiply(const double* x, double* y, const Product& product) const override;

 private:
  Panels panels_;
  std::unique_ptr<ApproximateInverse> of_whole_;
};

/// Rows of the whole from those of the panels. A part that a charge equation names is one with its
/// image where it touches a mirror plane, else the image is a part of its own, with an equation
/// like it.
MixedRows rows_of_whole(const Panels& panels, const MixedRows& rows);

/// MixedInverse of the rows of panels, or of the whole's where they have images.
std::unique_ptr<ApproximateInverse> make_mixed_inverse(const Panels& panels, const MixedRows& rows);

}  // namespace fmbem
