#pragma once

#include <memory>

#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/bem/layer/charge_equations.hpp"
#include "fmbem/bem/layer/mixed_rows.hpp"

namespace fmbem {

/// The operator of mixed rows: V where some α is not 0 and averaged K' where some β is not, each as
/// make_boundary_operator() has it. ‖(Ã−A)x‖ is at most the tolerance times max|α| ‖V‖ + max|β|
/// ‖K'‖, errors of K' counting as charges (make_averaged_flux()). Transposed products, too.
class MixedOperator final : public BoundaryOperator {
 public:
  /// Throws InputError for rows that are not as many as there are panels or not finite and for
  /// equations of unknown parts, else as make_boundary_operator() does.
  MixedOperator(const Panels& panels, MixedRows rows, const OperatorOptions& options = {});

  std::size_t size() const override { return rows_.alpha.size(); }
  OperatorInfo info() const override;
  double accurate_tolerance() const override;
  double tightest_tolerance() const override;
  double norm() const override;
  void diagonal_block(std::int64_t begin, std::int64_t end, double* block) const override;

  const MixedRows& mixed_rows() const { return rows_; }
  const ChargeEquations& charge_equations() const { return equations_; }
  /// Averaged K' of the same panels, made now if no row has it.
  const BoundaryOperator& flux() const;

 protected:
  void multiply(const double* x, double* y, const Product& product) const override;

 private:
  void multiply_rows(const double* x, double* y, const Product& product) const;
  void multiply_transposed(const double* x, double* y, const Product& product) const;
  double largest_of(double (BoundaryOperator::*of)() const) const;

  Panels panels_;
  OperatorOptions options_;
  MixedRows rows_;
  ChargeEquations equations_;
  std::shared_ptr<const BoundaryOperator> v_;             ///< null where no row has it
  mutable std::shared_ptr<const BoundaryOperator> flux_;  ///< null until it is needed
};

}  // namespace fmbem
