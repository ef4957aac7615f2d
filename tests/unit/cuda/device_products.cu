#include "fmbem/cuda/copied.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/split_products.cuh"
#include "tests/unit/cuda/split_products.hpp"
#include "tests/unit/cuda/to_host.cuh"

namespace fmbem::test {
namespace {

/// A warp for each row, as the gather kernel has for its rows.
__global__ void split_rows(const float* values, int rows, int depth, cuda::GatheredView<float> to) {
  const int row = static_cast<int>(blockIdx.x), lane = static_cast<int>(threadIdx.x);
  for (int place = lane; place < cuda::split_stride(depth); place += cuda::warp_size) {
    float value[8], largest = 0;
    for (int e = 0; e < 8; ++e) {
      value[e] = place < depth ? values[(std::int64_t{e} * rows + row) * depth + place] : 0;
      largest = fmaxf(largest, fabsf(value[e]));
    }
    const cuda::SplitUnit unit(cuda::largest_of_warp(largest));
    if (lane == 0) to.units[place / cuda::split_depth * to.unit_stride + row] = unit.value();
    for (int e = 0; e < 8; ++e)
      to.values[(std::int64_t{e} * rows + row) * to.stride + place] =
          unit.split(value[e], 0).first();
  }
}

}  // namespace

EightHostMatrices multiply_split_on_device(const EightHostMatrices& a, const EightHostMatrices& b,
                                           int orbits) {
  const cuda::Stream stream;
  const int depth = a.columns, count = b.rows;
  const std::int64_t stride = cuda::split_stride(depth), unit_stride = (a.rows + 3) / 4 * 4 + 128;
  const auto a_values = cuda::copied_to_device(a.values, stream),
             b_values = cuda::copied_to_device(b.values, stream);
  const cuda::DeviceBuffer<cuda::SplitNumber> a_split(8 * a.rows * stride, stream),
      b_split(8 * count * stride, stream);
  const cuda::DeviceBuffer<float> a_units(stride / cuda::split_depth * unit_stride, stream),
      b_units(8 * count, stream);
  const std::int64_t c_stride = (count + 3) / 4 * 4;
  const cuda::DeviceBuffer<float> c(8 * a.rows * c_stride, stream);
  const cuda::GatheredView<float> gathered{
      a_split.data(), a_units.data(), unit_stride, 0, a.rows, 0, orbits, stride};
  cuda::launch(split_rows, a.rows, cuda::warp_size, 0, stream, a_values.data(), a.rows, depth,
               gathered);
  cuda::split_operators(b_values.data(), depth, count, depth, b_split.data(), b_units.data(),
                        stream);
  cuda::multiply_split(gathered, {b_split.data(), b_units.data(), nullptr, nullptr, stride}, count,
                       {c.data(), 0, c_stride, a.rows * c_stride}, stream);
  const std::vector<float> strided = to_host(c, stream);
  EightHostMatrices result{a.rows, count, {}};
  result.values.resize(std::size_t{8} * a.rows * count);
  for (int e = 0; e < 8; ++e)
    for (int i = 0; i < a.rows; ++i)
      for (int j = 0; j < count; ++j)
        result.row(e, i)[j] = strided[(std::size_t{1} * e * a.rows + i) * c_stride + j];
  return result;
}

}  // namespace fmbem::test
