#include "fmbem/pictures/fit_text.hpp"

#include "tests/unit/catch.hpp"

namespace fmbem::test::fit_text_tests {

using Lines = std::vector<std::string>;

TEST_CASE("characters are counted, not bytes") {
  CHECK(characters("µC/m²") == 5);
  CHECK(shortened("Spannungsübergabe", 17) == "Spannungsübergabe");
  CHECK(shortened("übergabe", 4) == "übe…");
}

TEST_CASE("lines are broken at spaces, and within long words") {
  CHECK(fitted_lines("charge density", 14, 2) == Lines{"charge density"});
  CHECK(fitted_lines("charge density", 13, 2) == Lines{"charge", "density"});
  CHECK(fitted_lines("charge density", 6, 3) == Lines{"charge", "densit", "y"});
  CHECK(fitted_lines("charge density", 6, 2) == Lines{"charge", "densi…"});
  CHECK(fitted_lines("", 5, 2) == Lines{""});
  CHECK(fitted_lines(" a", 1, 3) == Lines{" ", "a"});
}

TEST_CASE("a caption keeps the voltage") {
  CHECK(caption_lines("component 1 at 1 V", 21, 3) == Lines{"component 1 at 1 V"});
  CHECK(caption_lines("component 1 at 1 V", 12, 3) == Lines{"component 1", "at 1 V"});
  CHECK(caption_lines(std::string(60, 'n') + " at 1 V", 20, 3) ==
        Lines{std::string(20, 'n'), std::string(19, 'n') + "…", "at 1 V"});
  for (std::size_t n = 1; n < 80; ++n) {
    const Lines lines = caption_lines(std::string(n, 'n') + " at 1 V", 20, 3);
    CHECK(lines.size() <= 3);
    CHECK(lines.back().ends_with("at 1 V"));
    for (const std::string& line : lines) CHECK(characters(line) <= 20);
  }
}

}  // namespace fmbem::test::fit_text_tests
