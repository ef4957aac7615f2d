#include "fmbem/pictures/fit_text.hpp"

#include <algorithm>

namespace fmbem {
namespace {

bool starts_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

/// Where a character begins, or the text's end.
std::size_t place_of(const std::string& text, std::size_t character) {
  std::size_t at = 0;
  for (std::size_t n = 0; at < text.size(); ++at)
    if (starts_character(text[at]) && n++ == character) break;
  return at;
}

}  // namespace

std::size_t characters(const std::string& text) {
  return std::size_t(std::count_if(text.begin(), text.end(), starts_character));
}

std::string shortened(const std::string& text, std::size_t width) {
  if (characters(text) <= width) return text;
  return text.substr(0, place_of(text, width - 1)) + "…";
}

std::vector<std::string> fitted_lines(const std::string& text, std::size_t width,
                                      std::size_t most) {
  std::vector<std::string> lines;
  std::string rest = text;
  while (lines.size() + 1 < most && characters(rest) > width) {
    std::size_t end = place_of(rest, width);
    // A space just behind the line is a place to break, too.
    const std::size_t space = rest.rfind(' ', end);
    const bool at_space = space != std::string::npos && space > 0;
    if (at_space) end = space;
    lines.push_back(rest.substr(0, end));
    rest.erase(0, at_space ? end + 1 : end);
  }
  lines.push_back(shortened(rest, width));
  return lines;
}

std::vector<std::string> caption_lines(const std::string& caption, std::size_t width,
                                       std::size_t most) {
  const std::string end = " at 1 V";
  if (!caption.ends_with(end) || characters(caption) <= width)
    return fitted_lines(caption, width, most);
  const std::string name = caption.substr(0, caption.size() - end.size());
  std::vector<std::string> lines = fitted_lines(name, width, most - 1);
  if (characters(lines.back() + end) <= width)
    lines.back() += end;
  else
    lines.push_back(end.substr(1));
  return lines;
}

}  // namespace fmbem
