#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include "fmbem/cuda/m2l_operators.cuh"
#include "fmbem/cuda/operators.cuh"
#include "fmbem/cuda/split_products.cuh"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/expansion/raised_moments.hpp"
#include "fmbem/fmm/expansion/yukawa_translations.hpp"

namespace fmbem::cuda {
namespace {

/// M2L's part, in the order of the default stream.
template <class T>
void make_m2l(const fmm::Yukawa& kernel, const fmm::ParityOrder& order, DeviceOperators<T>& to) {
  const int depth = (fmm::orbits - 1) * order.count;
  const std::int64_t stride = (depth + 1) / 2 * 2;  // rows start at multiples of 16 bytes
  if constexpr (sizeof(T) == sizeof(float)) {
    const auto values = make_m2l_operators<float>(kernel, order, stride, nullptr);
    to.m2l_stride = split_stride(depth);
    to.m2l = DeviceBuffer<SplitNumber>(8 * order.count * to.m2l_stride, nullptr);
    to.m2l_units = DeviceBuffer<float>(8 * order.count, nullptr);
    split_operators(values.data(), stride, order.count, depth, to.m2l.data(), to.m2l_units.data(),
                    nullptr);
  } else {
    to.m2l_stride = stride;
    to.m2l = make_m2l_operators<double>(kernel, order, stride, nullptr);
  }
}

fmm::UpwardBlocks upward_blocks(const fmm::Laplace&, const fmm::ParityOrder& order) {
  return fmm::upward_blocks(order);
}
fmm::UpwardBlocks upward_blocks(const fmm::Yukawa& kernel, const fmm::ParityOrder& order) {
  return fmm::upward_blocks(order, kernel);
}

fmm::Yukawa as_yukawa(const fmm::Laplace&) { return {0}; }
fmm::Yukawa as_yukawa(const fmm::Yukawa& kernel) { return kernel; }

/// In the order of the default stream.
template <class T, class Kernel>
std::shared_ptr<const DeviceOperators<T>> make_operators(const Kernel& kernel,
                                                         const fmm::ParityOrder& order,
                                                         M2lBlocks m2l) {
  const std::int64_t count = order.count;
  auto result = std::make_shared<DeviceOperators<T>>();
  if (m2l == M2lBlocks::all) make_m2l(as_yukawa(kernel), order, *result);
  std::vector<T> upward, downward;
  const fmm::UpwardBlocks blocks = upward_blocks(kernel, order);  // while the device is at M2L
  for (int e = 0; e < 8; ++e) {
    const std::vector<double>& block = blocks.block[e];
    const std::int64_t rows = order.begin[e + 1] - order.begin[e];
    for (std::int64_t k = 0; k < count; ++k)
      for (std::int64_t i = 0; i < rows; ++i)
        upward.push_back(static_cast<T>(block[i * count + k]));
    for (const double entry : block) downward.push_back(static_cast<T>(0.5 * entry));
  }
  result->upward = to_device(upward, nullptr);
  result->downward = to_device(downward, nullptr);
  FMBEM_CUDA(cudaStreamSynchronize(nullptr));  // plans have them in streams of their own
  return result;
}

/// The sets that plans have.
template <class T, class Kernel>
class AliveOperators {
 public:
  using Set = std::shared_ptr<const DeviceOperators<T>>;

  /// Null if there is none.
  Set find(const Kernel& kernel, const fmm::ParityOrder& order, M2lBlocks m2l) {
    const std::lock_guard lock(mutex_);
    return at(kernel, order, m2l).lock();
  }
  /// The set itself, or one that was added before.
  Set add(const Kernel& kernel, const fmm::ParityOrder& order, M2lBlocks m2l, Set set) {
    const std::lock_guard lock(mutex_);
    std::weak_ptr<const DeviceOperators<T>>& known = at(kernel, order, m2l);
    if (Set first = known.lock()) return first;
    known = set;
    return set;
  }

 private:
  std::weak_ptr<const DeviceOperators<T>>& at(const Kernel& kernel, const fmm::ParityOrder& order,
                                              M2lBlocks m2l) {
    int device = 0;
    FMBEM_CUDA(cudaGetDevice(&device));
    return sets_[{kernel, device, order.p, m2l}];
  }

  std::mutex mutex_;
  std::map<std::tuple<Kernel, int, int, M2lBlocks>, std::weak_ptr<const DeviceOperators<T>>> sets_;
};
template <class T, class Kernel>
AliveOperators<T, Kernel>& alive_operators() {
  static AliveOperators<T, Kernel> alive;
  return alive;
}

/// Of the terms of derivatives, or of rises.
template <class T>
std::vector<DerivativeTerms<T>> terms_of(const std::array<std::vector<fmm::Derivative>, 3>& axes,
                                         int slots) {
  std::vector<DerivativeTerms<T>> result(3 * slots);
  for (int axis = 0; axis < 3; ++axis) {
    std::vector<int> terms(slots, 0);
    for (const fmm::Derivative& d : axes[axis]) {
      const int term = terms[d.to]++;
      FMBEM_REQUIRE(term < fmm::terms_of_a_derivative,
                    "a derivative has more than " << fmm::terms_of_a_derivative << " terms");
      DerivativeTerms<T>& all = result[3 * d.to + axis];
      all.value[term] = static_cast<T>(d.value);
      all.index[term] = d.from;
    }
  }
  return result;
}

/// The same of the table of one degree more: coefficient `slot` of a derivative as a sum of
/// moments, which stand at lower[slot] (fmm::RaisedMoments).
template <class T>
std::vector<DerivativeTerms<T>> raised_terms_of(
    const std::array<std::vector<fmm::Derivative>, 3>& axes, const std::vector<int>& position,
    const std::vector<int>& lower) {
  const auto slots = static_cast<int>(position.size());
  std::vector<int> slot_at(position.size());
  for (int slot = 0; slot < slots; ++slot)
    if (position[slot] >= 0) slot_at[position[slot]] = slot;
  std::array<std::vector<fmm::Derivative>, 3> of_moments;
  for (int axis = 0; axis < 3; ++axis)
    for (const fmm::Derivative& d : axes[axis])
      if (lower[d.to] >= 0) of_moments[axis].push_back({lower[d.to], slot_at[d.from], -d.value});
  return terms_of<T>(of_moments, slots);
}

}  // namespace

template <class T, class Kernel>
std::shared_ptr<const DeviceOperators<T>> known_operators(const Kernel& kernel,
                                                          const fmm::ParityOrder& order,
                                                          M2lBlocks m2l) {
  return alive_operators<T, Kernel>().find(kernel, order, m2l);
}

template <class T, class Kernel>
std::shared_ptr<const DeviceOperators<T>> device_operators(const Kernel& kernel,
                                                           const fmm::ParityOrder& order,
                                                           M2lBlocks m2l) {
  if (auto known = known_operators<T>(kernel, order, m2l)) return known;
  // Others may make other operators meanwhile; two who make the same one share it from then on.
  return alive_operators<T, Kernel>().add(kernel, order, m2l,
                                          make_operators<T>(kernel, order, m2l));
}

template <class T>
DeviceTable<T>::DeviceTable(const fmm::ParityOrder& order, cudaStream_t stream) {
  const fmm::HarmonicTable<T> table(order);
  up_ = to_device(table.up, stream);
  down_ = to_device(table.down, stream);
  diagonal_ = to_device(table.diagonal, stream);
  position_ = to_device(table.position, stream);
  const std::vector<std::uint8_t> parity(order.parity.begin(), order.parity.end());
  parity_ = to_device(parity, stream);
  std::copy(order.begin.begin(), order.begin.end(), classes_.begin);
  classes_.of = parity_.data();
  const int slots = table.slots();
  const auto derivative = terms_of<T>(table.derivatives, slots),
             rise = terms_of<T>(table.rises, slots);
  derivative_ = to_device(derivative, stream);
  rise_ = to_device(rise, stream);
  moment_of_dipoles_ = rows_of(order.count, dipole_terms(table.derivatives, slots), stream);
  rises_of_dipoles_ = rows_of(order.count, dipole_terms(table.rises, slots), stream);
  view_ = {order.p,
           order.count,
           slots / 2,
           up_.data(),
           down_.data(),
           diagonal_.data(),
           position_.data(),
           moment_of_dipoles_.view(),
           derivative_.data(),
           rises_of_dipoles_.view(),
           rise_.data()};
  FMBEM_CUDA(cudaStreamSynchronize(stream));  // what was copied ends here
}

template <class T>
std::vector<typename DeviceTable<T>::Term> DeviceTable<T>::dipole_terms(
    const std::array<std::vector<fmm::Derivative>, 3>& axes, int slots) {
  std::vector<Term> terms;
  for (int axis = 0; axis < 3; ++axis)
    for (const fmm::Derivative& d : axes[axis])
      terms.push_back({d.from, axis * slots + d.to, d.value});
  return terms;
}

template <class T>
typename DeviceTable<T>::Rows DeviceTable<T>::rows_of(int rows, std::vector<Term> terms,
                                                      cudaStream_t stream) {
  std::sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) {
    return std::tie(a.row, a.index) < std::tie(b.row, b.index);
  });
  std::vector<std::int32_t> begin(rows + 1, 0), index;
  std::vector<T> value;
  for (const Term& term : terms) {
    ++begin[term.row + 1];
    index.push_back(term.index);
    value.push_back(static_cast<T>(term.value));
  }
  for (int row = 0; row < rows; ++row) begin[row + 1] += begin[row];
  Rows result{to_device(begin, stream), to_device(index, stream), to_device(value, stream)};
  FMBEM_CUDA(cudaStreamSynchronize(stream));  // the vectors end here
  return result;
}

template <class T>
RaisedTable<T>::RaisedTable(const fmm::ParityOrder& order, cudaStream_t stream)
    : table_(fmm::ParityOrder(order.p + 1), stream) {
  const fmm::RaisedMoments<T> raised(order);
  const fmm::HarmonicTable<T>& table = raised.table();
  const auto derivative = raised_terms_of<T>(table.derivatives, table.position, raised.lower()),
             rise = raised_terms_of<T>(table.rises, table.position, raised.lower());
  position_ = to_device(raised.lower(), stream);
  derivative_ = to_device(derivative, stream);
  rise_ = to_device(rise, stream);
  FMBEM_CUDA(cudaStreamSynchronize(stream));  // what was copied ends here
}

template struct DeviceOperators<double>;
template struct DeviceOperators<float>;
#define FMBEM_INSTANTIATE(Kernel)                                           \
  template std::shared_ptr<const DeviceOperators<double>> known_operators(  \
      const fmm::Kernel&, const fmm::ParityOrder&, M2lBlocks);              \
  template std::shared_ptr<const DeviceOperators<float>> known_operators(   \
      const fmm::Kernel&, const fmm::ParityOrder&, M2lBlocks);              \
  template std::shared_ptr<const DeviceOperators<double>> device_operators( \
      const fmm::Kernel&, const fmm::ParityOrder&, M2lBlocks);              \
  template std::shared_ptr<const DeviceOperators<float>> device_operators(  \
      const fmm::Kernel&, const fmm::ParityOrder&, M2lBlocks);
FMBEM_FOR_EACH_KERNEL(FMBEM_INSTANTIATE)
#undef FMBEM_INSTANTIATE
template class DeviceTable<double>;
template class DeviceTable<float>;
template class RaisedTable<double>;
template class RaisedTable<float>;

}  // namespace fmbem::cuda
