#pragma once

#include <vtkRenderWindow.h>
#include <vtkSmartPointer.h>

namespace fmbem {

/// A window of VTK that draws into memory, without a display: see docs/decisions.md. Throws
/// InputError where there is no EGL with OpenGL 3.2.
vtkSmartPointer<vtkRenderWindow> make_egl_window();

}  // namespace fmbem
