#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace fmbem::cli {

/// Columns that lines of the results keep to.
inline constexpr std::size_t line_width = 100;

/// A line in as many as fit a width, broken at spaces; what is broken off is indented.
std::string broken(const std::string& line, std::size_t width, std::size_t indent);

/// The text with lines that are longer broken at spaces. What is broken off begins where the line's
/// value does, in column 10 behind a short word, else two columns right of the line.
std::string wrapped(const std::string& text);

/// "12 s", "3 min", "2.5 h"
std::string duration_text(double seconds);

/// With three digits, such as "77.4 MB" and "2.46 GB": powers of 1000.
std::string bytes_text(std::int64_t bytes);

}  // namespace fmbem::cli
