#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <vtkSmartPointer.h>

#include "fmbem/pictures/drawing.hpp"
#include "fmbem/pictures/scene.hpp"

class vtkRenderWindow;

namespace fmbem {

/// Red, green, blue of every pixel, row by row from the upper left one.
struct Pixels {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgb;

  std::array<int, 3> at(int x, int y) const {
    const std::uint8_t* p = &rgb[3 * (std::size_t(y) * std::size_t(width) + std::size_t(x))];
    return {p[0], p[1], p[2]};
  }
};

/// VTK's renderer without a display: OpenGL in Mesa's software, through EGL and without a surface.
/// Throws InputError where EGL or Mesa are missing.
class OffScreen {
 public:
  OffScreen();
  ~OffScreen();

  /// The scene's surface, with its lines unless it is flat, and the drawing over it.
  Pixels picture(const Scene& scene, const Projection& projection, const Drawing& drawing);
  /// For each pixel the group of the triangle that is seen there, -1 for none.
  std::vector<int> groups_seen(const Scene& scene, const Projection& projection);

 private:
  vtkSmartPointer<vtkRenderWindow> window_;
};

/// A PNG file's bytes.
std::string png(const Pixels& pixels);

}  // namespace fmbem
