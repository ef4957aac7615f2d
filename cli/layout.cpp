#include "cli/layout.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace fmbem::cli {

std::string duration_text(double seconds) {
  char text[32];
  if (seconds < 100)
    std::snprintf(text, sizeof text, "%.0f s", std::ceil(seconds));
  else if (seconds < 6000)
    std::snprintf(text, sizeof text, "%.0f min", seconds / 60);
  else
    std::snprintf(text, sizeof text, "%.1f h", seconds / 3600);
  return text;
}

std::string broken(const std::string& line, std::size_t width, std::size_t indent) {
  std::string result, rest = line;
  while (rest.size() > width) {
    const std::size_t space = rest.rfind(' ', width);
    if (space == rest.npos || rest.find_first_not_of(' ') >= space) break;  // one long word
    result += rest.substr(0, space) + '\n';
    rest = std::string(indent, ' ') + rest.substr(space + 1);
  }
  return result + rest;
}

std::string wrapped(const std::string& text) {
  constexpr std::size_t value_column = 10;
  std::string result;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    const std::size_t start = std::min(line.find_first_not_of(' '), line.size());
    const bool has_word = (start == 0 || start == value_column) && line.size() > value_column &&
                          line[value_column - 1] == ' ';
    result += broken(line, line_width, has_word ? value_column : start + 2);
    if (end < text.size()) result += '\n';
    begin = end + 1;
  }
  return result;
}

std::string bytes_text(std::int64_t bytes) {
  static constexpr std::array<const char*, 6> units{"B", "kB", "MB", "GB", "TB", "PB"};
  constexpr double rounds_to_a_thousand = 999.5;
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= rounds_to_a_thousand && unit + 1 < units.size(); ++unit) value /= 1000;
  char text[32];
  std::snprintf(text, sizeof text, "%.3g %s", value, units[unit]);
  return text;
}

}  // namespace fmbem::cli
