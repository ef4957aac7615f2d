#include "fmbem/meshes/text.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <set>

namespace fmbem {
namespace {

/// Length of the UTF-8 sequence at the beginning of a text; 0 if it is none. U+FFFE and U+FFFF are
/// no characters, and XML does not have them.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned first = byte(0), second = byte(1);
  const std::size_t n = first < 0x80                     ? 1
                        : first >= 0xC2 && first < 0xE0  ? 2
                        : first >= 0xE0 && first < 0xF0  ? 3
                        : first >= 0xF0 && first <= 0xF4 ? 4
                                                         : 0;
  for (std::size_t i = 1; i < n; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  const bool is_longer_than_need_be =
      (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool is_surrogate = first == 0xED && second > 0x9F,
             is_beyond = first == 0xF4 && second > 0x8F;
  const bool is_no_character = first == 0xEF && second == 0xBF && byte(2) > 0xBD;
  return is_longer_than_need_be || is_surrogate || is_beyond || is_no_character ? 0 : n;
}

/// Of a whole sequence: C0, DEL and C1.
bool is_control(std::string_view sequence) {
  const auto last = static_cast<unsigned char>(sequence.back());
  return sequence.size() == 1 ? last < 0x20 || last == 0x7F : sequence[0] == '\xC2' && last < 0xA0;
}

}  // namespace

std::string counted(std::size_t n, const std::string& noun, const std::string& plural) {
  if (n == 1) return "1 " + noun;
  return std::to_string(n) + " " + (plural.empty() ? noun + "s" : plural);
}

std::string place(Vec3d x) {
  char text[96];
  std::snprintf(text, sizeof text, "(%g, %g, %g)", x.x, x.y, x.z);
  return text;
}

std::string decimal(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", x);
  return text;
}

std::optional<double> parse_number(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::vector<std::string> split_at_commas(std::string_view text) {
  std::vector<std::string> parts(1);
  for (const char c : text)
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

std::vector<std::string_view> words_between(std::string_view text, std::string_view between) {
  std::vector<std::string_view> words;
  for (std::size_t end = 0;;) {
    const std::size_t begin = text.find_first_not_of(between, end);
    if (begin == text.npos) return words;
    end = std::min(text.find_first_of(between, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
  }
}

std::string_view take_line(std::string_view& rest) {
  const std::string_view line = rest.substr(0, rest.find('\n'));
  rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  return line;
}

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t n = utf8_length(text);
    const std::string_view sequence = text.substr(0, std::max(n, std::size_t{1}));
    if (n == 0)
      result += '?';
    else if (is_control(sequence))
      result += ' ';
    else
      result += sequence;
    text.remove_prefix(sequence.size());
  }
  return result;
}

void make_unique(std::vector<std::string>& names) {
  std::set<std::string> taken;
  for (std::size_t k = 0; k < names.size(); ++k)
    while (!taken.insert(names[k]).second) names[k] += " (" + std::to_string(k + 1) + ")";
}

std::string ending(const std::string& path) {
  std::string e = std::filesystem::path(path).extension().string();
  if (!e.empty()) e.erase(0, 1);
  for (char& c : e) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return e;
}

}  // namespace fmbem
