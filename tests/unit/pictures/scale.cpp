#include "fmbem/pictures/scale.hpp"

#include <cmath>
#include <limits>

#include "tests/unit/catch.hpp"

namespace fmbem::test::scale_tests {

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

Scale scale_of(const std::vector<double>& values, bool ask_log = false,
               const std::vector<double>& weights = {}) {
  return choose_scale(values, weights, ask_log, "charge");
}

}  // namespace

TEST_CASE("values decide about their scale") {
  const Scale linear = scale_of({2, 150, none});
  CHECK(linear.kind == Scale::Kind::linear);
  CHECK(linear.min == 2);
  CHECK(linear.max == 150);
  CHECK(linear.fraction(76) == Approx(0.5));
  CHECK(linear.fraction(none) == 0);
  CHECK(linear.fraction(1e9) == 1);

  const Scale signed_values = scale_of({-1, 4});
  CHECK(signed_values.kind == Scale::Kind::symmetric);
  CHECK(signed_values.min == -4);
  CHECK(signed_values.max == 4);
  CHECK(signed_values.fraction(0) == 0.5);

  // Rounding below zero makes no values of both signs.
  CHECK(scale_of({-1e-9, 4}).kind == Scale::Kind::linear);
  CHECK(scale_of({-4, -1}).kind == Scale::Kind::linear);

  const Scale logarithmic = scale_of({1, 1000});
  CHECK(logarithmic.kind == Scale::Kind::logarithmic);
  CHECK(logarithmic.fraction(10) == Approx(1.0 / 3));
  CHECK(scale_of({1, 50}, true).kind == Scale::Kind::logarithmic);

  const Scale long_range = scale_of({1e-9, 1});
  CHECK(long_range.min == Approx(1e-4));
  CHECK(long_range.beyond_min);
  CHECK(long_range.fraction(0) == 0);
}

TEST_CASE("a hundredth of the weights may lie beyond a linear scale") {
  std::vector<double> values, weights;
  for (int i = 0; i < 1000; ++i) {
    values.push_back(i < 995 ? 1 + i / 1000.0 : 40);
    weights.push_back(1);
  }
  const Scale scale = scale_of(values, false, weights);
  CHECK(scale.beyond_max);
  CHECK_FALSE(scale.beyond_min);
  CHECK(scale.min == 1);
  CHECK(scale.max < 2);
  CHECK(scale.max > 1.98);
  weights.back() = 1000;  // half of all
  CHECK(scale_of(values, false, weights).max == 40);
}

TEST_CASE("scales of one value have room about it") {
  for (const double value : {0.0, 3.0, -7e-12}) {
    const Scale scale = scale_of({value, value});
    CHECK(scale.min < value);
    CHECK(scale.max > value);
    CHECK_FALSE(ticks(scale, 1).empty());
  }
  CHECK(scale_of({5, 5}, true).min < 5);
}

TEST_CASE("scales that cannot be are refused") {
  CHECK_THROWS_WITH(scale_of({none, none}), contains("finite nowhere"));
  CHECK_THROWS_WITH(scale_of({-1, 1}, true), contains("--log"));
  CHECK_THROWS_WITH(scale_of({-3, -1}, true), contains("--log"));
}

TEST_CASE("ticks are round and within their scale") {
  for (const auto& [min, max] : std::vector<std::pair<double, double>>{
           {-1, 1}, {0, 7.3e-9}, {1e-12, 98e-12}, {-3e5, 9e5}, {0.99, 1.01}}) {
    const Scale scale{Scale::Kind::linear, min, max};
    const double unit = engineering_prefix(std::max(-min, max)).factor;
    const std::vector<Tick> list = ticks(scale, unit);
    CHECK(list.size() >= 5);
    CHECK(list.size() <= 14);
    for (const Tick& tick : list) {
      CHECK(tick.value >= min - 1e-9 * (max - min));
      CHECK(tick.value <= max + 1e-9 * (max - min));
      CHECK(tick.text.size() <= 8);
    }
  }
  std::vector<std::string> texts;
  for (const Tick& tick : ticks({Scale::Kind::logarithmic, 3e-9, 4e-7}, 1e-9))
    texts.push_back(tick.text);
  CHECK(texts == std::vector<std::string>{"5", "10", "20", "50", "100", "200"});
}

TEST_CASE("engineering prefixes") {
  CHECK(engineering_prefix(2.5e-9).text == "n");
  CHECK(engineering_prefix(-4e4).text == "k");
  CHECK(engineering_prefix(0.9999).text.empty());
  CHECK(engineering_prefix(0).text.empty());
  CHECK(engineering_prefix(1e-30).text.empty());
  CHECK(picture_number(-0.25) == "−0.25");
  CHECK(picture_number(-0.0) == "0");
}

TEST_CASE("numbers that doubles cannot count have few ticks") {
  CHECK(ticks({Scale::Kind::linear, 1e17, 1e17 + 64}, 1, 4).size() < 100);
  const auto some = ticks({Scale::Kind::linear, -0.3, 0.95}, 1, 4);
  REQUIRE(some.size() >= 4);
  CHECK(some.front().value >= -0.3 - 1e-9);
  CHECK(some.back().value <= 0.95 + 1e-9);
}

}  // namespace fmbem::test::scale_tests
