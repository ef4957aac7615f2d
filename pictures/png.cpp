#include "fmbem/pictures/png.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <new>
#include <unordered_map>

#include <zlib.h>

namespace fmbem {
namespace {

constexpr std::size_t most_colours = 256;
/// Colours that are kept, to a few steps; the others of the palette cover what remains.
constexpr std::size_t kept = 200;
constexpr int kept_apart = 2;

std::uint32_t key(const Rgb& c) { return std::uint32_t(c[0] << 16 | c[1] << 8 | c[2]); }

int distance(const Rgb& a, const Rgb& b) {
  int largest = 0;
  for (std::size_t k = 0; k < 3; ++k) largest = std::max(largest, std::abs(a[k] - b[k]));
  return largest;
}

std::size_t nearest(const std::vector<Rgb>& palette, const Rgb& colour) {
  const auto closer = [&](const Rgb& a, const Rgb& b) {
    return distance(a, colour) < distance(b, colour);
  };
  return std::size_t(std::min_element(palette.begin(), palette.end(), closer) - palette.begin());
}

/// The first colours that differ a little, then those that are further than `apart` from all
/// before.
std::vector<Rgb> spread(const std::vector<Rgb>& colours, int apart) {
  std::vector<Rgb> palette;
  for (const Rgb& colour : colours) {
    const int enough = palette.size() < kept ? kept_apart : apart;
    if (palette.empty() || distance(palette[nearest(palette, colour)], colour) > enough)
      palette.push_back(colour);
    if (palette.size() > most_colours) break;
  }
  return palette;
}

std::vector<Rgb> choose_palette(const Pixels& pixels, const std::vector<Rgb>& given) {
  std::unordered_map<std::uint32_t, std::size_t> counts;
  for (const Rgb& colour : pixels.rgb) ++counts[key(colour)];
  std::vector<std::pair<std::size_t, std::uint32_t>> sorted;
  for (const auto& [colour, count] : counts) sorted.emplace_back(count, colour);
  std::sort(sorted.rbegin(), sorted.rend());
  std::vector<Rgb> frequent;
  for (const auto& [count, colour] : sorted)
    frequent.push_back(
        {std::uint8_t(colour >> 16), std::uint8_t(colour >> 8), std::uint8_t(colour)});
  if (frequent.size() <= most_colours) return frequent;
  std::vector<Rgb> colours = given;
  colours.insert(colours.end(), frequent.begin(), frequent.end());
  std::vector<Rgb> palette;
  for (int apart = 4; palette.empty() || palette.size() > most_colours; apart += 4)
    palette = spread(colours, apart);
  return palette;
}

std::string big_endian(std::uint32_t number) {
  return {char(number >> 24), char(number >> 16), char(number >> 8), char(number)};
}

std::string chunk(const std::string& type, const std::string& data) {
  const std::string checked = type + data;
  const auto sum = crc32(0, reinterpret_cast<const Bytef*>(checked.data()), uInt(checked.size()));
  return big_endian(std::uint32_t(data.size())) + checked + big_endian(std::uint32_t(sum));
}

std::string compressed(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string result(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(result.data()), &size,
                reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(),
                Z_BEST_COMPRESSION) != Z_OK)
    throw std::bad_alloc();
  return result.substr(0, size);
}

}  // namespace

std::string png(const Pixels& pixels, const std::vector<Rgb>& given) {
  const std::vector<Rgb> palette = choose_palette(pixels, given);
  std::unordered_map<std::uint32_t, std::size_t> index;
  std::string rows;
  for (int y = 0; y < pixels.height; ++y) {
    rows += '\0';  // no filter
    for (int x = 0; x < pixels.width; ++x) {
      const Rgb& colour = pixels.at(x, y);
      const auto [found, is_new] = index.try_emplace(key(colour));
      if (is_new) found->second = nearest(palette, colour);
      rows += char(found->second);
    }
  }
  std::string colours;
  for (const Rgb& colour : palette) colours.append(colour.begin(), colour.end());
  constexpr const char header[] = {8, 3, 0, 0, 0};  // bits, a palette, compression, filters, order
  return "\x89PNG\r\n\x1a\n" +
         chunk("IHDR", big_endian(std::uint32_t(pixels.width)) +
                           big_endian(std::uint32_t(pixels.height)) +
                           std::string(header, sizeof header)) +
         chunk("PLTE", colours) + chunk("IDAT", compressed(rows)) + chunk("IEND", "");
}

}  // namespace fmbem
