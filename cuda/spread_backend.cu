#include "fmbem/cuda/device.hpp"
#include "fmbem/cuda/spread_backend.hpp"
#include "fmbem/cuda/spread_field.cuh"
#include "fmbem/fmm/base/stopwatch.hpp"
#include "fmbem/fmm/cpu/spread.hpp"

namespace fmbem::cuda {
namespace {

template <class T>
class SpreadBackend final : public fmm::Backend {
 public:
  explicit SpreadBackend(const fmm::PlanData& data)
      : tree_(spread_tree_of(data, stream_)), field_(tree_, data.order, stream_) {
    Buffer<T> rows;
    if (field_.has_far()) {
      rows = fmm::SpreadMoments<T>::all_rows(data, fmm::HarmonicTable<T>(data.order));
      rows_ = to_device(rows, stream_);
    }
    stream_.wait();  // what was copied ends here
  }

  std::int64_t operator_bytes() const override { return field_.operator_bytes(); }

  void evaluate(const fmm::Strengths& strengths, const fmm::Fields& fields,
                fmm::Seconds& seconds) override {
    fmm::Stopwatch watch(seconds);
    const std::int64_t n = tree_.sources(), m = tree_.targets().count;
    const auto charges = to_device(strengths.charges, stream_);
    DeviceBuffer<double> potential(fields.potential.size(), stream_);
    DeviceBuffer<Vec3d> gradient(fields.gradient.size(), stream_);
    stream_.wait();
    watch.add("copy");
    const int batch = field_.batch(strengths.count);
    for (int first = 0; first < strengths.count; first += batch)
      field_.put(
          {charges.data() + first * n, nullptr,
           potential.data() ? potential.data() + first * m : nullptr,
           gradient.data() ? gradient.data() + first * m : nullptr},
          std::min(batch, strengths.count - first),
          [&](const T* from, const ExpansionsView<T>& expansions) {
            spread_p2m(tree_, from, rows_.data(), expansions, stream_);
          },
          [](const unsigned long long*, double) { return NearPart{}; }, [](const char*) {});
    stream_.wait();
    watch.add("evaluate");
    potential.download(fields.potential.data());
    gradient.download(fields.gradient.data());
    stream_.wait();
    watch.add("copy");
  }

 private:
  Stream stream_;
  SpreadTree tree_;
  SpreadField<T> field_;
  DeviceBuffer<T> rows_;  ///< moments of the sources, [sources][K]
};

}  // namespace

std::unique_ptr<fmm::Backend> make_spread_backend(const fmm::PlanData& data) {
  require_cuda_device();
  keep_freed_memory();
  if (data.precision == Precision::single_precision)
    return std::make_unique<SpreadBackend<float>>(data);
  return std::make_unique<SpreadBackend<double>>(data);
}

}  // namespace fmbem::cuda
