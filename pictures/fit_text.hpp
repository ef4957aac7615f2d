#pragma once

#include <string>
#include <vector>

namespace fmbem {

/// How many characters of UTF-8 a text has.
std::size_t characters(const std::string& text);

/// The text, or as many of its first characters as fit before "…" in a width of so many.
std::string shortened(const std::string& text, std::size_t width);

/// The text in lines of so many characters, broken at spaces and within words that are longer. The
/// last of `most` lines is shortened where more would be needed.
std::vector<std::string> fitted_lines(const std::string& text, std::size_t width, std::size_t most);

/// The same of what a picture is of. The end " at 1 V" stays whole, whatever the net's name.
std::vector<std::string> caption_lines(const std::string& caption, std::size_t width,
                                       std::size_t most);

}  // namespace fmbem
