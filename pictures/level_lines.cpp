#include <limits>

#include <vtkCellArray.h>
#include <vtkContourFilter.h>
#include <vtkDoubleArray.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkStripper.h>

#include "fmbem/pictures/make_scene.hpp"

namespace fmbem {

std::vector<std::vector<Vec3d>> level_lines(const Scene& scene, const std::vector<double>& levels) {
  vtkNew<vtkPoints> points;
  points->SetDataTypeToDouble();
  for (const Vec3d& x : scene.points) points->InsertNextPoint(x.x, x.y, x.z);
  vtkNew<vtkDoubleArray> values;
  for (const double value : scene.values) values->InsertNextValue(value);
  vtkNew<vtkCellArray> cells;
  for (const std::array<int, 3>& t : scene.triangles) cells->InsertNextCell({t[0], t[1], t[2]});
  vtkNew<vtkPolyData> plane;
  plane->SetPoints(points);
  plane->SetPolys(cells);
  plane->GetPointData()->SetScalars(values);
  vtkNew<vtkContourFilter> contours;
  contours->SetInputData(plane);
  for (std::size_t k = 0; k < levels.size(); ++k) contours->SetValue(int(k), levels[k]);
  vtkNew<vtkStripper> joined;
  joined->SetInputConnection(contours->GetOutputPort());
  joined->SetMaximumLength(std::numeric_limits<int>::max());
  joined->Update();

  std::vector<std::vector<Vec3d>> paths;
  vtkCellArray* lines = joined->GetOutput()->GetLines();
  for (vtkIdType i = 0; i < lines->GetNumberOfCells(); ++i) {
    const vtkIdType* corners = nullptr;
    vtkIdType n = 0;
    lines->GetCellAtId(i, n, corners);
    std::vector<Vec3d>& path = paths.emplace_back();
    for (vtkIdType k = 0; k < n; ++k) {
      const double* x = joined->GetOutput()->GetPoint(corners[k]);
      path.push_back({x[0], x[1], x[2]});
    }
  }
  return paths;
}

}  // namespace fmbem
