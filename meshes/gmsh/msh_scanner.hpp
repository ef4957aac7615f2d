#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fmbem {

/// Reads the numbers and section markers of a .msh file held in memory, ASCII or binary. Every
/// function throws InputError where the file does not hold what is expected.
class MshScanner {
 public:
  MshScanner(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {}

  bool binary = false;
  bool swapped = false;  ///< the file's byte order is not this machine's

  bool at_end();
  /// The text of the next line or token, after white space.
  std::string_view token();
  std::string_view peek_line() const;
  void skip_line();
  /// Goes behind the next "$EndNAME".
  void skip_section(const std::string& name);
  void expect(std::string_view marker);

  std::int64_t int32() { return binary ? raw<std::int32_t>() : text_int32(); }
  std::int64_t size() { return binary ? raw<std::int64_t>() : text_integer(); }
  double real() { return binary ? raw<double>() : text_real(); }
  std::int64_t text_integer();
  std::int64_t text_int32();
  double text_real();

  /// A count of things of at least `bytes` each, which the rest of the file has room for.
  std::int64_t checked_count(std::int64_t n, std::size_t bytes, const char* what);
  [[noreturn]] void fail(const std::string& trouble) const;
  /// The section that is being read, for messages.
  std::string section;

 private:
  template <class T>
  T raw();
  void skip_space();

  std::string_view text_;
  std::string file_;
  std::size_t at_ = 0;
};

}  // namespace fmbem
