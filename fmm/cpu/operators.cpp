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
  pack_panels(kernels, columns, depth, transposed.data(), result.data());
  return result;
}

template <class T>
std::shared_ptr<const CpuOperators<T>> make_operators(const ParityOrder& order) {
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
  for (int orbit = 1; orbit < orbits; ++orbit) {
    const auto m2l = m2l_blocks(order, orbit);
#pragma omp parallel for schedule(static)
    for (int e = 0; e < 8; ++e) result->m2l[orbit][e] = packed<T>(count, count, m2l[e]);
  }
  return result;
}

}  // namespace

template <class T>
std::int64_t CpuOperators<T>::bytes() const {
  std::size_t numbers = 0;
  for (int e = 0; e < 8; ++e) {
    numbers += upward[e].size() + downward[e].size();
    for (const auto& orbit : m2l) numbers += orbit[e].size();
  }
  return static_cast<std::int64_t>(numbers * sizeof(T));
}

template <class T>
std::shared_ptr<const CpuOperators<T>> cpu_operators(const ParityOrder& order) {
  static std::mutex mutex;
  static std::map<int, std::weak_ptr<const CpuOperators<T>>> alive;
  const std::lock_guard lock(mutex);
  std::shared_ptr<const CpuOperators<T>> result = alive[order.p].lock();
  if (!result) alive[order.p] = result = make_operators<T>(order);
  return result;
}

#define FMBEM_INSTANTIATE(T)          \
  template struct CpuOperators<T>;    \
  template std::shared_ptr<const CpuOperators<T>> cpu_operators(const ParityOrder&);
FMBEM_INSTANTIATE(double)
FMBEM_INSTANTIATE(float)
#undef FMBEM_INSTANTIATE

}  // namespace fmbem::fmm
