#include <numbers>

#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/device.hpp"
#include "fmbem/cuda/far_stages.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/spread_backend.hpp"
#include "fmbem/cuda/strengths.cuh"
#include "fmbem/fmm/cpu/spread.hpp"
#include "fmbem/fmm/stopwatch.hpp"

namespace fmbem::cuda {
namespace {

constexpr double inv_4pi = 0.25 * std::numbers::inv_pi;

/// P2M: a block for each box (x) and right-hand side (y) adds up the moments of its sources.
template <class T>
__global__ void spread_p2m(const std::int32_t* boxes, const int2* own, const T* charges,
                           std::int64_t sources, const T* rows, ExpansionsView<T> expansions) {
  const int2 range = own[blockIdx.x];
  const int v = blockIdx.y;
  T* const moment = expansions.moment(boxes[blockIdx.x], v);
  for (int k = threadIdx.x; k < expansions.count; k += blockDim.x) {
    T sum = 0;
#pragma unroll 4
    for (std::int64_t j = range.x; j < range.y; ++j)
      sum += charges[v * sources + j] * rows[j * expansions.count + k];
    moment[k] = sum;
  }
}

template <class T>
class SpreadBackend final : public fmm::Backend {
 public:
  explicit SpreadBackend(const fmm::PlanData& data)
      : data_(data),
        tree_(tree_of(data.tree, stream_)),
        far_(make_far_lists(tree_, stream_)),
        stages_(data.order, tree_, far_, false, stream_),
        arguments_(1, stream_),
        largest_(most_vectors, stream_) {
    const fmm::HarmonicTable<T> table(data.order);
    std::vector<int2> own;
    for (const std::int32_t box : data.source_boxes) {
      const fmm::Range range = data.tree.boxes[box].own_sources();
      own.push_back({range.begin, range.end});
    }
    boxes_ = to_device(data.source_boxes, stream_);
    own_ = to_device(own, stream_);
    order_ = to_device(data.sources.order, stream_);
    if (stages_.has_far()) {
      const Buffer<T> rows = fmm::SpreadMoments<T>::all_rows(data, table);
      rows_ = DeviceBuffer<T>(rows.size(), stream_);
      rows_.upload(rows.data());
      stream_.wait();  // what was copied ends here
    }
    const fmm::SortedPoints& targets = data.targets();
    x_ = to_device(targets.x, stream_);
    y_ = to_device(targets.y, stream_);
    z_ = to_device(targets.z, stream_);
    target_order_ = to_device(targets.order, stream_);
    stream_.wait();
  }

  std::int64_t operator_bytes() const override { return stages_.operator_bytes(); }

  void evaluate(const fmm::Strengths& strengths, const fmm::Fields& fields,
                fmm::Seconds& seconds) override {
    fmm::Stopwatch watch(seconds);
    const std::int64_t n = static_cast<std::int64_t>(data_.sources.size()),
                       m = static_cast<std::int64_t>(data_.targets().size());
    const auto charges = to_device(strengths.charges, stream_);
    DeviceBuffer<double> potential(fields.potential.size(), stream_);
    DeviceBuffer<Vec3d> gradient(fields.gradient.size(), stream_);
    stream_.wait();
    watch.add("copy");
    const int batch = stages_.batch(strengths.count);
    for (int first = 0; first < strengths.count; first += batch) {
      const int vectors = std::min(batch, strengths.count - first);
      stages_.reserve(vectors,
                      [&](auto& buffer, std::int64_t size) { grow(buffer, size, stream_); });
      grow(charges_, vectors * n, stream_);
      set_arguments(arguments_.data(),
                    {charges.data() + first * n, nullptr,
                     potential.data() ? potential.data() + first * m : nullptr,
                     gradient.data() ? gradient.data() + first * m : nullptr},
                    stream_);
      put(vectors, !fields.potential.empty(), !fields.gradient.empty());
    }
    stream_.wait();
    watch.add("evaluate");
    potential.download(fields.potential.data());
    gradient.download(fields.gradient.data());
    stream_.wait();
    watch.add("copy");
  }

 private:
  void put(int vectors, bool potential, bool gradient) {
    const auto n = static_cast<std::int64_t>(data_.sources.size());
    find_largest(arguments_.data(), n, vectors, true, false, 1, largest_.data(), stream_);
    sort_charges(arguments_.data(), order_.data(), n, vectors, largest_.data(), charges_.data(),
                 stream_);
    const ExpansionsView<T> expansions = stages_.expansions(vectors);
    if (stages_.has_far()) {
      launch(spread_p2m<T>, dim3(static_cast<unsigned>(boxes_.size()), vectors), threads_per_block,
             0, stream_, boxes_.data(), own_.data(), charges_.data(), n, rows_.data(), expansions);
      stages_.put(vectors, [](const char*) {});
    }
    // Targets are in double precision as they are; there is no near field.
    const PointsView<double> targets{static_cast<std::int64_t>(target_order_.size()),
                                     target_order_.data(),
                                     x_.data(),
                                     y_.data(),
                                     z_.data(),
                                     nullptr,
                                     nullptr,
                                     nullptr,
                                     nullptr,
                                     nullptr,
                                     nullptr};
    // Moments of spread sources are of areas in the plan's unit.
    const double scale = inv_4pi / data_.unit;
    l2p(targets, NearView{}, tree_.view(), tree_.root, far_.target_leaves.data(),
        static_cast<std::int64_t>(far_.target_leaves.size()), stages_.has_far(), stages_.table(),
        expansions,
        ResultsView{arguments_.data(), potential, gradient, largest_.data(), scale,
                    scale * data_.unit},
        stream_);
  }

  const fmm::PlanData& data_;
  Stream stream_;
  DeviceTree tree_;
  FarLists far_;
  FarStages<T> stages_;
  DeviceBuffer<Arguments> arguments_;
  DeviceBuffer<unsigned long long> largest_;
  DeviceBuffer<std::int32_t> boxes_, order_, target_order_;
  DeviceBuffer<int2> own_;
  DeviceBuffer<T> rows_, charges_;
  DeviceBuffer<double> x_, y_, z_;
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
