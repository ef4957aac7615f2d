#include "fmbem/fmm/cpu/operators.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>

#include "fmbem/fmm/cpu/kernels.hpp"
#include "fmbem/fmm/kernel/laplace.hpp"

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
M2lGroup<T> make_m2l_group(const ParityOrder& order, const std::vector<int>& some, M2l m2l) {
  const int count = order.count;
  const std::int64_t size = packed_size(cpu_kernels<T>(), count, count);
  M2lGroup<T> group{order, some, size, Buffer<T>(8 * some.size() * size)};
  make_m2l_blocks(order, m2l, some, [&](int orbit, int e, const double* block) {
    const auto k = std::find(some.begin(), some.end(), orbit) - some.begin();
    pack_panels(cpu_kernels<T>(), count, count, block, 1, count,
                group.blocks.data() + (8 * k + e) * size);
  });
  return group;
}

template <class T>
std::shared_ptr<const CpuOperators<T>> make_operators(const ParityOrder& order, M2lOrders orders,
                                                      M2l m2l) {
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
  std::map<int, std::vector<int>> orbits_of;
  for (const int orbit : all_m2l_orbits())
    orbits_of[m2l_order(order.p, orders, orbit)].push_back(orbit);
  for (const auto& [p, some] : orbits_of)
    result->m2l.push_back(make_m2l_group<T>(ParityOrder(p), some, m2l));
  return result;
}

}  // namespace

template <class T>
std::int64_t CpuOperators<T>::bytes() const {
  std::size_t numbers = 0;
  for (const M2lGroup<T>& group : m2l) numbers += group.blocks.size();
  for (int e = 0; e < 8; ++e) numbers += upward[e].size() + downward[e].size();
  return static_cast<std::int64_t>(numbers * sizeof(T));
}

template <class T, class Kernel>
requires Kernel::homogeneous std::shared_ptr<const CpuOperators<T>> cpu_operators(
    const Kernel& kernel, const ParityOrder& order, M2lOrders orders, M2l m2l) {
  using Key = std::tuple<Kernel, int, M2lOrders, M2l>;
  static std::mutex mutex;
  static std::map<Key, std::weak_ptr<const CpuOperators<T>>> alive;
  const std::lock_guard lock(mutex);
  auto& known = alive[Key{kernel, order.p, orders, m2l}];
  std::shared_ptr<const CpuOperators<T>> result = known.lock();
  if (!result) known = result = make_operators<T>(order, orders, m2l);
  return result;
}

#define FMBEM_INSTANTIATE(T)                                     \
  template struct CpuOperators<T>;                               \
  template std::shared_ptr<const CpuOperators<T>> cpu_operators( \
      const Laplace&, const ParityOrder&, M2lOrders, M2l);
FMBEM_INSTANTIATE(double)
FMBEM_INSTANTIATE(float)
#undef FMBEM_INSTANTIATE

}  // namespace fmbem::fmm
