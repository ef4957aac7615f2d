// What fmbem tune measures of a GPU: stages of a few evaluations, whose seconds on an H200 are
// known.
#include <algorithm>
#include <chrono>
#include <limits>
#include <vector>

#include "fmbem/cuda/choose.cuh"
#include "fmbem/cuda/device.hpp"
#include "fmbem/cuda/device_speeds.hpp"
#include "fmbem/cuda/evaluation.cuh"
#include "fmbem/cuda/pass.cuh"
#include "fmbem/fmm/base/clouds.hpp"
#include "fmbem/fmm/lists/hybrid_lists.hpp"

namespace fmbem::cuda {
namespace {

constexpr int trials = 5;

/// Points in a cube, with charges, on the device.
struct Cloud {
  explicit Cloud(std::size_t n)
      : places(clouds::cube_points(n, 1)),
        ones(n, 1.0),
        points(to_device(places, stream)),
        charges(to_device(ones, stream)),
        potential(n, stream) {}
  DevicePoints on_device() const { return {points.data(), points.size()}; }
  DeviceStrengths strengths() const { return {charges.data(), nullptr, 1}; }
  DeviceFields fields() const { return {potential.data(), nullptr, nullptr}; }

  Stream stream;
  std::vector<Vec3d> places;
  std::vector<double> ones;
  DeviceBuffer<Vec3d> points;
  DeviceBuffer<double> charges, potential;
};

/// The least seconds of each stage, after an evaluation that makes room.
template <class Evaluate>
fmm::Seconds least_seconds(const Evaluate& evaluate) {
  evaluate();
  fmm::Seconds least = evaluate();
  for (int trial = 1; trial < trials; ++trial)
    for (const auto& [stage, seconds] : evaluate()) least[stage] = std::min(least[stage], seconds);
  return least;
}

fmm::Seconds of_fmm(const Cloud& cloud, Precision precision, int order, int max_leaf) {
  FmmPlan plan(cloud.on_device(), cloud.on_device(),
               {.precision = precision,
                .order = order,
                .max_leaf = max_leaf,
                .inflation = 1,
                .third_law = fmm::ThirdLaw::never},
               cloud.stream);
  return least_seconds([&] { return plan.evaluate_stages(cloud.strengths(), cloud.fields()); });
}

/// Costs by which boxes that are far from each other act in one way alone.
enum class Way { m2p, p2l, m2l };
fmm::HybridCosts costs_of(Way way) {
  constexpr double often = 1e-9, never = 1e9;
  return {.pair = 1,
          .m2l_pair = way == Way::m2l ? often : never,
          .m2p_target = way == Way::m2p ? often : never,
          .p2l_source = way == Way::p2l ? often : never};
}

fmm::Seconds of_hybrid(const Cloud& cloud, Precision precision, Way way) {
  constexpr int order = 8, max_leaf = 64;
  constexpr double theta = 0.5;  // with which M2L goes by displacements
  const Hull root = bounding_cube(cloud.places);
  const double scale = fmm::scale_for(root);
  fmm::PointTree host{.scale = scale};
  const Hull scaled = fmbem::scaled(root, scale);
  host.sources = fmm::sort_points(cloud.places, scale, scaled);
  host.octree = fmm::build_octree(scaled, host.sources, host.sources, max_leaf);
  fmm::make_hybrid_lists(host, theta, costs_of(way), near_reach(precision));
  const int most = targets_of_a_warp(precision == Precision::single_precision, false,
                                     static_cast<std::int64_t>(cloud.places.size()));
  const PlanTree tree =
      hybrid_plan_tree(host, most, false, fmm::DisplacedLevels::together, cloud.stream);
  const auto evaluation = make_evaluation(
      tree, {cloud.on_device(), cloud.on_device(), to_device(host.sources.order, cloud.stream)},
      fmm::ParityOrder(order),
      {.precision = precision,
       .near_precision = precision,
       .root_terms = 1,
       .third_law = false,
       .targets_of_a_warp = most,
       .kernel = {.top_level = 1}},
      cloud.stream);
  return least_seconds(
      [&] { return evaluation->evaluate_stages(cloud.strengths(), cloud.fields()); });
}

/// Of an evaluation of so few points that launches are all of it.
double seconds_of_a_start() {
  const Cloud cloud(1000);
  FmmPlan plan(cloud.on_device(), cloud.on_device(),
               {.tolerance = 1e-3, .max_leaf = 50, .inflation = 1}, cloud.stream);
  double least = std::numeric_limits<double>::infinity();
  for (int trial = 0; trial < 20; ++trial) {
    const auto start = std::chrono::steady_clock::now();
    plan.evaluate(cloud.strengths(), cloud.fields());
    plan.wait();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    least = std::min(least, taken.count());
  }
  return least;
}

/// Seconds of the current device, in the places of its speeds.
DeviceSpeeds measure_seconds() {
  DeviceSpeeds seconds;
  const Cloud large(500'000), small(100'000);
  for (const bool is_single : {true, false}) {
    const Precision precision =
        is_single ? Precision::single_precision : Precision::double_precision;
    const fmm::Seconds high = of_fmm(large, precision, 15, 128);
    (is_single ? seconds.near_single : seconds.near_double) = high.at("P2P");
    (is_single ? seconds.products_single : seconds.products_double) = high.at("M2L");
    (is_single ? seconds.m2p_single : seconds.m2p_double) =
        of_hybrid(small, precision, Way::m2p).at("M2P");
    (is_single ? seconds.p2l_single : seconds.p2l_double) =
        of_hybrid(small, precision, Way::p2l).at("P2L");
    (is_single ? seconds.displaced_single : seconds.displaced_double) =
        of_hybrid(small, precision, Way::m2l).at("M2L");
  }
  const fmm::Seconds low = of_fmm(large, Precision::single_precision, 3, 16);
  seconds.memory = low.at("M2L");
  seconds.boxes = low.at("P2M") + low.at("M2M") + low.at("L2L") + low.at("L2P");
  seconds.start = seconds_of_a_start();
  return seconds;
}

/// CUDA 13.0, 2026-11-27; runs on two cards differ by up to 3 %.
constexpr DeviceSpeeds seconds_of_an_h200{.near_single = 7.53e-4,
                                          .near_double = 1.218e-3,
                                          .products_single = 2.23e-4,
                                          .products_double = 3.35e-4,
                                          .memory = 4.06e-5,
                                          .boxes = 1.405e-4,
                                          .m2p_single = 5.96e-3,
                                          .m2p_double = 7.74e-3,
                                          .p2l_single = 4.52e-3,
                                          .p2l_double = 5.42e-3,
                                          .displaced_single = 4.60e-3,
                                          .displaced_double = 7.89e-3,
                                          .start = 4.14e-5};

}  // namespace

DeviceSpeeds measure_device_speeds() {
  require_cuda_device();
  const WithoutTable as_if_new;
  const DeviceSpeeds seconds = measure_seconds();
  DeviceSpeeds speeds;
  for (const SpeedField& field : speed_fields)
    speeds.*field.value = seconds_of_an_h200.*field.value / seconds.*field.value;
  return speeds;
}

}  // namespace fmbem::cuda
