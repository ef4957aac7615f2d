#pragma once

// The tests of operators are compiled twice: for the CPU, and with FMBEM_TEST_CUDA for the GPU.
#include <memory>

#include "fmbem/bem/layer/boundary_operator.hpp"
#include "tests/unit/fmm/backends.hpp"

#ifdef FMBEM_TEST_CUDA
#include "fmbem/cuda/device_array.hpp"
#endif

namespace fmbem::test {

/// The near fields that the backend has.
#ifdef FMBEM_TEST_CUDA
inline constexpr OperatorOptions::NearField near_fields[] = {OperatorOptions::NearField::stored,
                                                             OperatorOptions::NearField::lean};
#else
inline constexpr OperatorOptions::NearField near_fields[] = {OperatorOptions::NearField::stored};
#endif

inline std::shared_ptr<BoundaryOperator> make_fmm(const Panels& panels, const Layer& layer,
                                                  OperatorOptions options,
                                                  const PanelBlock& block = {}) {
  options.kind = OperatorOptions::Choice::fmm;
#ifdef FMBEM_TEST_CUDA
  options.processor = Processor::gpu;
#endif
  return make_boundary_operator(panels, layer, options, block);
}
inline std::shared_ptr<BoundaryOperator> make_fmm(const Panels& panels,
                                                  const OperatorOptions& options) {
  return make_fmm(panels, single_layer, options);
}

}  // namespace fmbem::test
