#pragma once

#include <array>
#include <string>
#include <vector>

namespace fmbem {

/// Red, green, blue from 0 to 1.
using Colour = std::array<double, 3>;
inline constexpr Colour black{0, 0, 0}, white{1, 1, 1}, dark_grey{0.25, 0.25, 0.25};

/// A place in a picture, in pixels from its upper left corner.
struct Point2 {
  double x, y;
};

/// What lies over a picture's coloured surface: the same as pixels and as vectors.
struct Drawing {
  struct Path {
    std::vector<Point2> points;
    Colour colour;
    double width, opacity = 1;
  };
  struct Area {
    std::vector<Point2> corners;
    Colour colour;
    double opacity = 1;
  };
  enum class Anchor { start, middle, end };
  struct Text {
    Point2 place;  ///< of the anchor, half way up
    std::string text;
    double size;  ///< of the font
    Anchor anchor = Anchor::start;
    Colour colour = black;
  };

  std::vector<Area> areas;
  std::vector<Path> paths;  ///< over the areas
  std::vector<Text> texts;  ///< over all
};

struct Rectangle {
  double left, top, width, height;

  std::vector<Point2> corners() const {
    return {{left, top}, {left + width, top}, {left + width, top + height}, {left, top + height}};
  }
};

}  // namespace fmbem
