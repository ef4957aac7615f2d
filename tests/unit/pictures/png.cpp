#include "fmbem/pictures/png.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include <zlib.h>

#include "fmbem/pictures/vector_picture.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/larger_error.hpp"

namespace fmbem::test::png_tests {

namespace {

std::size_t big_endian(const std::string& bytes, std::size_t at) {
  std::size_t number = 0;
  for (std::size_t k = 0; k < 4; ++k) number = number << 8 | std::uint8_t(bytes[at + k]);
  return number;
}

/// The colours of a PNG with a palette and no filters.
std::vector<Rgb> decoded(const std::string& file, const Pixels& like) {
  std::string palette, packed;
  for (std::size_t at = 8; at < file.size();) {
    const std::size_t size = big_endian(file, at);
    const std::string type = file.substr(at + 4, 4), data = file.substr(at + 8, size);
    if (type == "PLTE") palette = data;
    if (type == "IDAT") packed = data;
    at += 12 + size;
  }
  const auto row = std::size_t(like.width) + 1;
  std::string raw(row * std::size_t(like.height), '\0');
  uLongf size = raw.size();
  REQUIRE(uncompress(reinterpret_cast<Bytef*>(raw.data()), &size,
                     reinterpret_cast<const Bytef*>(packed.data()), packed.size()) == Z_OK);
  REQUIRE(size == raw.size());
  std::vector<Rgb> colours;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (i % row == 0) continue;
    const std::size_t at = 3 * std::size_t(std::uint8_t(raw[i]));
    colours.push_back(
        {std::uint8_t(palette[at]), std::uint8_t(palette[at + 1]), std::uint8_t(palette[at + 2])});
  }
  return colours;
}

}  // namespace

TEST_CASE("up to 256 colours are kept in a PNG") {
  Pixels pixels{16, 16, {}};
  for (int i = 0; i < 256; ++i)
    pixels.rgb.push_back({std::uint8_t(i), std::uint8_t(255 - i), std::uint8_t(i * 7)});
  CHECK(decoded(png(pixels), pixels) == pixels.rgb);
}

TEST_CASE("of more colours the given ones and gradients are kept to a few steps") {
  Pixels pixels{256, 300, {}};
  std::vector<Rgb> given;
  for (int i = 0; i < 256; ++i) given.push_back({std::uint8_t(i), 40, 200});
  unsigned state = 1;
  for (int y = 0; y < pixels.height; ++y)
    for (int x = 0; x < pixels.width; ++x) {
      const auto any = [&] { return std::uint8_t((state = state * 1664525 + 1013904223) >> 24); };
      // A gradient, and a few pixels of any colour in its last rows.
      pixels.rgb.push_back(y < 295 ? given[std::size_t(x)] : Rgb{any(), any(), any()});
    }
  const std::vector<Rgb> colours = decoded(png(pixels, given), pixels);
  int largest = 0;
  for (std::size_t i = 0; i < 295 * 256; ++i)
    for (std::size_t k = 0; k < 3; ++k)
      largest = std::max(largest, std::abs(colours[i][k] - pixels.rgb[i][k]));
  CHECK(largest <= 2);
}

TEST_CASE("base 64 as of RFC 4648") {
  const std::vector<std::pair<std::string, std::string>> examples{{"", ""},
                                                                  {"f", "Zg=="},
                                                                  {"fo", "Zm8="},
                                                                  {"foo", "Zm9v"},
                                                                  {"foob", "Zm9vYg=="},
                                                                  {"fooba", "Zm9vYmE="},
                                                                  {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : examples) CHECK(base64(bytes) == text);
}

}  // namespace fmbem::test::png_tests
