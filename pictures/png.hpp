#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace fmbem {

using Rgb = std::array<std::uint8_t, 3>;  // red, green, blue

/// The colour of every pixel, row by row from the upper left one.
struct Pixels {
  int width = 0, height = 0;
  std::vector<Rgb> rgb;

  const Rgb& at(int x, int y) const {
    return rgb[std::size_t(y) * std::size_t(width) + std::size_t(x)];
  }
};

/// A PNG file's bytes, with a palette, which makes it a third as large as with three bytes a pixel.
/// Up to 256 colours are kept as they are. Of more, those that are given and the most frequent ones
/// are kept to two steps of 255; others, which are mixtures at the edges of lines and letters,
/// become the nearest of the palette, some 20 steps away at the most.
/// Source: PNG specification, third edition (W3C 2025).
std::string png(const Pixels& pixels, const std::vector<Rgb>& given = {});

}  // namespace fmbem
