#include "cli/layout.hpp"

#include "tests/unit/catch.hpp"

namespace fmbem::test::layout_tests {
using namespace cli;

TEST_CASE("bytes have three digits and a unit that leaves no exponent") {
  CHECK(bytes_text(0) == "0 B");
  CHECK(bytes_text(999) == "999 B");
  CHECK(bytes_text(1000) == "1 kB");
  CHECK(bytes_text(77'400'000) == "77.4 MB");
  CHECK(bytes_text(999'499'999) == "999 MB");
  CHECK(bytes_text(999'500'000) == "1 GB");
  CHECK(bytes_text(2'460'000'000) == "2.46 GB");
  CHECK(bytes_text(139'000'000'000) == "139 GB");
}

TEST_CASE("durations are seconds, minutes or hours") {
  CHECK(duration_text(0.2) == "1 s");
  CHECK(duration_text(99.5) == "100 s");
  CHECK(duration_text(100) == "2 min");
  CHECK(duration_text(9000) == "2.5 h");
}

TEST_CASE("lines are broken at spaces, and what is broken off stands under the value") {
  CHECK(broken("one two three", 8, 0) == "one two\nthree");
  CHECK(broken("one two three", 7, 2) == "one two\n  three");
  CHECK(broken("a_word_that_is_longer than", 8, 0) == "a_word_that_is_longer than");
  CHECK(broken("", 8, 0).empty());
  const std::string words(59, 'x'), more(59, 'y');
  CHECK(wrapped("mesh      " + words + " " + more) == "mesh      " + words + "\n          " + more);
  CHECK(wrapped("  c1  " + words + " " + more) == "  c1  " + words + "\n    " + more);
  CHECK(wrapped("short\n\n" + words + " " + more + "\n") ==
        "short\n\n" + words + "\n  " + more + "\n");
}

}  // namespace fmbem::test::layout_tests
