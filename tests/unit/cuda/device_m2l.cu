#include "fmbem/cuda/operators.cuh"
#include "tests/unit/cuda/device_m2l.hpp"
#include "tests/unit/cuda/to_host.cuh"

namespace fmbem::test {

template <class T>
HostM2l<T> make_m2l_on_device(const fmm::Yukawa& kernel, const fmm::ParityOrder& order) {
  const auto operators = fmm::with_kernel(
      kernel.kappa, [&](const auto& of) { return cuda::device_operators<T>(of, order); });
  return {operators->m2l_stride, to_host(operators->m2l, nullptr)};
}
template HostM2l<double> make_m2l_on_device(const fmm::Yukawa&, const fmm::ParityOrder&);
template HostM2l<float> make_m2l_on_device(const fmm::Yukawa&, const fmm::ParityOrder&);

}  // namespace fmbem::test
