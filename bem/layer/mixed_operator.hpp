#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/bem/layer/charge_equations.hpp"
#include "fmbem/bem/layer/cuda/mixed_vectors.hpp"
#include "fmbem/bem/layer/mixed_rows.hpp"
#include "fmbem/bem/layer/row_parts.hpp"

namespace fmbem {

/// The operator of mixed rows: V on the rows where α is not 0, and averaged K' on those where β is
/// not, each made by make_boundary_operator(), so that a row costs what it costs there. The error
/// ‖(Ã−A)x‖ is at most the tolerance times ‖x‖ times max|α| ‖V‖ + max|β|/2 + max|γ|, errors of K'
/// being those of charges (make_averaged_flux()). Transposed products as well.
class MixedOperator final : public BoundaryOperator {
 public:
  using Part = RowPart<MixedRows, double>;
  /// αV, for which of the rows only α is needed: it can be made before the others are known.
  static Part make_v(const Panels& panels, const MixedRows& rows, const OperatorOptions& options);

  /// `v`: what make_v() made of these α and options. Throws InputError for rows that are not finite
  /// or not as many as there are panels, and for equations of unknown parts; else what
  /// make_boundary_operator() throws.
  MixedOperator(const Panels& panels, std::shared_ptr<const MixedRows> rows,
                const OperatorOptions& options = {}, std::optional<Part> v = {});
  MixedOperator(const Panels& panels, MixedRows rows, const OperatorOptions& options = {})
      : MixedOperator(panels, std::make_shared<const MixedRows>(std::move(rows)), options) {}

  std::size_t size() const override { return rows_->alpha.size(); }
  Processor processor() const override { return processor_; }
  void wait() const override;
  OperatorInfo info() const override;
  double accurate_tolerance() const override;
  double cheap_tolerance() const override;
  double tightest_tolerance() const override;
  double norm() const override { return norm_; }
  const LinearMap* rows_of_v() const override { return v_.get(); }
  double rest_norm() const override { return rest_norm_; }
  void diagonal_block(std::int64_t begin, std::int64_t end, double* block) const override;
  bool is_its_entries() const override { return equations_.empty(); }
  bool columns_on_device(const Columns& columns, double* entries) const override;
  std::unique_ptr<ApproximateInverse> approximate_inverse() const override;

  const MixedRows& mixed_rows() const { return *rows_; }
  const ChargeEquations& charge_equations() const { return equations_; }

  FluxOperator flux_operator() const { return flux_operator_of(parts_); }

 protected:
  void multiply(const double* x, double* y, const Product& product) const override;
  void multiply_on_device(const double* x, double* y, const Product& product) const override;

 private:
  static Product of_part(const Part& part, const Product& product);
  static bool is_v(const Part& part) { return part.factor == &MixedRows::alpha; }
  class RowsOfV;

  /// Adds a part's product, of part number k, times the rows' factors, to y. Returns it without
  /// these.
  LargeVector<double> add_product(const Part& part, const double* x, double* y,
                                  const Product& product) const;
  const double* add_product_on_device(std::size_t k, const double* x, double* y,
                                      const Product& product) const;
  void multiply_rows(const double* x, double* y, const Product& product) const;
  void multiply_transposed(const double* x, double* y, const Product& product) const;
  void multiply_transposed_on_device(const double* x, double* y, const Product& product) const;

  Panels panels_;
  std::shared_ptr<const MixedRows> rows_;
  ChargeEquations equations_;
  Processor processor_;
  RowParts<MixedRows, double> parts_;
  double norm_ = 0, rest_norm_ = 0;  ///< as many rows are gone through for them
  std::unique_ptr<const LinearMap> v_;
  std::unique_ptr<cuda::bem::MixedVectors> on_device_;  ///< null on the CPU
  mutable std::mutex multiplying_;  ///< products there go one after the other: they share room
};

}  // namespace fmbem
