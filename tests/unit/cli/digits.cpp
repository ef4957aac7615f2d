#include "cli/digits.hpp"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

#include "tests/unit/catch.hpp"

namespace fmbem::test::digits_tests {
using namespace cli;

TEST_CASE("digits end with the first that the error touches") {
  CHECK(digits(0.660678234, 9e-5) == "0.66068");
  CHECK(digits(0.660678234, 1e-4) == "0.6607");
  CHECK(digits(0.660678234, 0.0013) == "0.661");
  CHECK(digits(-73.5012, 0.02) == "-73.50");
  CHECK(digits(73.5012, 3) == "74");
  CHECK(digits(735.012, 30) == "7.4e2");
  CHECK(digits(9.996, 0.02) == "10.00");
  CHECK(digits(0.05, 0.04) == "0.05");
  CHECK(digits(1.0 / 3, 0) == "0.333333333333");
  CHECK(digits(1.0 / 3, 1e-20) == "0.333333333333");
  CHECK(digits(0, 0) == "0");
}

TEST_CASE("small numbers have an exponent, and no zero in it") {
  CHECK(digits(0.001234, 1e-6) == "0.001234");
  CHECK(digits(-0.0001234, 1e-7) == "-1.234e-4");
  CHECK(digits(1.25e-15, 3e-16) == "1.2e-15");
  CHECK(digits(6.6e-300, 1e-301) == "6.6e-300");
}

TEST_CASE("what is not above its error is a bound, without a sign") {
  CHECK(digits(-0.6, 0.65) == "< 2");
  CHECK(digits(0.65, 0.65) == "< 2");
  CHECK(digits(3e-5, 6e-5) == "< 9e-5");
  CHECK(digits(-3e-5, 6.1e-5) == "< 1e-4");
  CHECK(digits(0, 0.0042) == "< 0.005");
  CHECK(digits(0, 0.5) == "< 0.5");
  CHECK(digits(0.004, 0.004) == "< 0.008");
  CHECK(digits(1, 30) == "< 40");
}

TEST_CASE("what is no number is unknown") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(digits(nan, 1) == "unknown");
  CHECK(digits(1, nan) == "unknown");
  CHECK(digits(1, infinity) == "unknown");
}

TEST_CASE("so many digits as are asked for") {
  for (const double value : {1.0, -9.9999, 0.1, 1e-7, 123456.0, 1e20}) {
    CHECK(error_of_digits(value, 4) <= 1.001e-3 * std::abs(value));
    CHECK(error_of_digits(value, 4) > 0.999e-4 * std::abs(value));
  }
  CHECK(digits(0.123456, error_of_digits(0.123456, 4)) == "0.1235");
  CHECK(digits(123.456, error_of_digits(123.456, 4)) == "123.5");
  CHECK(digits(1.23456e-9, error_of_digits(1.23456e-9, 4)) == "1.235e-9");
  CHECK(error_of_digits(0, 4) == 0);
}

TEST_CASE("printed numbers are within half of the last digit, bounds above what they bound") {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(-18, 4), sign(-1, 1);
  for (int k = 0; k < 20000; ++k) {
    const double value = std::copysign(std::pow(10.0, exponent(random)), sign(random));
    const double error = std::pow(10.0, exponent(random));
    const std::string text = digits(value, error);
    INFO(value << " with an error of " << error << " is " << text);
    if (std::abs(value) <= error) {
      REQUIRE(text.rfind("< ", 0) == 0);
      const double bound = std::atof(text.c_str() + 2);
      CHECK(bound >= (std::abs(value) + error) * (1 - 1e-9));
      CHECK(bound <= 2.001 * (std::abs(value) + error));
    } else {
      // The last digit's unit is at most the error, or at the limit of twelve digits.
      CHECK(std::abs(std::atof(text.c_str()) - value) <=
            0.501 * std::max(error, 1e-11 * std::abs(value)));
    }
  }
}

}  // namespace fmbem::test::digits_tests
