#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/bem/layer/charge_equations.hpp"
#include "fmbem/bem/layer/complex_rows.hpp"
#include "fmbem/bem/layer/row_parts.hpp"

namespace fmbem {

/// The operator of rows with complex factors as a real one of twice the size, [Re σ, Im σ] to
/// [Re y, Im y]: V and K' multiply both parts at once. On the CPU, without transposed products.
/// Errors are those of MixedOperator.
class ComplexOperator final : public BoundaryOperator {
 public:
  /// Throws InputError for the GPU, for rows that are not as many as there are panels or not finite
  /// and for equations of unknown parts, else as make_boundary_operator() does.
  ComplexOperator(const Panels& panels, std::shared_ptr<const ComplexRows> rows,
                  const OperatorOptions& options = {});
  ComplexOperator(const Panels& panels, ComplexRows rows, const OperatorOptions& options = {})
      : ComplexOperator(panels, std::make_shared<const ComplexRows>(std::move(rows)), options) {}

  std::size_t size() const override { return 2 * rows_->alpha.size(); }
  OperatorInfo info() const override;
  double accurate_tolerance() const override;
  double tightest_tolerance() const override;
  double norm() const override;
  /// Of panels of the real parts, or of the imaginary ones.
  void diagonal_block(std::int64_t begin, std::int64_t end, double* block) const override;
  bool is_its_entries() const override { return equations_.empty(); }
  /// BasicMixedInverse of the complex rows.
  std::unique_ptr<ApproximateInverse> approximate_inverse() const override;

  FluxOperator flux_operator() const { return flux_operator_of(parts_); }

 protected:
  void multiply(const double* x, double* y, const Product& product) const override;

 private:
  std::vector<char> flux_rows() const;

  Panels panels_;
  std::shared_ptr<const ComplexRows> rows_;
  ChargeEquations equations_;
  RowParts<ComplexRows, Complex> parts_;
};

}  // namespace fmbem
