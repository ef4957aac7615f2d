#include "fmbem/bem/precond/cuda/elimination.cuh"
#include "fmbem/cuda/launch.cuh"
#include "tests/unit/bem/device_elimination.hpp"
#include "tests/unit/cuda/to_host.cuh"

namespace fmbem::test {

using namespace cuda;
using namespace cuda::bem;

namespace {

__global__ void __launch_bounds__(general_threads, general_blocks)
    invert_rows(SquareMatrix a, int own, float* rows, int* regular) {
  auto* const column_of = dynamic_shared<std::int32_t>();
  auto* const room = reinterpret_cast<float*>(column_of + (a.size + 3) / 4 * 4);
  *regular = eliminate(a, own, column_of, room);
  if (*regular == 0) return;
  for (int e = static_cast<int>(threadIdx.x); e < own * a.size; e += general_threads)
    rows[e] = a.at(a.size - own + e / a.size, column_of[e % a.size]);
}

}  // namespace

std::vector<float> last_rows_on_device(const std::vector<float>& matrix, int size, int own) {
  require_eliminable(size);
  const Stream stream;
  const int stride = SquareMatrix::stride(size);
  std::vector<float> columns(static_cast<std::size_t>(stride) * size);
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < size; ++j) columns[j * stride + i] = matrix[i * size + j];
  DeviceBuffer<float> entries(stride * size, stream), rows(own * size, stream);
  DeviceBuffer<int> regular(1, stream);
  entries.upload(columns.data());
  const std::int64_t shared =
      ((size + 3) / 4 * 4 + elimination_floats(size)) * static_cast<std::int64_t>(sizeof(float));
  launch(invert_rows, 1, general_threads, shared, stream, SquareMatrix{entries.data(), size}, own,
         rows.data(), regular.data());
  return to_host(regular, stream)[0] != 0 ? to_host(rows, stream) : std::vector<float>();
}

}  // namespace fmbem::test
