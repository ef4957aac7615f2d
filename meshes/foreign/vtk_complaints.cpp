#ifdef FMBEM_WITH_VTK
#include "fmbem/meshes/foreign/vtk_complaints.hpp"

#include <vtkObjectFactory.h>
#include <vtkOutputWindow.h>

namespace fmbem {

class VtkComplaints::Window : public vtkOutputWindow {
 public:
  static Window* New();
  void DisplayText(const char* text) override {
    if (first.empty() && text) first = text;
  }
  std::string first;
};
vtkStandardNewMacro(VtkComplaints::Window);

VtkComplaints::VtkComplaints()
    : window_(vtkSmartPointer<Window>::New()), usual_(vtkOutputWindow::GetInstance()) {
  vtkOutputWindow::SetInstance(window_);
}

VtkComplaints::~VtkComplaints() { vtkOutputWindow::SetInstance(usual_); }

// The words of "ERROR: In …, line 1\nvtkReader (0x1): words\n\n", which may quote a file's bytes.
std::string VtkComplaints::first() const {
  std::string text = window_->first;
  if (const std::size_t at = text.find("): "); at != text.npos) text.erase(0, at + 3);
  text = text.substr(0, 200);
  text.erase(text.find_last_not_of("\n ") + 1);
  for (char& c : text) {
    if (c == '\n') c = ' ';
    if (c < 32 || c > 126) c = '?';
  }
  return text;
}

}  // namespace fmbem
#endif
