#include "fmbem/bem/cuda/fmm_operator.hpp"

namespace fmbem::cuda {

std::unique_ptr<BoundaryOperator> make_fmm_single_layer(const Panels&, const OperatorOptions&) {
  require_cuda_device();
  return nullptr;
}

}  // namespace fmbem::cuda
