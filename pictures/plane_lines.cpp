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

/// Whether a step crosses a segment.
bool cross_each_other(Vec3d a, Vec3d b, Vec3d c, Vec3d d) {
  const auto side = [](Vec3d p, Vec3d q, Vec3d x) { return cross(q - p, x - p).z > 0; };
  return side(a, b, c) != side(a, b, d) && side(c, d, a) != side(c, d, b);
}

/// Adds what remains of a line between its crossings of outlines, but for short ends that reach
/// into conductors because directions are interpolated.
void add_pieces(std::vector<std::vector<Vec3d>>& pieces, const std::vector<Vec3d>& line,
                const std::vector<std::array<Vec3d, 2>>& outline, const Flat& flat) {
  constexpr double shortest = 0.03;
  std::vector<Vec3d> piece;
  double length = 0;
  const auto finish = [&] {
    if (length > shortest) pieces.push_back(piece);
    piece.clear();
    length = 0;
  };
  for (std::size_t i = 0; i < line.size(); ++i) {
    const Vec3d x = flat.to(line[i]);
    if (!piece.empty()) {
      const Vec3d before = flat.to(piece.back());
      const bool crosses = std::any_of(outline.begin(), outline.end(), [&](const auto& ends) {
        return cross_each_other(before, x, flat.to(ends[0]), flat.to(ends[1]));
      });
      if (crosses)
        finish();
      else
        length += norm(x - before);
    }
    piece.push_back(line[i]);
  }
  finish();
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

std::vector<std::vector<Vec3d>> field_lines(const Scene& scene, const std::vector<double>& e,
                                            const std::vector<std::array<Vec3d, 2>>& outline) {
  constexpr double spacing = 0.04;  // of the larger side
  const Flat flat(scene);
  const auto in_plane = [&](std::size_t i) {
    const Vec3d at{e[3 * i], e[3 * i + 1], e[3 * i + 2]};
    return Vec3d{dot(at, flat.right), dot(at, flat.up), 0};
  };
  const std::size_t n = scene.points.size();
  std::vector<double> sizes(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double size = norm(in_plane(i));
    sizes[i] = std::isfinite(size) ? size : 0;  // there is none on an edge of a panel
  }
  const auto strongest = std::size_t(std::max_element(sizes.begin(), sizes.end()) - sizes.begin());
  // Inside of conductors a rest of the field remains, which has no direction of its own.
  std::vector<double> sorted = sizes;
  const auto ninth_decile = sorted.begin() + std::ptrdiff_t(n * 9 / 10);
  std::nth_element(sorted.begin(), ninth_decile, sorted.end());
  const double least = 0.01 * *ninth_decile;
  if (*ninth_decile == 0) return {};
  vtkNew<vtkDoubleArray> directions;
  directions->SetName("direction");
  directions->SetNumberOfComponents(3);
  for (std::size_t i = 0; i < n; ++i) {
    const Vec3d direction = sizes[i] > least ? in_plane(i) / sizes[i] : Vec3d{};
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
  lines->SetInitialIntegrationStep(0.004);
  lines->SetSeparatingDistance(spacing);
  lines->SetSeparatingDistanceRatio(0.5);
  lines->SetMaximumNumberOfSteps(2000);
  lines->SetTerminalSpeed(0.1);
  lines->SetIntegratorTypeToRungeKutta4();
  const Vec3d start = flat.to(scene.points[strongest]);
  lines->SetStartPosition(start.x, start.y, 0);
  lines->Update();
  std::vector<std::vector<Vec3d>> pieces;
  for (const std::vector<Vec3d>& line : paths_of(lines->GetOutput(), flat))
    add_pieces(pieces, line, outline, flat);
  return pieces;
}

}  // namespace fmbem
