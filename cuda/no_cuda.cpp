#include "fmbem/cuda/device.hpp"
#include "fmbem/cuda/device_array.hpp"
#include "fmbem/cuda/device_speeds.hpp"
#include "fmbem/cuda/fmm_plan.hpp"
#include "fmbem/cuda/staging.hpp"
#include "fmbem/fmm/base/error.hpp"

namespace fmbem {

bool built_with_cuda() { return false; }

std::string cuda_runtime_version() { return {}; }

std::vector<DeviceInfo> cuda_devices() { return {}; }

void require_cuda_device() {
  throw InputError(
      "this build of fmbem has no CUDA backend: configure it with -DFMBEM_CUDA=ON, or use the "
      "backend cpu");
}

std::string current_device_name() {
  require_cuda_device();
  return {};
}

void start_cuda_device() {}

std::int64_t peak_device_memory() { return 0; }
void reset_peak_device_memory() {}

namespace cuda {

struct FmmPlan::Impl {};

FmmPlan::FmmPlan(DevicePoints, DevicePoints, const fmm::PlanOptions&, std::optional<CUstream_st*>) {
  require_cuda_device();
}
FmmPlan::FmmPlan(DevicePointsInFloat, DevicePointsInFloat, const fmm::PlanOptions&,
                 std::optional<CUstream_st*>) {
  require_cuda_device();
}
FmmPlan::~FmmPlan() = default;
FmmPlan::FmmPlan(FmmPlan&&) noexcept = default;
FmmPlan& FmmPlan::operator=(FmmPlan&&) noexcept = default;

// No plan can be made, so none of these is reached.
std::size_t FmmPlan::sources() const { return 0; }
std::size_t FmmPlan::targets() const { return 0; }
void FmmPlan::evaluate(const DeviceStrengths&, const DeviceFields&) {}
void FmmPlan::evaluate(const DeviceStrengthsInFloat&, const DeviceFieldsInFloat&) {}
void FmmPlan::move(DevicePoints, DevicePoints) {}
void FmmPlan::move(DevicePointsInFloat, DevicePointsInFloat) {}
CUstream_st* FmmPlan::stream() const { return nullptr; }
void FmmPlan::wait() const {}
fmm::Seconds FmmPlan::evaluate_stages(const DeviceStrengths&, const DeviceFields&) { return {}; }
fmm::PlanInfo FmmPlan::info() const { return {}; }
fmm::Seconds FmmPlan::plan_seconds() const { return {}; }
std::int64_t FmmPlan::device_bytes() const { return 0; }

DeviceSpeeds measure_device_speeds() {
  require_cuda_device();
  return {};
}

void copy_to_device(const double*, std::size_t, double*) { require_cuda_device(); }
void copy_to_host(const double*, std::size_t, double*) { require_cuda_device(); }

template <class T>
struct DeviceArray<T>::Impl {};
template <class T>
DeviceArray<T>::DeviceArray(std::size_t) {
  require_cuda_device();
}
template <class T>
DeviceArray<T>::DeviceArray(std::span<const T>) {
  require_cuda_device();
}
template <class T>
DeviceArray<T>::~DeviceArray() = default;
template <class T>
DeviceArray<T>::DeviceArray(DeviceArray&&) noexcept = default;
template <class T>
DeviceArray<T>& DeviceArray<T>::operator=(DeviceArray&&) noexcept = default;
template <class T>
std::size_t DeviceArray<T>::size() const {
  return 0;
}
template <class T>
T* DeviceArray<T>::data() const {
  return nullptr;
}
template <class T>
void DeviceArray<T>::upload(std::span<const T>) {}
template <class T>
void DeviceArray<T>::download(std::span<T>) const {}
template class DeviceArray<double>;
template class DeviceArray<float>;
template class DeviceArray<std::int32_t>;
template class DeviceArray<Vec3d>;
template class DeviceArray<Vec3<float>>;
template class DeviceArray<Symmetric3d>;
template class DeviceArray<Symmetric3<float>>;

fmm::Plan make_fmm_plan(std::span<const Vec3d> points, const fmm::PlanOptions& options) {
  require_cuda_device();
  return fmm::Plan(points, options);
}
fmm::Plan make_fmm_plan(std::span<const Vec3d> sources, std::span<const Vec3d> targets,
                        const fmm::PlanOptions& options) {
  require_cuda_device();
  return fmm::Plan(sources, targets, options);
}

}  // namespace cuda
}  // namespace fmbem
