// What callers of plans on the device bring: numbers in single precision, a stream, other places.
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "fmbem/cuda/fmm_plan.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "tests/unit/cuda/device_stream.hpp"
#include "tests/unit/cuda/gpu.hpp"
#include "tests/unit/cuda/on_device.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test::cuda_caller_tests {

using cuda::DeviceArray;
using cuda::FmmPlan;

namespace {

using Points = std::vector<Vec3d>;

float in_float(double x) { return static_cast<float>(x); }
Vec3<float> in_float(Vec3d x) { return {in_float(x.x), in_float(x.y), in_float(x.z)}; }
double in_double(float x) { return x; }
Vec3d in_double(Vec3<float> x) { return {x.x, x.y, x.z}; }

template <class T>
auto floats_of(const std::vector<T>& from) {
  std::vector<decltype(in_float(from[0]))> to;
  for (const T& x : from) to.push_back(in_float(x));
  return to;
}
template <class T>
auto doubles_of(const std::vector<T>& from) {
  std::vector<decltype(in_double(from[0]))> to;
  for (const T& x : from) to.push_back(in_double(x));
  return to;
}

/// An evaluation's data, T float or double.
template <class T>
struct Data {
  Data(const std::vector<T>& q, const std::vector<Vec3<T>>& d, std::size_t targets)
      : charges(on_device(q)), dipoles(on_device(d)), potential(targets), gradient(targets) {}
  cuda::DeviceStrengthsOf<T> strengths() const { return {charges.data(), dipoles.data(), 1}; }
  cuda::DeviceFieldsOf<T> fields() const { return {potential.data(), gradient.data()}; }

  DeviceArray<T> charges;
  DeviceArray<Vec3<T>> dipoles;
  DeviceArray<T> potential;
  DeviceArray<Vec3<T>> gradient;
};

}  // namespace

TEST_CASE("a plan without options is one with those by default") {
  if (!gpu_is_there()) return;
  const Points points = cube_points(3000, 1);
  const auto q = signed_charges(points.size(), 2);
  std::vector<double> u(points.size()), v(points.size());
  cuda::make_fmm_plan(points, {}).evaluate({.charges = q}, {.potential = u});
  cuda::make_fmm_plan(points).evaluate({.charges = q}, {.potential = v});
  CHECK(u == v);
}

TEST_CASE("plans work on the GPU that is current, with the same bits on each") {
  if (!gpu_is_there()) return;
  const Points points = cube_points(20'000, 1);
  const auto q = signed_charges(points.size(), 2);
  const int devices = static_cast<int>(cuda_devices().size());
  for (const double kappa : {0.0, 3.0}) {
    std::vector<double> first(points.size()), u(points.size());
    for (int device = 0; device < devices; ++device) {
      use_device(device);
      const auto plan = cuda::make_fmm_plan(points, {.kappa = kappa, .max_leaf = 20});
      // A second and a third one: the first runs without a graph.
      for (int k = 0; k < 3; ++k)
        plan.evaluate({.charges = q}, {.potential = device == 0 ? first : u});
      if (device > 0) CHECK(u == first);
    }
    use_device(0);
  }
}

TEST_CASE("numbers in single precision are worked with as equal ones in double precision") {
  if (!gpu_is_there()) return;
  const auto y = floats_of(cube_points(4000, 3)), x = floats_of(sphere_points(2500, 4)),
             d = floats_of(random_dipoles(4000, 5)), elsewhere = floats_of(cube_points(4000, 6));
  const auto q = floats_of(signed_charges(4000, 7));
  for (const bool same : {true, false}) {
    const auto& targets = same ? y : x;
    const auto float_y = on_device(y), float_x = on_device(targets), moved = on_device(elsewhere);
    const auto double_y = on_device(doubles_of(y)), double_x = on_device(doubles_of(targets)),
               double_moved = on_device(doubles_of(elsewhere));
    const fmm::PlanOptions options{.tolerance = 1e-5, .gradient = true, .dipoles = true};
    const auto plan_of = [&](const auto& sources, const auto& others) {
      return std::make_unique<FmmPlan>(cuda::DevicePointsOf<double>{sources.data(), sources.size()},
                                       cuda::DevicePointsOf<double>{others.data(), others.size()},
                                       options);
    };
    FmmPlan plan({float_y.data(), y.size()},
                 {same ? float_y.data() : float_x.data(), targets.size()}, options);
    const auto exact = plan_of(double_y, same ? double_y : double_x);
    const Data<float> data(q, d, targets.size());
    const Data<double> of_exact(doubles_of(q), doubles_of(d), targets.size());
    const auto compare = [&] {
      plan.evaluate(data.strengths(), data.fields());
      plan.wait();
      exact->evaluate(of_exact.strengths(), of_exact.fields());
      exact->wait();
      CHECK(on_host(data.potential) == floats_of(on_host(of_exact.potential)));
      CHECK(on_host(data.gradient) == floats_of(on_host(of_exact.gradient)));
    };
    compare();
    const auto move = [&](auto& which, const auto& to, const auto& others) {
      if (same)
        which.move({to.data(), to.size()}, {to.data(), to.size()});
      else
        which.move({to.data(), to.size()}, {others.data(), others.size()});
    };
    move(plan, moved, float_x);
    move(*exact, double_moved, double_x);
    compare();
  }
}

TEST_CASE("a plan in the caller's stream takes its turn there") {
  if (!gpu_is_there()) return;
  const Points points = plummer_points(20'000, 8);
  const auto q = signed_charges(points.size(), 9);
  const fmm::PlanOptions options{.tolerance = 1e-5};
  std::vector<double> expected(points.size());
  cuda::make_fmm_plan(points, options).evaluate({.charges = q}, {.potential = expected});
  DeviceStream of_caller;
  for (CUstream_st* const stream : {of_caller.get(), static_cast<CUstream_st*>(nullptr)}) {
    // The stream is busy while the plan is made and evaluated, and fills what these read.
    DeviceArray<Vec3d> places(points.size());
    DeviceArray<double> charges(q.size()), potential(q.size());
    on_stream_after_a_while(stream, &points[0].x, 3 * points.size(),
                            reinterpret_cast<double*>(places.data()));
    FmmPlan plan({places.data(), points.size()}, {places.data(), points.size()}, options, stream);
    CHECK(plan.stream() == stream);
    for (int k = 0; k < 4; ++k) {
      std::vector<double> found(q.size());
      const std::vector<double> zeros(q.size(), 0.0);
      charges.upload(zeros);
      on_stream_after_a_while(stream, q.data(), q.size(), charges.data());
      plan.evaluate({.charges = charges.data()}, {.potential = potential.data()});
      // Without waiting for the plan: what comes after it in the stream finds the results.
      from_stream(stream, potential.data(), found.size(), found.data());
      CHECK(found == expected);
    }
  }
}

TEST_CASE("plans on the device that move have the bits of new ones, whatever their method") {
  if (!gpu_is_there()) return;
  const Points before = cube_points(5000, 10), after = plummer_points(5000, 11);
  const auto from = on_device(before), to = on_device(after);
  const Data<double> data(signed_charges(5000, 12), {}, 5000),
      other(signed_charges(5000, 12), {}, 5000);
  for (const fmm::Method method :
       {fmm::Method::fmm, fmm::Method::treecode, fmm::Method::direct, fmm::Method::automatic})
    for (const fmm::Construction construction :
         {fmm::Construction::radix_sort, fmm::Construction::histogram}) {
      fmm::PlanOptions options{.tolerance = 1e-5, .gradient = true, .method = method};
      options.construction = construction;
      FmmPlan plan({from.data(), 5000}, {from.data(), 5000}, options);
      plan.evaluate(data.strengths(), data.fields());
      plan.move({to.data(), 5000}, {to.data(), 5000});
      options.method = plan.info().method;
      if (options.method != fmm::Method::direct) {
        options.order = plan.info().order;
        options.max_leaf = plan.info().max_leaf;
        options.inflation = plan.info().inflation;
      }
      FmmPlan made({to.data(), 5000}, {to.data(), 5000}, options);
      for (int k = 0; k < 3; ++k) {  // as it is, captured, and by the graph
        plan.evaluate(data.strengths(), data.fields());
        made.evaluate(other.strengths(), other.fields());
        plan.wait();
        made.wait();
        CHECK(on_host(data.potential) == on_host(other.potential));
        CHECK(on_host(data.gradient) == on_host(other.gradient));
      }
    }
}

TEST_CASE("plans on the device that cannot move are as they were") {
  if (!gpu_is_there()) return;
  Points points = cube_points(600, 13);
  const auto there = on_device(points);
  const Data<double> data(signed_charges(600, 14), {}, 600);
  FmmPlan plan({there.data(), 600}, {there.data(), 600}, {.gradient = true, .max_leaf = 30});
  const auto evaluated = [&] {
    plan.evaluate(data.strengths(), data.fields());
    plan.wait();
    return on_host(data.potential);
  };
  const std::vector<double> before = evaluated();
  CHECK_THROWS_WITH(plan.move({there.data(), 599}, {there.data(), 599}),
                    contains("a plan of 600 sources cannot move to 599 places"));
  CHECK_THROWS_WITH(plan.move({there.data(), 600}, {there.data(), 599}),
                    contains("move(points) moves them"));
  points[5].z = std::numeric_limits<double>::quiet_NaN();
  const auto bad = on_device(points);
  CHECK_THROWS_WITH(plan.move({bad.data(), 600}, {bad.data(), 600}),
                    contains("source 5 is not at a finite position"));
  CHECK(evaluated() == before);
}

}  // namespace fmbem::test::cuda_caller_tests
