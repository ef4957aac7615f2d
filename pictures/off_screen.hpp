#pragma once

#include <vector>

#include <vtkRenderWindow.h>
#include <vtkSmartPointer.h>

#include "fmbem/pictures/drawing.hpp"
#include "fmbem/pictures/png.hpp"
#include "fmbem/pictures/scene.hpp"

namespace fmbem {

/// To steps of 255.
Rgb byte_colour(const Colour& colour);

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

}  // namespace fmbem
