#include "fmbem/fmm/choice/rates.hpp"

#include <sstream>

#include "fmbem/fmm/base/error.hpp"
#include "tests/unit/catch.hpp"

namespace fmbem::test::rates_tests {
using namespace fmm;

TEST_CASE("a table of rates comes back as it was written") {
  std::stringstream text;
  write_rates(text, shipped_rates());
  const Rates read = read_rates(text, "table");
  for (const Precision precision : {Precision::double_precision, Precision::single_precision}) {
    const ThreadRates &a = shipped_rates().of(precision), &b = read.of(precision);
    for (const RateField& field : rate_fields)
      CHECK(a.*field.value == Approx(b.*field.value).epsilon(1e-3));
    REQUIRE(a.products.size() == b.products.size());
    for (std::size_t i = 0; i < a.products.size(); ++i) {
      CHECK(a.products[i].order == b.products[i].order);
      CHECK(a.products[i].operations == Approx(b.products[i].operations).epsilon(1e-3));
    }
  }
}

TEST_CASE("the rate of a product is interpolated between orders and constant beyond") {
  ThreadRates rates{};
  rates.products = {{4, 1e9}, {8, 3e9}};
  CHECK(rates.product_at(1) == 1e9);
  CHECK(rates.product_at(4) == 1e9);
  CHECK(rates.product_at(6) == Approx(2e9));
  CHECK(rates.product_at(8) == 3e9);
  CHECK(rates.product_at(30) == 3e9);
}

TEST_CASE("what is no table of rates is refused with its name") {
  std::stringstream whole;
  write_rates(whole, shipped_rates());
  const std::string text = whole.str();
  for (const std::string& bad :
       {std::string(), std::string("nonsense\n"), text.substr(0, text.size() / 2),
        text + "double points -1\n", text + "double points nan\n", text + "double unknown 1\n",
        text + "half points 1\n", text + "double product 3\n"}) {
    std::istringstream in(bad);
    CHECK_THROWS_WITH(read_rates(in, "my.rates"), contains("my.rates is not a table of rates"));
  }
}

TEST_CASE("tables of before hybrids were measured are refused with what to do") {
  std::stringstream whole, old;
  write_rates(whole, shipped_rates());
  for (std::string line; std::getline(whole, line);)
    if (line.find(" m2p") == std::string::npos && line.find(" p2l ") == std::string::npos &&
        line.find(" displaced ") == std::string::npos)
      old << line << '\n';
  CHECK_THROWS_WITH(read_rates(old, "old.rates"),
                    "old.rates is not a table of rates (no m2p): remove it or run fmbem tune");
}

TEST_CASE("rates that no processor has, and lines that say more or say it again, are refused") {
  std::stringstream whole;
  write_rates(whole, shipped_rates());
  const std::string text = whole.str();
  const auto with = [&](const std::string& line) {  // in the place of "double points …"
    const std::size_t begin = text.find("double points"), end = text.find('\n', begin);
    return text.substr(0, begin) + line + text.substr(end);
  };
  const std::string again = "double product 8 4e9";
  for (const auto& [bad, what] :
       {std::pair{with("double points 1e-300"),
                  "line 11, \"double points 1e-300\", is not between"},
        {with("double points 1e300"), "is not between 1e6 and 1e15"},
        {with("double points 2e9 3e9"),
         "\"double points 2e9 3e9\", is no precision, name and number"},
        {text + "single points 2e9\n", "\"single points 2e9\", is there twice"},
        {text + again, "is there twice"},
        {text + "double product -8 4e9", "has no order"}}) {
    std::istringstream in(bad);
    CHECK_THROWS_WITH(read_rates(in, "my.rates"), contains(what));
  }
  std::istringstream in(with("double points 2e9"));
  CHECK(read_rates(in, "my.rates").double_precision.points == 2e9);
}

}  // namespace fmbem::test::rates_tests
