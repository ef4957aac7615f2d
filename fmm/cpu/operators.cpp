#include "fmbem/fmm/cpu/operators.hpp"

#include <map>
#include <mutex>

#include "fmbem/fmm/cpu/kernels.hpp"

namespace fmbem::fmm {
namespace {

/// Packs B [depth][columns] from its transpose.
template <class T>
std::vector<T> packed(int columns, int depth, const std::vector<double>& transposed) {
  const auto& kernels = cpu_kernels<T>();
  std::vector<T> result(packed_size(kernels, columns, depth));
  pack_panels(kernels, columns, depth, transposed.data(), 1, depth, result.data());
  return result;
}

template <class T>
std::shared_ptr<const CpuOperators<T>> make_operators(const ParityOrder& order, M2l m2l) {
  auto result = std::make_shared<CpuOperators<T>>();
  const int count = order.count;
  const UpwardBlocks blocks = upward_blocks(order);
  for (int e = 0; e < 8; ++e) {
    const int rows = order.begin[e + 1] - order.begin[e];
    const std::vector<double>& block = blocks.block[e];
    result->upward[e] = packed<T>(rows, count, block);
    std::vector<double> half_transpose(block.size());
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < count; ++j) half_transpose[j * rows + i] = 0.5 * block[i * count + j];
    result->downward[e] = packed<T>(count, rows, half_transpose);
  }
  result->m2l_block_size = packed_size(cpu_kernels<T>(), count, count);
  result->m2l = Buffer<T>(8 * (orbits - 1) * result->m2l_block_size);
  make_m2l_blocks(order, m2l, [&](int orbit, int e, const double* block) {
    pack_panels(cpu_kernels<T>(), count, count, block, 1, count,
                result->m2l.data() + (8 * (orbit - 1) + e) * result->m2l_block_size);
  });
  return result;
}

}  // namespace

template <class T>
std::int64_t CpuOperators<T>::bytes() const {
  std::size_t numbers = m2l.size();
  for (int e = 0; e < 8; ++e) numbers += upward[e].size() + downward[e].size();
  return static_cast<std::int64_t>(numbers * sizeof(T));
}

template <class T>
std::shared_ptr<const CpuOperators<T>> cpu_operators(const ParityOrder& order, M2l m2l) {
  static std::mutex mutex;
  static std::map<std::pair<int, M2l>, std::weak_ptr<const CpuOperators<T>>> alive;
  const std::lock_guard lock(mutex);
  auto& known = alive[{order.p, m2l}];
  std::shared_ptr<const CpuOperators<T>> result = known.lock();
  if (!result) known = result = make_operators<T>(order, m2l);
  return result;
}

#define FMBEM_INSTANTIATE(T)       \
  template struct CpuOperators<T>; \
  template std::shared_ptr<const CpuOperators<T>> cpu_operators(const ParityOrder&, M2l);
FMBEM_INSTANTIATE(double)
FMBEM_INSTANTIATE(float)
#undef FMBEM_INSTANTIATE

}  // namespace fmbem::fmm
