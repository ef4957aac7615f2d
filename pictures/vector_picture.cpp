#include "fmbem/pictures/vector_picture.hpp"

#include <cmath>
#include <cstdint>
#include <sstream>

#include "fmbem/meshes/vtu_writer.hpp"

namespace fmbem {
namespace {

std::string hex(const Colour& colour) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text = "#";
  for (const double part : colour) {
    const int byte = int(std::lround(255 * part));
    text += {digits[byte / 16], digits[byte % 16]};
  }
  return text;
}

/// To a twentieth of a pixel.
double rounded(double x) { return std::round(20 * x) / 20; }

std::string along(const std::vector<Point2>& points) {
  std::ostringstream out;
  for (std::size_t i = 0; i < points.size(); ++i)
    out << (i == 0 ? 'M' : 'L') << rounded(points[i].x) << ' ' << rounded(points[i].y);
  return out.str();
}

std::string opacity_attribute(const char* name, double opacity) {
  if (opacity == 1) return "";
  std::ostringstream out;
  out << ' ' << name << "=\"" << opacity << '"';
  return out.str();
}

}  // namespace

std::string base64(const std::string& bytes) {
  constexpr const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t k) {
      return i + k < bytes.size() ? std::uint32_t(std::uint8_t(bytes[i + k])) : 0U;
    };
    const std::uint32_t three = byte(0) << 16 | byte(1) << 8 | byte(2);
    for (int k = 0; k < 4; ++k)
      text += i + std::size_t(k) > bytes.size() ? '=' : digits[three >> (18 - 6 * k) & 63];
  }
  return text;
}

std::string svg(const Drawing& drawing, const std::string& png, const Rectangle& part) {
  std::ostringstream out;
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << part.width << "\" height=\""
      << part.height << "\" viewBox=\"" << part.left << ' ' << part.top << ' ' << part.width << ' '
      << part.height
      << "\" font-family=\"Arial, Helvetica, sans-serif\" stroke-linejoin=\"round\" "
         "stroke-linecap=\"round\">\n";
  if (!png.empty())
    out << "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n<image width=\""
        << picture_width << "\" height=\"" << picture_height << "\" href=\"data:image/png;base64,"
        << base64(png) << "\"/>\n";
  for (const auto& [corners, colour, opacity] : drawing.areas)
    out << "<path fill=\"" << hex(colour) << '"' << opacity_attribute("fill-opacity", opacity)
        << " shape-rendering=\"crispEdges\" d=\"" << along(corners) << "Z\"/>\n";
  for (const auto& [points, colour, width, opacity] : drawing.paths) {
    out << "<path fill=\"none\" stroke=\"" << hex(colour) << "\" stroke-width=\"" << width << '"'
        << opacity_attribute("stroke-opacity", opacity) << " d=\"" << along(points) << "\"/>\n";
  }
  constexpr const char* anchors[] = {"start", "middle", "end"};
  for (const auto& [place, text, size, anchor, colour] : drawing.texts)
    out << "<text x=\"" << rounded(place.x) << "\" y=\"" << rounded(place.y + 0.35 * size)
        << "\" font-size=\"" << size << "\" text-anchor=\"" << anchors[int(anchor)] << "\" fill=\""
        << hex(colour) << "\">" << xml_escaped(text) << "</text>\n";
  out << "</svg>\n";
  return out.str();
}

}  // namespace fmbem
