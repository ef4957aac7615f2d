#include <algorithm>
#include <cmath>
#include <limits>

#include <vtkCellArray.h>
#include <vtkContourFilter.h>
#include <vtkDoubleArray.h>
#include <vtkEvenlySpacedStreamlines2D.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkStripper.h>
#include <vtkStructuredGrid.h>

#include "fmbem/pictures/make_scene.hpp"

namespace fmbem {
namespace {

/// The places of a plane's points in its own two directions, in units of its larger side.
struct Flat {
  Vec3d corner, right, up;
  double size = 0;

  explicit Flat(const Scene& scene) : right(scene.view.right), up(scene.view.up) {
    Vec3d min{INFINITY, INFINITY, 0}, max{-INFINITY, -INFINITY, 0};
    for (const Vec3d& x : scene.points)
      for (const int k : {0, 1}) {
        const double along = dot(x - scene.points[0], k == 0 ? right : up);
        min[k] = std::min(min[k], along);
        max[k] = std::max(max[k], along);
      }
    corner = scene.points[0] + min.x * right + min.y * up;
    size = std::max(max.x - min.x, max.y - min.y);
  }
  Vec3d to(Vec3d x) const { return {dot(x - corner, right) / size, dot(x - corner, up) / size, 0}; }
  Vec3d from(const double* x) const { return corner + size * (x[0] * right + x[1] * up); }
};

vtkSmartPointer<vtkPoints> points_of(const Scene& scene, const Flat& flat) {
  auto points = vtkSmartPointer<vtkPoints>::New();
  points->SetDataTypeToDouble();
  for (const Vec3d& x : scene.points) {
    const Vec3d at = flat.to(x);
    points->InsertNextPoint(at.x, at.y, 0);
  }
  return points;
}

std::vector<std::vector<Vec3d>> paths_of(vtkPolyData* data, const Flat& flat) {
  std::vector<std::vector<Vec3d>> paths;
  vtkCellArray* lines = data->GetLines();
  for (vtkIdType i = 0; i < lines->GetNumberOfCells(); ++i) {
    const vtkIdType* points = nullptr;
    vtkIdType n = 0;
    lines->GetCellAtId(i, n, points);
    std::vector<Vec3d>& path = paths.emplace_back();
    for (vtkIdType k = 0; k < n; ++k) path.push_back(flat.from(data->GetPoint(points[k])));
  }
  return paths;
}

}  // namespace

std::vector<std::vector<Vec3d>> level_lines(const Scene& scene, const std::vector<double>& levels) {
  const Flat flat(scene);
  vtkNew<vtkDoubleArray> values;
  for (const double value : scene.values) values->InsertNextValue(value);
  vtkNew<vtkCellArray> cells;
  for (const std::array<int, 3>& t : scene.triangles) cells->InsertNextCell({t[0], t[1], t[2]});
  vtkNew<vtkPolyData> plane;
  plane->SetPoints(points_of(scene, flat));
  plane->SetPolys(cells);
  plane->GetPointData()->SetScalars(values);
  vtkNew<vtkContourFilter> contours;
  contours->SetInputData(plane);
  for (std::size_t k = 0; k < levels.size(); ++k) contours->SetValue(int(k), levels[k]);
  vtkNew<vtkStripper> joined;
  joined->SetInputConnection(contours->GetOutputPort());
  joined->SetMaximumLength(std::numeric_limits<int>::max());
  joined->Update();
  return paths_of(joined->GetOutput(), flat);
}

std::vector<std::vector<Vec3d>> field_lines(const Scene& scene, const std::vector<double>& e) {
  constexpr double spacing = 0.04;  // of the larger side
  constexpr double nothing = 1e-5;  // of the largest field: inside of conductors
  const Flat flat(scene);
  double largest = 0;
  const auto in_plane = [&](std::size_t i) {
    const Vec3d at{e[3 * i], e[3 * i + 1], e[3 * i + 2]};
    return Vec3d{dot(at, flat.right), dot(at, flat.up), 0};
  };
  const std::size_t n = scene.points.size();
  std::size_t strongest = 0;
  for (std::size_t i = 0; i < n; ++i)
    if (const double size = norm(in_plane(i)); size > largest) {  // never NaN
      largest = size;
      strongest = i;
    }
  if (largest == 0) return {};
  vtkNew<vtkDoubleArray> directions;
  directions->SetName("direction");
  directions->SetNumberOfComponents(3);
  for (std::size_t i = 0; i < n; ++i) {
    const Vec3d at = in_plane(i);
    const double size = norm(at);
    const Vec3d direction = size > nothing * largest ? at / size : Vec3d{};
    directions->InsertNextTuple(&direction.x);
  }
  vtkNew<vtkStructuredGrid> plane;
  plane->SetDimensions(int(scene.columns), int(n / scene.columns), 1);
  plane->SetPoints(points_of(scene, flat));
  plane->GetPointData()->SetVectors(directions);
  vtkNew<vtkEvenlySpacedStreamlines2D> lines;
  lines->SetInputData(plane);
  lines->SetInputArrayToProcess(0, 0, 0, vtkDataObject::FIELD_ASSOCIATION_POINTS, "direction");
  lines->SetIntegrationStepUnit(1);  // lengths
  lines->SetInitialIntegrationStep(0.002);
  lines->SetSeparatingDistance(spacing);
  lines->SetSeparatingDistanceRatio(0.5);
  lines->SetMaximumNumberOfSteps(2000);
  lines->SetTerminalSpeed(0.1);
  lines->SetIntegratorTypeToRungeKutta4();
  const Vec3d start = flat.to(scene.points[strongest]);
  lines->SetStartPosition(start.x, start.y, 0);
  lines->Update();
  return paths_of(lines->GetOutput(), flat);
}

}  // namespace fmbem
