// Operators on the GPU alone; what they share with those of the CPU is in fmm_operator.cpp and
// operator_edges.cpp.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include "fmbem/cuda/device_array.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "tests/unit/bem/backends.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/cuda/filled_gpu.hpp"
#include "tests/unit/points.hpp"
#include "tests/unit/surfaces.hpp"
#include "tests/unit/vectors.hpp"

namespace fmbem::test::cuda_operator_tests {

namespace {

/// The sentence of the ResourceError with which the work ends; empty if there is none.
template <class Work>
std::string lack_of_memory(Work&& work) {
  try {
    work();
  } catch (const ResourceError& error) {
    return error.what();
  }
  return {};
}

constexpr const char* way_out = "--near-field lean";

bool names(const std::string& sentence, const std::string& words) {
  return sentence.find(words) != std::string::npos;
}

}  // namespace

BACKEND_TEST_CASE("where the GPU's memory does not suffice, the lean near field is named") {
  const Panels panels = make_panels(cube(40));
  const std::size_t n = panels.size();
  OperatorOptions options;
  options.near_field = OperatorOptions::NearField::stored;
  const auto v = make_fmm(panels, options);
  const Vector x = signed_charges(n, 1);
  Vector y(n), same(n);
  v->apply(x.data(), y.data());
  {
    const FilledGpu filled;
    CHECK(names(lack_of_memory([&] { make_fmm(panels, options); }), way_out));
    CHECK(names(lack_of_memory([&] { v->approximate_inverse(); }), way_out));
    options.near_field = OperatorOptions::NearField::lean;
    const std::string sentence = lack_of_memory([&] { make_fmm(panels, options); });
    CHECK(names(sentence, "the GPU's memory does not suffice"));
    CHECK_FALSE(names(sentence, way_out));
    // Attempts that fail late may have to give memory back first.
    const Vector many(16 * n, 1.0);
    Vector products(many.size());
    CHECK(names(lack_of_memory([&] { v->apply(many.data(), products.data(), {.vectors = 16}); }),
                way_out));
    CHECK(names(lack_of_memory([&] {
                  v->apply(x.data(), same.data(), {.tolerance = v->accurate_tolerance()});
                }),
                way_out));
  }
  // What has failed has left nothing behind.
  v->apply(x.data(), same.data());
  CHECK(same == y);
  v->apply(x.data(), same.data(), {.tolerance = v->accurate_tolerance()});
  CHECK(norm_of(difference(same, y)) < 1e-6 * norm_of(y));
}

BACKEND_TEST_CASE("integrals in single precision are off by 2e-8 of the norm in lean products") {
  for (const SurfaceMesh& mesh : {sphere(5), cube(32), bracket(36)}) {
    const Panels panels = make_panels(mesh);
    const std::size_t n = panels.size();
    const Vector random = signed_charges(n, 5);
    for (const Layer& layer : {single_layer, double_layer, adjoint_double_layer}) {
      OperatorOptions options{.near_field = OperatorOptions::NearField::lean, .tolerance = 1e-7};
      const auto single = make_fmm(panels, layer, options);
      options.precision = Precision::double_precision;
      const auto precise = make_fmm(panels, layer, options);
      CHECK(single->info().precision == Precision::single_precision);
      // What K' is accurate in are charges.
      const auto size = [&](Vector v) {
        for (std::size_t i = 0; layer == adjoint_double_layer && i < n; ++i) v[i] *= panels.area(i);
        return norm_of(v);
      };
      for (const Vector& x : {Vector(n, 1.0), random}) {
        const Vector y = product(*single, x);
        const double bound = 2e-8 * single->norm() * size(x);
        CAPTURE(n, layer.name(), x[0]);
        CHECK(size(difference(y, product(*precise, x))) < bound);
        Vector four, together(4 * n);
        for (int k = 0; k < 4; ++k) four.insert(four.end(), x.begin(), x.end());
        single->apply(four.data(), together.data(), {.vectors = 4});
        together.resize(n);
        CHECK(size(difference(y, together)) < bound);
      }
    }
  }
}

BACKEND_TEST_CASE("products of two operators at once do not disturb each other") {
  const Panels cubes = make_panels(cube(20)), spheres = make_panels(sphere(4));
  OperatorOptions lean;
  lean.near_field = OperatorOptions::NearField::lean;
  const auto a = make_fmm(cubes, {}), b = make_fmm(spheres, lean);
  struct Side {
    const BoundaryOperator& v;
    Vector x, y, out;
    cuda::DeviceArray<double> d_x, d_y;
    explicit Side(const BoundaryOperator& op)
        : v(op),
          x(signed_charges(op.size(), 3)),
          y(product(op, x)),
          out(x.size()),
          d_x(x),
          d_y(x.size()) {}
  };
  Side left(*a), right(*b);
  // Both use the default stream only, so only waiting inside of them could keep them apart.
  for (int k = 0; k < 5; ++k)
    for (Side* side : {&left, &right, &left})
      side->v.apply_on_device(side->d_x.data(), side->d_y.data());
  for (Side* side : {&right, &left}) {
    side->v.wait();
    side->d_y.download(side->out);
    CHECK(side->out == side->y);
  }
}

BACKEND_TEST_CASE("transposed products and K' of vectors on the device") {
  const Panels panels = make_panels(cube(12));
  const std::size_t n = panels.size();
  const Vector x = signed_charges(5 * n, 7);
  for (const Layer& layer : {single_layer, double_layer, adjoint_double_layer})
    for (const auto near_field : near_fields)
      for (const bool transposed : {true, false}) {
        CAPTURE(layer.name(), static_cast<int>(near_field), transposed);
        const OperatorOptions options{.near_field = near_field, .tolerance = 1e-5, .max_leaf = 20};
        const auto op = make_fmm(panels, layer, options), again = make_fmm(panels, layer, options);
        CHECK(op->processor() == Processor::gpu);
        CHECK(op->info().processor == Processor::gpu);
        const cuda::DeviceArray<double> d_x(x), d_y(5 * n);
        Vector y(5 * n), same(5 * n);
        for (const double tolerance : {0.0, op->accurate_tolerance()}) {
          const Product product{.vectors = 5, .tolerance = tolerance, .transposed = transposed};
          op->apply(x.data(), y.data(), product);
          again->apply_on_device(d_x.data(), d_y.data(), product);
          again->wait();
          d_y.download(same);
          CHECK(y == same);  // the same bits in two runs, too
        }
      }
}

BACKEND_TEST_CASE("K' of one vector after several on the device") {
  const Panels panels = make_panels(cube(10));
  const std::size_t n = panels.size();
  const auto flux = make_fmm(panels, adjoint_double_layer, {.tolerance = 1e-5, .max_leaf = 20});
  const Vector x = signed_charges(4 * n, 3);
  const cuda::DeviceArray<double> d_x(x), d_first(n), d_all(4 * n), d_last(n);
  flux->apply_on_device(d_x.data(), d_first.data());
  flux->apply_on_device(d_x.data(), d_all.data(), {.vectors = 4});
  flux->apply_on_device(d_x.data(), d_last.data());
  flux->wait();
  Vector first(n), all(4 * n), last(n);
  d_first.download(first);
  d_all.download(all);
  d_last.download(last);
  CHECK(first == last);
  all.resize(n);
  CHECK(norm_of(difference(all, first)) < 1e-6 * norm_of(first));
}

BACKEND_TEST_CASE("a product on the device of what is not finite is NaN everywhere") {
  const Panels panels = make_panels(cube(10));
  const std::size_t n = panels.size();
  for (const double tolerance : {1e-4, 1e-9}) {
    OperatorOptions options;
    options.max_leaf = 20;
    options.tolerance = tolerance;
    const auto v = make_fmm(panels, options);
    const Vector good = signed_charges(2 * n, 9);
    Vector y(2 * n), out(2 * n);
    v->apply(good.data(), y.data(), {.vectors = 2});
    for (const double bad :
         {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()}) {
      Vector x = good;
      x[17] = bad;
      const cuda::DeviceArray<double> d_x(x), d_y(2 * n);
      v->apply_on_device(d_x.data(), d_y.data(), {.vectors = 2});
      v->wait();
      d_y.download(out);
      CHECK(std::all_of(out.begin(), out.begin() + n,
                        [](double value) { return std::isnan(value); }));
      CHECK(std::equal(out.begin() + n, out.end(), y.begin() + n));
      v->apply_on_device(d_x.data(), d_y.data(), {.vectors = 2, .transposed = true});
      v->wait();
      d_y.download(out);
      CHECK(std::all_of(out.begin(), out.begin() + n,
                        [](double value) { return std::isnan(value); }));
      CHECK(
          std::none_of(out.begin() + n, out.end(), [](double value) { return std::isnan(value); }));
    }
  }
}

}  // namespace fmbem::test::cuda_operator_tests
