// Operators on the GPU alone; what they share with those of the CPU is in fmm_operator.cpp.
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

using namespace fmbem;
using namespace fmbem::test;

namespace {

/// The sentence of a ResourceError that the work ends with; empty without one.
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
    // Those that fail late may give something back first.
    const Vector many(16 * n, 1.0);
    Vector products(many.size());
    CHECK(names(lack_of_memory([&] { v->apply(many.data(), products.data(), 16); }), way_out));
    CHECK(names(lack_of_memory([&] { v->apply_accurately(x.data(), same.data()); }), way_out));
  }
  // What has failed has left nothing behind.
  v->apply(x.data(), same.data());
  CHECK(same == y);
  v->apply_accurately(x.data(), same.data());
  CHECK(norm_of(difference(same, y)) < 1e-6 * norm_of(y));
}
