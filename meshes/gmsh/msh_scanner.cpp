#include "fmbem/meshes/gmsh/msh_scanner.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {
namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace

void MshScanner::fail(const std::string& trouble) const {
  throw InputError(file_ + " is damaged or truncated: " + (section.empty() ? "" : section + " ") +
                   trouble);
}

void MshScanner::skip_space() {
  while (at_ < text_.size() && is_space(text_[at_])) ++at_;
}

bool MshScanner::at_end() {
  skip_space();
  return at_ == text_.size();
}

std::string_view MshScanner::token() {
  skip_space();
  const std::size_t begin = at_;
  while (at_ < text_.size() && !is_space(text_[at_])) ++at_;
  return text_.substr(begin, at_ - begin);
}

std::string_view MshScanner::peek_line() const {
  return text_.substr(at_, text_.find('\n', at_) - at_);
}

void MshScanner::skip_line() { at_ = std::min(text_.find('\n', at_), text_.size() - 1) + 1; }

void MshScanner::skip_section(const std::string& name) {
  const std::string marker = "$End" + name;
  const std::size_t end = text_.find(marker, at_);
  if (end == std::string_view::npos) fail("has no " + marker);
  at_ = end + marker.size();
}

void MshScanner::expect(std::string_view marker) {
  if (token() != marker) fail("does not end with " + std::string(marker));
}

std::int64_t MshScanner::text_integer() {
  const std::string_view word = token();
  std::int64_t value = 0;
  const char* begin = word.data() + (word.starts_with('+') ? 1 : 0);
  const auto [end, error] = std::from_chars(begin, word.data() + word.size(), value);
  if (word.empty()) fail("ends in the middle");
  if (error != std::errc() || end != word.data() + word.size())
    fail("holds '" + std::string(word.substr(0, 40)) + "' where an integer belongs");
  return value;
}

std::int64_t MshScanner::text_int32() {
  const std::int64_t value = text_integer();
  if (value != static_cast<std::int32_t>(value))
    fail("holds " + std::to_string(value) + ", which is no integer of 32 bits");
  return value;
}

double MshScanner::text_real() {
  const std::string_view word = token();
  double value = 0;
  const char* begin = word.data() + (word.starts_with('+') ? 1 : 0);
  const auto [end, error] = std::from_chars(begin, word.data() + word.size(), value);
  if (word.empty()) fail("ends in the middle");
  // Gmsh reads numbers that are too small for a double; from_chars reports them as errors.
  if ((error != std::errc() && error != std::errc::result_out_of_range) ||
      end != word.data() + word.size())
    fail("holds '" + std::string(word.substr(0, 40)) + "' where a number belongs");
  return value;
}

template <class T>
T MshScanner::raw() {
  if (text_.size() - at_ < sizeof(T)) fail("ends in the middle");
  std::array<char, sizeof(T)> bytes;
  std::memcpy(bytes.data(), text_.data() + at_, sizeof(T));
  at_ += sizeof(T);
  if (swapped) std::reverse(bytes.begin(), bytes.end());
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}
template std::int32_t MshScanner::raw();
template std::int64_t MshScanner::raw();
template double MshScanner::raw();

std::int64_t MshScanner::checked_count(std::int64_t n, std::size_t bytes, const char* what) {
  if (n < 0) fail("announces " + std::to_string(n) + " " + what);
  if (static_cast<std::size_t>(n) > (text_.size() - at_) / bytes)
    fail("announces " + std::to_string(n) + " " + what + ", more than the file holds");
  return n;
}

}  // namespace fmbem
