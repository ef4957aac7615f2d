#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fmbem/fmm/base/vec3.hpp"

namespace fmbem {

/// "1 triangle", "12 triangles"; a noun with an irregular plural gives it.
std::string counted(std::size_t n, const std::string& noun, const std::string& plural = "");

/// "(0.5, -1, 2e-06)"
std::string place(Vec3d x);

/// Shortest decimal form that a reader wants to see, such as 0.0433013.
std::string decimal(double x);

/// Appends what printf makes of numbers, up to 255 characters.
template <class... Numbers>
void append_printed(std::string& text, const char* format, Numbers... numbers) {
  char line[256];
  std::snprintf(line, sizeof line, format, numbers...);
  text += line;
}

/// The number that the whole text stands for; nothing if it is no finite number.
std::optional<double> parse_number(std::string_view text);

/// The parts of a text between its commas, one more than there are commas.
std::vector<std::string> split_at_commas(std::string_view text);

inline constexpr std::string_view blanks = " \t\r\v\f";

/// The words of a text, which stay in it: what stands between blanks, or other characters.
std::vector<std::string_view> words_between(std::string_view text,
                                            std::string_view between = blanks);

/// Takes the first line off a text that is not empty, with its line break, which is not returned.
std::string_view take_line(std::string_view& rest);

/// The text in a line, as a terminal shows it and XML has it: spaces for control characters,
/// question marks for bytes that are no UTF-8 and for code points that are no characters.
std::string printable(std::string_view text);

/// Names that another one before has already get their number, from 1, behind them: "a (2)".
void make_unique(std::vector<std::string>& names);

/// The ending of a file's name without the dot, in lower case.
std::string ending(const std::string& path);

}  // namespace fmbem
