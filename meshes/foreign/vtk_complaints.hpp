#pragma once

#include <string>

#include <vtkOutputWindow.h>
#include <vtkSmartPointer.h>

namespace fmbem {

/// Keeps the first thing that VTK complains of while it exists: VTK goes on, and returns what it
/// has.
class VtkComplaints {
 public:
  VtkComplaints();
  ~VtkComplaints();
  VtkComplaints(const VtkComplaints&) = delete;
  VtkComplaints& operator=(const VtkComplaints&) = delete;

  /// In one line; empty if there was none.
  std::string first() const;

 private:
  class Window;
  vtkSmartPointer<Window> window_;
  vtkSmartPointer<vtkOutputWindow> usual_;
};

}  // namespace fmbem
