#include <algorithm>
#include <utility>

#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/plain_evaluation.cuh"
#include "fmbem/fmm/kernel/laplace.hpp"

namespace fmbem::cuda {
namespace {

/// Right-hand sides of which the largest strengths have room.
constexpr int most_vectors_together = 8;

__global__ void place_kernel(const Vec3d* points, const std::int32_t* order, std::int64_t n,
                             double scale, double* places) {
  const std::int64_t k = thread_index();
  if (k >= n) return;
  const Vec3d place = scale * points[order[k]];
  places[k] = place.x;
  places[n + k] = place.y;
  places[2 * n + k] = place.z;
}

/// Adds the parts up in their order.
__global__ void write_results(PartsView from, Asked asked, std::int64_t n,
                              const std::int32_t* order, const unsigned long long* largest,
                              double scale, double unit, const Arguments* to) {
  const std::int64_t k = thread_index();
  if (k >= n) return;
  const int v = blockIdx.y, components = asked.components();
  const double to_strengths = 1 / strength_scale(largest[v]);
  const auto total = [&](int component) {
    double sum = 0;
    for (int part = 0; part < from.parts; ++part)
      sum += from.sums[((static_cast<std::int64_t>(part) * components + component) * asked.vectors +
                        v) *
                           n +
                       k];
    return to_strengths * sum;
  };
  const std::int64_t i = v * n + order[k];
  if (asked.potential) to->potential[i] = scale * total(0);
  if (asked.gradient) {
    const int first = asked.potential;
    to->gradient[i] = scale * unit * Vec3d{total(first), total(first + 1), total(first + 2)};
  }
  if (asked.hessian) {
    const int first = components - 6;
    for (int k = 0; k < 6; ++k) to->hessian[i][k] = scale * unit * unit * total(first + k);
  }
}

}  // namespace

PlainEvaluation::PlainEvaluation(double scale, bool same, PlanPoints points, const Stream& stream)
    : scale_(scale),
      same_(same),
      stream_(stream),
      arguments_(1, stream),
      largest_(most_vectors_together, stream) {
  place(points.sources, std::move(points.source_order), true);
  if (!same) place(points.targets, std::move(points.target_order), false);
}

void PlainEvaluation::place(DevicePoints points, DeviceBuffer<std::int32_t> order,
                            bool are_sources) {
  const auto n = static_cast<std::int64_t>(points.size);
  DeviceBuffer<double> places(3 * n, stream_);
  launch(place_kernel, blocks_for(n), threads_per_block, 0, stream_, points.data, order.data(), n,
         scale_, places.data());
  (are_sources ? source_view_ : target_view_) =
      PointsView<double>{n, order.data(), places.data(), places.data() + n, places.data() + 2 * n};
  (are_sources ? source_order_ : target_order_) = std::move(order);
  (are_sources ? source_places_ : target_places_) = std::move(places);
}

std::int64_t PlainEvaluation::bytes() const {
  return source_order_.bytes() + target_order_.bytes() + source_places_.bytes() +
         target_places_.bytes() + places_.bytes() + dipoles_.bytes() + sums_.bytes();
}

void PlainEvaluation::evaluate(const DeviceStrengths& strengths, const DeviceFields& fields) {
  evaluate(strengths, fields, nullptr);
}

fmm::Seconds PlainEvaluation::evaluate_stages(const DeviceStrengths& strengths,
                                              const DeviceFields& fields) {
  StageTimes times(stream_);
  evaluate(strengths, fields, &times);
  return times.seconds();
}

void PlainEvaluation::evaluate(const DeviceStrengths& strengths, const DeviceFields& fields,
                               StageTimes* times) {
  for_batches({std::min(most_together(), most_vectors_together), sources().count, targets().count,
               arguments_.data(), stream_},
              strengths, fields, [&](const Asked& asked) { enqueue(asked, times); });
}

void PlainEvaluation::enqueue(const Asked& asked, StageTimes* times) {
  const std::int64_t s = sources().count, t = targets().count;
  grow(places_, asked.vectors * s, stream_);
  if (asked.dipoles) grow(dipoles_, asked.vectors * s, stream_);
  const int parts = this->parts();
  grow(sums_, parts * asked.components() * asked.vectors * t, stream_);
  const PartsView out{sums_.data(), parts};
  if (times) times->start();
  find_largest(arguments_.data(), s, asked.vectors, asked.charges, asked.dipoles, scale_,
               largest_.data(), stream_);
  sort_strengths(arguments_.data(), sources(), asked.vectors, scale_, largest_.data(),
                 SortedStrengths<double>{asked.charges, places_.data(),
                                         asked.dipoles ? dipoles_.data() : nullptr},
                 stream_);
  if (times) times->record("sort");
  enqueue_sums(asked, out, times);
  launch(write_results, dim3(blocks_for(t), asked.vectors), threads_per_block, 0, stream_, out,
         asked, t, targets().order, largest_.data(), fmm::Laplace::scale * scale_, scale_,
         arguments_.data());
  if (times) times->record("results");
}

}  // namespace fmbem::cuda
