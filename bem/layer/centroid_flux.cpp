#include "fmbem/bem/layer/centroid_flux.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

#include "fmbem/bem/layer/far_choice.hpp"
#include "fmbem/bem/layer/fmm_operator.hpp"
#include "fmbem/bem/layer/green_operator.hpp"

namespace fmbem {
namespace {

class CentroidFlux final : public BoundaryOperator {
 public:
  CentroidFlux(const Panels& panels, const OperatorOptions& options, const PanelBlock& block)
      : panels_(panels), options_(options), block_(block), green_(green(options)) {}

  std::size_t size() const override { return panels_.size(); }
  std::size_t rows() const override { return green_.rows(); }
  std::size_t columns() const override { return green_.columns(); }
  Processor processor() const override { return green_.processor(); }
  void wait() const override { green_.wait(); }
  OperatorInfo info() const override {
    const std::lock_guard after_products(multiplying_);
    OperatorInfo info = green_.info();
    info.name = adjoint_double_layer.name();
    return info;
  }
  double accurate_tolerance() const override {
    return accurate_tolerance_for(options_.tolerance, Trace::normal);
  }
  double tightest_tolerance() const override { return least_tolerance(Trace::normal).of_operator; }
  double norm() const override { return 0.5; }
  void diagonal_block(std::int64_t begin, std::int64_t end, double* block) const override {
    exact_block(panels_, adjoint_double_layer, begin, end, block, options_.kappa);
  }

 protected:
  void multiply(const double* x, double* y, const Product& product) const override {
    const std::lock_guard one_at_a_time(multiplying_);
    for_accuracy(product, [&](const GreenOperator& green) {
      const std::size_t n = columns(), m = rows();
      std::vector<double> sources(2 * n, 0.0), results(2 * m, 0.0);  // charges come first
      const auto fluxes = results.begin() + static_cast<std::ptrdiff_t>(m);
      for (int v = 0; v < product.vectors; ++v) {
        if (product.transposed) {
          std::copy_n(x + v * m, m, fluxes);
          green.multiply_transposed(results, sources);
          std::copy_n(sources.begin(), n, y + v * n);
        } else {
          std::copy_n(x + v * n, n, sources.begin());
          green.multiply(sources, results);
          std::copy_n(fluxes, m, y + v * m);
        }
      }
    });
  }
  void multiply_on_device(const double* x, double* y, const Product& product) const override {
    const std::lock_guard one_at_a_time(multiplying_);
    for_accuracy(product, [&](const GreenOperator& green) {
      for (int v = 0; v < product.vectors; ++v)
        if (product.transposed)
          green.flux_transposed_on_device(x + v * rows(), y + v * columns());
        else
          green.flux_on_device(x + v * columns(), y + v * rows());
      if (&green != &green_) green.wait();  // it ends here
    });
  }

 private:
  GreenOperator green(const OperatorOptions& options) const {
    return GreenOperator(panels_, block_,
                         {GreenTerm{.kappa = options.kappa, .v = 0, .k = 0, .k_adjoint = 1}},
                         options);
  }
  /// Tighter products have an operator of their own.
  template <class Multiply>
  void for_accuracy(const Product& product, Multiply&& multiply) const {
    if (product.tolerance == 0 || product.tolerance >= options_.tolerance) return multiply(green_);
    OperatorOptions tighter = options_;
    tighter.tolerance = product.tolerance;
    tighter.precision = Precision::double_precision;
    multiply(green(tighter));
  }

  Panels panels_;
  OperatorOptions options_;
  PanelBlock block_;
  GreenOperator green_;
  mutable std::mutex multiplying_;  ///< products share the room of green_
};

}  // namespace

std::shared_ptr<BoundaryOperator> make_centroid_flux(const Panels& panels,
                                                     const OperatorOptions& options,
                                                     const PanelBlock& block) {
  return std::make_shared<CentroidFlux>(panels, options, block);
}

}  // namespace fmbem
