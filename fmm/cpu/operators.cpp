#include "fmbem/fmm/cpu/operators.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <tuple>

#include "fmbem/fmm/cpu/kernels.hpp"
#include "fmbem/fmm/expansion/box_fit.hpp"
#include "fmbem/fmm/expansion/harmonic_samples.hpp"
#include "fmbem/fmm/expansion/yukawa_translations.hpp"
#include "fmbem/fmm/lists/m2l_rows.hpp"

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

template <class T, class Kernel>
M2lGroup<T> make_m2l_group(const Kernel& kernel, const ParityOrder& order,
                           const std::vector<int>& some, M2l m2l) {
  const int count = order.count;
  const std::int64_t size = packed_size(cpu_kernels<T>(), count, count);
  M2lGroup<T> group{order, some, size, Buffer<T>(8 * some.size() * size)};
  make_m2l_blocks(kernel, order, m2l, some, [&](const M2lRows& part) {
    const auto k = std::find(some.begin(), some.end(), part.orbit) - some.begin();
    // Rows of the block are columns of what is packed, whose panels come one after the other.
    pack_panels(cpu_kernels<T>(), part.end - part.first, count, part.rows, 1, count,
                group.blocks.data() + (8 * k + part.e) * size +
                    static_cast<std::int64_t>(part.first) * count);
  });
  return group;
}

UpwardBlocks upward_blocks(const Laplace&, const ParityOrder& order) {
  return fmm::upward_blocks(order);
}
UpwardBlocks upward_blocks(const Yukawa& kernel, const ParityOrder& order) {
  return fmm::upward_blocks(order, kernel);
}

template <class T, class Kernel>
std::shared_ptr<const CpuOperators<T>> make_operators(const Kernel& kernel,
                                                      const ParityOrder& order, M2lOrders orders,
                                                      M2l m2l, std::uint32_t some_orbits) {
  auto result = std::make_shared<CpuOperators<T>>();
  const int count = order.count;
  const UpwardBlocks blocks = upward_blocks(kernel, order);
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
    if ((some_orbits >> orbit & 1) != 0)
      orbits_of[m2l_order(order.p, orders, orbit)].push_back(orbit);
  for (const auto& [p, some] : orbits_of)
    result->m2l.push_back(make_m2l_group<T>(kernel, ParityOrder(p), some, m2l));
  return result;
}

/// The sets that nothing may use at the moment.
class KeptOperators {
 public:
  void limit(std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    most_ = bytes;
    drop();
  }
  void add(std::shared_ptr<const void> set, std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    sets_.push_back({std::move(set), bytes});
    bytes_ += bytes;
    drop();
  }

 private:
  struct Set {
    std::shared_ptr<const void> operators;
    std::int64_t bytes;
  };
  void drop() {
    while (bytes_ > most_) {
      bytes_ -= sets_.front().bytes;
      sets_.pop_front();
    }
  }

  std::mutex mutex_;
  std::deque<Set> sets_;
  std::int64_t bytes_ = 0, most_ = 0;
};
KeptOperators& kept_operators() {
  static KeptOperators kept;
  return kept;
}

}  // namespace

void keep_operators(std::int64_t bytes) { kept_operators().limit(bytes); }

template <class T>
std::int64_t CpuOperators<T>::bytes() const {
  std::size_t numbers = 0;
  for (const M2lGroup<T>& group : m2l) numbers += group.blocks.size();
  for (int e = 0; e < 8; ++e) numbers += upward[e].size() + downward[e].size();
  return static_cast<std::int64_t>(numbers * sizeof(T));
}

template <class T, class Kernel>
std::shared_ptr<const CpuOperators<T>> cpu_operators(const Kernel& kernel, const ParityOrder& order,
                                                     M2lOrders orders, M2l m2l,
                                                     std::uint32_t some) {
  using Key = std::tuple<Kernel, int, M2lOrders, M2l, std::uint32_t>;
  static std::mutex mutex;
  static std::map<Key, std::weak_ptr<const CpuOperators<T>>> alive;
  const std::lock_guard lock(mutex);
  auto& known = alive[Key{kernel, order.p, orders, m2l, some}];
  std::shared_ptr<const CpuOperators<T>> result = known.lock();
  if (!result) {
    known = result = make_operators<T>(kernel, order, orders, m2l, some);
    kept_operators().add(result, result->bytes());
  }
  return result;
}

template <class T>
LevelOperators<T>::LevelOperators(double kappa, double reach, const PointTree& tree, Method method,
                                  const ParityOrder& order, M2lOrders orders)
    : first_(first_far_level(method)) {
  // Held until all levels have their operators, so that each is made once. M2L's orders are from p
  // − p/4 on.
  std::vector<std::shared_ptr<const HarmonicSamples>> samples;
  for (int degree = order.p - order.p / 4; degree <= fitted_degree(order.p); ++degree)
    samples.push_back(harmonic_samples(degree));
  for (int level = first_; level < tree.octree.levels(); ++level) {
    const double side = tree.octree.side(level);
    // A κ beyond all reach would be out of range in M2M and L2L, which nothing needs there.
    if (side > reach) {
      sets_.push_back(std::make_shared<const CpuOperators<T>>());
      continue;
    }
    sets_.push_back(cpu_operators<T>(Yukawa{kappa * side}, order, orders, M2l::fitted,
                                     acting_orbits(tree, method, level, reach)));
  }
}

template <class T>
int LevelOperators<T>::top_level(const Octree& octree) const {
  int level = first_;
  while (level < octree.levels() && !sets_.empty() && of(level).m2l.empty()) ++level;
  return level;
}

template <class T>
std::int64_t LevelOperators<T>::bytes() const {
  std::int64_t sum = 0;
  for (const auto& set : sets_) sum += set->bytes();
  return sum;
}

#define FMBEM_INSTANTIATE(T)                                                                       \
  template struct CpuOperators<T>;                                                                 \
  template class LevelOperators<T>;                                                                \
  template std::shared_ptr<const CpuOperators<T>> cpu_operators(                                   \
      const Laplace&, const ParityOrder&, M2lOrders, M2l, std::uint32_t);                          \
  template std::shared_ptr<const CpuOperators<T>> cpu_operators(const Yukawa&, const ParityOrder&, \
                                                                M2lOrders, M2l, std::uint32_t);
FMBEM_INSTANTIATE(double)
FMBEM_INSTANTIATE(float)
#undef FMBEM_INSTANTIATE

}  // namespace fmbem::fmm
