#include "fmbem/bem/precond/cuda/elimination.cuh"
#include "fmbem/bem/precond/cuda/solvation_by_parts.cuh"
#include "fmbem/cuda/copied.cuh"
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

__global__ void __launch_bounds__(shared_threads, shared_blocks)
    invert_in_shared(float* entries, int size, int* regular) {
  const SharedMatrix a{dynamic_shared<float>(), SharedMatrix::whole_tiles(size)};
  const auto for_entries = [&](auto&& use) {
    for (int e = static_cast<int>(threadIdx.x); e < a.size * a.size; e += shared_threads)
      use(e / a.size, e % a.size);
  };
  for_entries([&](int i, int j) {
    a.column(j)[i] = i < size && j < size ? entries[i * size + j] : i == j ? 1.f : 0.f;
  });
  __syncthreads();
  *regular = invert(a);
  __syncthreads();
  for_entries([&](int i, int j) {
    if (i < size && j < size) entries[i * size + j] = a.column(j)[i];
  });
}

/// [node][side][own][field]
__global__ void __launch_bounds__(shared_threads, shared_blocks)
    solve_by_parts(const float* matrix, int m, int own, float* room, float* rows, int* regular) {
  const SolvationParts parts(room, m);
  const int thread = static_cast<int>(threadIdx.x), size = 2 * m;
  parts.fill_pad();
  for (int e = thread; e < m * m; e += shared_threads) {
    const float* const entry = matrix + 2 * (e / m) * size + 2 * (e % m);
    parts.store(e / m, e % m, {entry[0], entry[size]}, {entry[1], entry[size + 1]});
  }
  __syncthreads();
  const SolvationByParts system(parts, dynamic_shared<float>());
  *regular = system.solve();
  if (*regular == 0) return;
  for (int e = thread; e < 2 * own * size; e += shared_threads) {
    const int row = e / size, column = e % size;
    rows[e] = system(shared_tile - own + row / 2, row % 2, column / 2, column % 2);
  }
}

}  // namespace

std::vector<float> inverse_in_shared_memory(std::vector<float> matrix, int size) {
  const Stream stream;
  DeviceBuffer<float> entries = copied_to_device(matrix, stream);
  DeviceBuffer<int> regular(1, stream);
  launch(invert_in_shared, 1, shared_threads,
         SharedMatrix::floats(SharedMatrix::whole_tiles(size)) * sizeof(float), stream,
         entries.data(), size, regular.data());
  return to_host(regular, stream)[0] != 0 ? to_host(entries, stream) : std::vector<float>();
}

std::vector<float> last_rows_by_parts(const std::vector<float>& matrix, int nodes, int own) {
  const Stream stream;
  const int size = SharedMatrix::whole_tiles(nodes);
  const DeviceBuffer<float> entries = copied_to_device(matrix, stream);
  DeviceBuffer<float> room(SolvationParts::floats(size), stream), rows(4 * own * nodes, stream);
  DeviceBuffer<int> regular(1, stream);
  launch(solve_by_parts, 1, shared_threads, SolvationByParts::bytes(size), stream, entries.data(),
         nodes, own, room.data(), rows.data(), regular.data());
  return to_host(regular, stream)[0] != 0 ? to_host(rows, stream) : std::vector<float>();
}

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
