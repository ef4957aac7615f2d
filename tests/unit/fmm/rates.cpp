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
    CHECK(a.near_potential == Approx(b.near_potential).epsilon(1e-3));
    CHECK(a.near_gradient_exact == Approx(b.near_gradient_exact).epsilon(1e-3));
    CHECK(a.butterfly == Approx(b.butterfly).epsilon(1e-3));
    CHECK(a.points == Approx(b.points).epsilon(1e-3));
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

}  // namespace fmbem::test::rates_tests
