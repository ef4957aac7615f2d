#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/layer/boundary_operator.hpp"

namespace fmbem {

/// y = K μ − ½ s μ + Σ_b mean_b(μ) w_b, with means by area over parts b of the panels.
class SecondKindOperator final : public BoundaryOperator {
 public:
  struct Charge {
    std::vector<std::int32_t> panels;  ///< of the part
    double area;
    double density;                 ///< even over the part, whose potential is w
    std::vector<double> potential;  ///< w, [n panels]
  };
  /// `jump`: s, [n panels].
  SecondKindOperator(const Panels& panels, std::shared_ptr<const BoundaryOperator> k,
                     std::vector<double> jump, std::vector<Charge> charges);

  std::size_t size() const override { return area_->size(); }
  OperatorInfo info() const override;
  double accurate_tolerance() const override { return k_->accurate_tolerance(); }
  double tightest_tolerance() const override { return k_->tightest_tolerance(); }
  double norm() const override { return 0.5 + k_->norm(); }
  void diagonal_block(std::int64_t begin, std::int64_t end, double* block) const override;

  /// mean_b(μ) of a part.
  double mean(const Charge& charge, const double* mu) const;
  const std::vector<Charge>& charges() const { return charges_; }

 protected:
  void multiply(const double* x, double* y, const Product& product) const override;

 private:
  Areas area_;
  std::shared_ptr<const BoundaryOperator> k_;
  std::vector<double> jump_;
  std::vector<Charge> charges_;
};

}  // namespace fmbem
