#pragma once

#include <cstdint>
#include <type_traits>

#include <cuda_runtime.h>

#include "fmbem/cuda/pass.cuh"

namespace fmbem::cuda {

/// Copies operators of M2L, [8][count][stride], to [8][count][split_stride(depth)] split numbers
/// in the order that tensor cores take them, with the units of rows in `units`, [8][count].
void split_operators(const float* values, std::int64_t stride, int count, int depth,
                     SplitNumber* split, float* units, cudaStream_t stream);

/// M2L's products of `count` coefficients: of gathered rows and operators from the first orbit on.
/// On tensor cores, x y = x_h y_h + x_h y_l + x_l y_h to 2^-22 of the largest of 32 factors. Sums
/// of 32 products come from tensor cores, whose additions truncate, and are added up in single
/// precision, in the same order for any number of rows (Ootomo, Yokota, Recovering
/// single precision accuracy from Tensor Cores while surpassing the FP32 theoretical peak
/// performance, Int. J. High Perform. Comput. Appl. 36, 2022).
void multiply_split(const GatheredView<float>& gathered, const OperatorsView<float>& operators,
                    int count, const ProductsView<float>& products, cudaStream_t stream);

}  // namespace fmbem::cuda
