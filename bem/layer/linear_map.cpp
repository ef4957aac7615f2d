#include "fmbem/bem/layer/linear_map.hpp"

#include <cstdint>
#include <vector>

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {

void LinearMap::apply(const double* x, double* y, const Product& product) const {
  FMBEM_REQUIRE(product.vectors >= 1,
                "a product needs at least one vector, not " << product.vectors);
  if (product.alpha == 1 && product.beta == 0) return multiply(x, y, product);
  Product plain = product;  // a sum of maps hands on what it is given
  plain.alpha = 1;
  plain.beta = 0;
  std::vector<double> ax((product.transposed ? columns() : rows()) * product.vectors);
  multiply(x, ax.data(), plain);
  const auto n = static_cast<std::int64_t>(ax.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < n; ++i)
    y[i] = product.alpha * ax[i] + (product.beta == 0 ? 0 : product.beta * y[i]);
}

void LinearMap::apply_on_device(const double* x, double* y, const Product& product) const {
  FMBEM_REQUIRE(product.vectors >= 1,
                "a product needs at least one vector, not " << product.vectors);
  FMBEM_REQUIRE(product.alpha == 1 && product.beta == 0,
                "products in the GPU's memory are y = A x: scale and add with PETSc's vectors");
  multiply_on_device(x, y, product);
}

void LinearMap::multiply_on_device(const double*, double*, const Product&) const {
  throw Error(ExitCode::internal_error,
              "this operator is on the CPU: it takes vectors in host memory");
}

void refuse_transposed(const Product& product, const char* map) {
  FMBEM_REQUIRE(!product.transposed, map << " has no transposed products");
}

}  // namespace fmbem
