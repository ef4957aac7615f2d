#include "fmbem/cuda/operators.cuh"
#include "tests/unit/cuda/device_m2l.hpp"
#include "tests/unit/cuda/to_host.cuh"

namespace fmbem::test {

namespace {

std::vector<double> numbers_of(const cuda::DeviceOperators<double>& operators) {
  return to_host(operators.m2l, nullptr);
}

/// Of 32 numbers pair 4 g + t of the high halves has numbers 8 g + t and 8 g + t + 4, and so have
/// the low ones behind them.
std::vector<float> numbers_of(const cuda::DeviceOperators<float>& operators) {
  const auto pairs = to_host(operators.m2l, nullptr);
  const auto units = to_host(operators.m2l_units, nullptr);
  const auto half = [&](std::size_t pair, int which) {
    return __half2float(__ushort_as_half(static_cast<unsigned short>(pairs[pair] >> 16 * which)));
  };
  std::vector<float> result(pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const std::size_t first = i / 32 * 32, k = i % 32, pair = first + k / 8 * 4 + k % 4;
    const int which = k % 8 / 4;
    result[i] = units[i / operators.m2l_stride] * (half(pair, which) + half(pair + 16, which));
  }
  return result;
}

}  // namespace

template <class T>
HostM2l<T> make_m2l_on_device(const fmm::Yukawa& kernel, const fmm::ParityOrder& order) {
  const auto operators = fmm::with_kernel(
      kernel.kappa, [&](const auto& of) { return cuda::device_operators<T>(of, order); });
  return {operators->m2l_stride, numbers_of(*operators)};
}
template HostM2l<double> make_m2l_on_device(const fmm::Yukawa&, const fmm::ParityOrder&);
template HostM2l<float> make_m2l_on_device(const fmm::Yukawa&, const fmm::ParityOrder&);

}  // namespace fmbem::test
