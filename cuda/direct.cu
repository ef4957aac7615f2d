#include <algorithm>
#include <utility>

#include "fmbem/cuda/direct.cuh"
#include "fmbem/cuda/direct_kernel.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/plain_evaluation.cuh"

namespace fmbem::cuda {
namespace {

/// How the pairs are divided among blocks.
struct DirectGrid {
  int lanes = warp_size, parts = 1;
  std::int32_t tiles, tiles_of_a_part;
  unsigned target_blocks;

  DirectGrid(std::int64_t sources, std::int64_t targets)
      : tiles(static_cast<std::int32_t>(blocks_for(sources, tile_sources))) {
    const std::int64_t at_a_time =
        blocks_at_a_time * std::int64_t{device_attribute(cudaDevAttrMultiProcessorCount)};
    const auto blocks_of = [&](int with_lanes) {
      return blocks_for(targets, warps_per_block * with_lanes * targets_of_a_thread);
    };
    while (lanes > 1 && std::int64_t{blocks_of(lanes)} * tiles < 2 * at_a_time) lanes /= 2;
    target_blocks = blocks_of(lanes);
    const std::int64_t wanted = (rounds * at_a_time + target_blocks - 1) / target_blocks;
    tiles_of_a_part = std::max(1, static_cast<std::int32_t>(tiles / wanted));
    // The number of parts is that of blocks in a column of the grid.
    constexpr std::int32_t most_parts = 65'535;
    tiles_of_a_part = std::max(tiles_of_a_part, (tiles + most_parts - 1) / most_parts);
    parts = (tiles + tiles_of_a_part - 1) / tiles_of_a_part;
  }
};

/// Pairs in N. Second derivatives come with N double alone.
template <class N>
class DirectEvaluation final : public PlainEvaluation {
 public:
  DirectEvaluation(const DirectOptions& options, PlanPoints points, const Stream& stream)
      : PlainEvaluation(options.scale, options.same, std::move(points), stream),
        options_(options),
        grid_(sources().count, targets().count),
        bounds_(grid_.tiles, stream) {
    source_view_ = centred(sources(), source_places_);
    if (!options.same) target_view_ = centred(targets(), target_places_);
    launch(bound_kernel, blocks_for(grid_.tiles, warps_per_block), threads_per_block, 0, stream,
           source_view_, std::int64_t{grid_.tiles}, bounds_.data());
  }

  std::int64_t operator_bytes() const override { return 0; }
  std::int64_t bytes() const override {
    return PlainEvaluation::bytes() + source_places_.bytes() + target_places_.bytes() +
           bounds_.bytes() + places_.bytes() + dipoles_.bytes();
  }

 private:
  int most_together() const override { return 8; }
  int parts() const override { return grid_.parts; }

  PointsView<float> centred(const PointsView<double>& points, DeviceBuffer<float>& places) {
    const std::int64_t n = points.count;
    places = DeviceBuffer<float>(3 * n, stream());
    launch(centre_kernel, blocks_for(n), threads_per_block, 0, stream(), points, options_.centre,
           places.data());
    return {n, points.order, places.data(), places.data() + n, places.data() + 2 * n};
  }

  void enqueue_sums(const Asked& asked, const PartsView& out, StageTimes* times) override {
    const StrengthsView<double> exact = strengths(asked);
    StrengthsView<N> in_precision{};
    if constexpr (sizeof(N) == 4) {
      grow(places_, asked.vectors * sources().count, stream());
      if (asked.dipoles) grow(dipoles_, asked.vectors * sources().count, stream());
      in_precision = {places_.data(), asked.charges, asked.dipoles ? dipoles_.data() : nullptr};
      sort_strengths(arguments(), source_view_, asked.vectors, scale(), largest(),
                     SortedStrengths<float>{asked.charges, places_.data(),
                                            asked.dipoles ? dipoles_.data() : nullptr},
                     stream());
    } else {
      in_precision = exact;
    }
    // Coordinates about the centre are below 1 in size, so their differences are known to 2^-24;
    // pairs at so many times that over the tolerance have a distance that is good enough. In double
    // precision only pairs that coincide are close.
    const double close = sizeof(N) == 4 ? 4 * 0x1p-24 / options_.tolerance : 0x1p-20;
    const DirectArguments<N> a{targets(),
                               options_.same ? source_view_ : target_view_,
                               sources().count,
                               in_precision,
                               exact,
                               bounds_.data(),
                               static_cast<float>(close * close),
                               options_.softening * options_.softening,
                               grid_.lanes,
                               grid_.tiles,
                               grid_.tiles_of_a_part,
                               asked.vectors,
                               out.sums,
                               asked.components()};
    if (asked.potential || asked.gradient) {
      if (sizeof(N) == 4 || options_.tolerance >= 1e-10)
        enqueue_terms<1>(a, asked);
      else if constexpr (sizeof(N) == 8)
        enqueue_terms<2>(a, asked);
    }
    if constexpr (sizeof(N) == 8)
      if (asked.hessian) enqueue_hessian(a, asked);
    if (times) times->record("P2P");
  }

  template <int Terms>
  void enqueue_terms(const DirectArguments<N>& a, const Asked& asked) {
    asked.dipoles ? enqueue<Terms, true>(a, asked) : enqueue<Terms, false>(a, asked);
  }
  template <int Terms, bool Dipoles>
  void enqueue(const DirectArguments<N>& a, const Asked& asked) {
    enqueue(asked.potential && asked.gradient
                ? direct_kernel<N, Terms, Dipoles, Sums<double, true, true>>
            : asked.potential ? direct_kernel<N, Terms, Dipoles, Sums<double, true, false>>
                              : direct_kernel<N, Terms, Dipoles, Sums<double, false, true>>,
            a);
  }
  /// Behind the other components, and to the last bits.
  void enqueue_hessian(DirectArguments<double> a, const Asked& asked) {
    a.sums += (a.components - HessianSums<double>::components) * a.vectors * targets().count;
    enqueue(asked.dipoles ? direct_kernel<double, 2, true, HessianSums<double>>
                          : direct_kernel<double, 2, false, HessianSums<double>>,
            a);
  }
  void enqueue(void (*kernel)(DirectArguments<N>), const DirectArguments<N>& a) {
    launch(kernel, dim3(grid_.target_blocks, grid_.parts, a.vectors), threads_per_block, 0,
           stream(), a);
  }

  DirectOptions options_;
  DirectGrid grid_;
  DeviceBuffer<float> source_places_, target_places_;
  PointsView<float> source_view_{}, target_view_{};
  DeviceBuffer<Bound> bounds_;
  DeviceBuffer<ChargedPoint<float>> places_, dipoles_;  ///< in single precision
};

}  // namespace

std::unique_ptr<Evaluation> make_direct_evaluation(const DirectOptions& options, PlanPoints points,
                                                   const Stream& stream) {
  if (options.precision == Precision::single_precision)
    return std::make_unique<DirectEvaluation<float>>(options, std::move(points), stream);
  return std::make_unique<DirectEvaluation<double>>(options, std::move(points), stream);
}

}  // namespace fmbem::cuda
