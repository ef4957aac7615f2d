#include <GL/glew.h>
// GLEW has to come before whatever includes OpenGL's own headers.
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <vtkGenericOpenGLRenderWindow.h>
#include <vtkObjectFactory.h>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/pictures/egl_window.hpp"

namespace fmbem {
namespace {

[[noreturn]] void refuse(const char* step) {
  throw InputError(std::string("pictures are drawn by OpenGL in software, and EGL could not ") +
                   step + ": install Mesa's libegl1 and libgl1-mesa-dri");
}

/// Makes a context of OpenGL current that belongs to no window and to no device.
void make_context_current() {
  const auto get_display = reinterpret_cast<PFNEGLGETPLATFORMDISPLAYEXTPROC>(
      eglGetProcAddress("eglGetPlatformDisplayEXT"));
  EGLDisplay display =
      get_display ? get_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr)
                  : EGL_NO_DISPLAY;
  if (display == EGL_NO_DISPLAY || !eglInitialize(display, nullptr, nullptr)) refuse("start");
  constexpr EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE,
                               EGL_OPENGL_BIT, EGL_NONE};
  constexpr EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION,
                                3,
                                EGL_CONTEXT_MINOR_VERSION,
                                2,
                                EGL_CONTEXT_OPENGL_PROFILE_MASK,
                                EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                                EGL_NONE};
  EGLConfig config = nullptr;
  EGLint n = 0;
  eglBindAPI(EGL_OPENGL_API);
  if (!eglChooseConfig(display, wanted, &config, 1, &n) || n < 1) refuse("give a configuration");
  EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, version);
  if (context == EGL_NO_CONTEXT ||
      !eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context))
    refuse("make a context of OpenGL 3.2");
}

/// Draws in the context that is current, for as long as the process lives. VTK's own class starts
/// GLEW and takes its last step for a failure, which is to look for an X display; by then GLEW has
/// found all of OpenGL's functions.
class EglWindow : public vtkGenericOpenGLRenderWindow {
 public:
  static EglWindow* New();
  EglWindow(const EglWindow&) = delete;
  EglWindow& operator=(const EglWindow&) = delete;

  void OpenGLInitContext() override {
    if (this->Initialized) return;
    const GLenum status = glewInit();
    if (status != GLEW_OK && status != GLEW_ERROR_NO_GLX_DISPLAY) refuse("find OpenGL's functions");
    this->ContextCreationTime.Modified();
    this->GlewInitValid = true;
    this->MaximumHardwareLineWidth = 1;  // wider ones are drawn as polygons
    this->Initialized = true;
  }
  void MakeCurrent() override {}
  bool IsCurrent() override { return true; }

 protected:
  EglWindow() {
    this->SetOwnContext(0);
    this->SetIsDirect(1);
    this->SetSupportsOpenGL(1);
    this->SetShowWindow(false);
    this->SetUseOffScreenBuffers(true);
  }
};
vtkStandardNewMacro(EglWindow);

}  // namespace

vtkSmartPointer<vtkRenderWindow> make_egl_window() {
  make_context_current();
  return vtk::TakeSmartPointer<vtkRenderWindow>(EglWindow::New());
}

}  // namespace fmbem
