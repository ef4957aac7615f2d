#include "fmbem/pictures/scale.hpp"

#include <algorithm>
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

/// Of a text with true minus signs, and a space behind the first.
double number_of(std::string text) {
  std::string plain;
  for (std::size_t at; (at = text.find("−")) != std::string::npos;) {
    plain += text.substr(0, at) + '-';
    text = text.substr(at + std::string("−").size());
  }
  plain += text;
  plain.erase(std::remove(plain.begin(), plain.end(), ' '), plain.end());
  return std::stod(plain);
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

  const Scale zero = scale_of({0, -0.0, none});
  CHECK(zero.kind == Scale::Kind::symmetric);
  CHECK(zero.min == -1);
  CHECK(zero.max == 1);
}

TEST_CASE("the scale of molecules has the same ends whatever the values are") {
  for (const std::vector<double>& values :
       std::vector<std::vector<double>>{{-1, 4}, {0.1, 0.2}, {2, 1e4, none}, {-7, -6}, {0}}) {
    const Scale scale = molecular_scale(values, 5, "potential");
    CHECK(scale.kind == Scale::Kind::molecular);
    CHECK(scale.min == -5);
    CHECK(scale.max == 5);
    CHECK(scale.beyond_min == (values[0] == -7));
    CHECK(scale.beyond_max == (values.size() == 3));
    const std::vector<Tick> numbers = ticks(scale, 1);
    CHECK(numbers.front().text == "−5");
    CHECK(numbers.back().text == "5");
    CHECK(scale.fraction(0) == 0.5);
    CHECK(scale.fraction(-7) == 0);
    CHECK(scale.fraction(1e4) == 1);
  }
  CHECK_THROWS_WITH(molecular_scale({none}, 5, "potential"), contains("finite nowhere"));
}

TEST_CASE("the scale of molecules has the ends that are asked for, and numbers there") {
  for (const double range : {1e-6, 0.3, 0.73, 1.0, 3.0, 10.0, 15.0, 25.0, 1e6}) {
    const Scale scale = molecular_scale({-0.5, 2}, range, "potential");
    CHECK(scale.min == -range);
    CHECK(scale.max == range);
    CHECK(scale.beyond_min == (range < 0.5));
    CHECK(scale.beyond_max == (range < 2));
    const std::vector<Tick> numbers = ticks(scale, 1);
    CHECK(numbers.size() >= 11);
    CHECK(numbers.size() <= 21);
    CHECK(numbers.front().value == Approx(-range));
    CHECK(numbers[numbers.size() / 2].text == "0");
    CHECK(numbers.back().text == picture_number(range));
    CHECK(ticks_offset(scale, 1).empty());
  }
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

TEST_CASE("a short logarithmic scale has ticks too") {
  std::vector<std::string> texts;
  for (const Tick& tick : ticks({Scale::Kind::logarithmic, 8e-9, 9.3e-9}, 1e-9))
    texts.push_back(tick.text);
  CHECK(texts == std::vector<std::string>{"8", "8.2", "8.4", "8.6", "8.8", "9", "9.2"});
  for (double max = 1.001; max < 1e4; max *= 1.1)
    for (const double min : {1.0, 2.1, 5.3}) {
      const Scale scale{Scale::Kind::logarithmic, min, min * max};
      const std::vector<Tick> list = ticks(scale, 1);
      CHECK(list.size() >= 3);
      // The bar has 512 pixels, and a number 23.
      for (std::size_t i = 1; i < list.size(); ++i)
        CHECK(512 * (scale.fraction(list[i].value) - scale.fraction(list[i - 1].value)) > 20);
    }
}

TEST_CASE("ticks have as many digits as tell them apart") {
  const auto texts_of = [](double min, double max, int least) {
    std::vector<std::string> texts;
    for (const Tick& tick : ticks({Scale::Kind::linear, min, max}, 1, least))
      texts.push_back(tick.text);
    return texts;
  };
  const auto offset_of = [](double min, double max) {
    return ticks_offset({Scale::Kind::linear, min, max}, 1, 4);
  };
  CHECK(texts_of(123450, 123454, 4) ==
        std::vector<std::string>{"123450", "123451", "123452", "123453", "123454"});
  CHECK(offset_of(123450, 123454).empty());
  CHECK(texts_of(1e6, 1e6 + 4, 4) == std::vector<std::string>{"0", "1", "2", "3", "4"});
  CHECK(offset_of(1e6, 1e6 + 4) == "+ 1e6");
  CHECK(texts_of(-1234564, -1234560, 4) == std::vector<std::string>{"−4", "−3", "−2", "−1", "0"});
  CHECK(offset_of(-1234564, -1234560) == "− 1.23456e6");
  CHECK(texts_of(1 - 2e-6, 1 + 2e-6, 4) ==
        std::vector<std::string>{"−2e−6", "−1e−6", "0", "1e−6", "2e−6"});
  CHECK(offset_of(1 - 2e-6, 1 + 2e-6) == "+ 1");
  CHECK(offset_of(-1, 1).empty());
  CHECK(ticks_offset({Scale::Kind::logarithmic, 1, 1000}, 1).empty());
  // Of every range they are different, and with the offset they are the values.
  for (const double about : {0.0, 3.3, -0.07, 4e5, 2.0000013e6, 7e-9})
    for (const double span : {1.0, 0.03, 2e-5, 5e-8}) {
      const Scale scale{Scale::Kind::linear, about, about + span * std::max(1.0, about)};
      const std::vector<Tick> list = ticks(scale, 1);
      const std::string text = ticks_offset(scale, 1);
      const double offset = text.empty() ? 0 : number_of(text);
      for (std::size_t i = 0; i < list.size(); ++i) {
        if (i > 0) CHECK(list[i].text != list[i - 1].text);
        CHECK(offset + number_of(list[i].text) ==
              Approx(list[i].value).epsilon(0).margin(1e-6 * (scale.max - scale.min)));
      }
    }
}

TEST_CASE("engineering prefixes") {
  CHECK(engineering_prefix(2.5e-9).text == "n");
  CHECK(engineering_prefix(-4e4).text == "k");
  CHECK(engineering_prefix(0.9999).text.empty());
  CHECK(engineering_prefix(0).text.empty());
  CHECK(engineering_prefix(1e-30).text.empty());
  CHECK(picture_number(-0.25) == "−0.25");
  CHECK(picture_number(-0.0) == "0");
  CHECK(picture_number(-12e-6) == "−1.2e−5");
  CHECK(picture_number(123456) == "1.235e5");
  CHECK(picture_number(123456, 6) == "123456");
}

TEST_CASE("numbers as large as doubles go have ticks") {
  std::vector<std::string> texts;
  const Scale scale = scale_of({-1e308, 1e308});
  for (const Tick& tick : ticks(scale, 1)) {
    texts.push_back(tick.text);
    CHECK(scale.fraction(tick.value) == Approx(0.5 + tick.value / 1e308 / 2));
  }
  CHECK(texts == std::vector<std::string>{"−1e308", "−8e307", "−6e307", "−4e307", "−2e307", "0",
                                          "2e307", "4e307", "6e307", "8e307", "1e308"});
  constexpr double largest = std::numeric_limits<double>::max();
  for (const double least : {-largest, 0.9 * largest, largest}) {
    const Scale whole = scale_of({least, largest});
    CHECK(whole.fraction(largest) > 0.9);
    const std::vector<Tick> list = ticks(whole, 1);
    CHECK(list.size() >= 5);
    for (const Tick& tick : list) CHECK(std::isfinite(tick.value));
  }
}

TEST_CASE("numbers that doubles cannot count have few ticks") {
  CHECK(ticks({Scale::Kind::linear, 1e17, 1e17 + 64}, 1, 4).size() < 100);
  const auto some = ticks({Scale::Kind::linear, -0.3, 0.95}, 1, 4);
  REQUIRE(some.size() >= 4);
  CHECK(some.front().value >= -0.3 - 1e-9);
  CHECK(some.back().value <= 0.95 + 1e-9);
}

}  // namespace fmbem::test::scale_tests
