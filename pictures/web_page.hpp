#pragma once

#include <string>

#include "fmbem/pictures/scene.hpp"

namespace fmbem {

/// A scene as one page for a browser, with all that it needs: to turn, move and zoom, and to read
/// the value under the pointer (pictures/viewer.html).
std::string web_page(const Scene& scene, const std::string& name);

}  // namespace fmbem
