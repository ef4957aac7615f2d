#pragma once

#include <string>

#include "fmbem/pictures/scene.hpp"

namespace fmbem {

/// The bytes in base 64.
std::string base64(const std::string& bytes);

/// A drawing as SVG, over a PNG picture where there is one; of a part of the picture's area.
std::string svg(const Drawing& drawing, const std::string& png = "",
                const Rectangle& part = {0, 0, picture_width, picture_height});

}  // namespace fmbem
