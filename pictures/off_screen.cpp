#include "fmbem/pictures/off_screen.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <vtkActor.h>
#include <vtkActor2D.h>
#include <vtkCamera.h>
#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkDoubleArray.h>
#include <vtkImageData.h>
#include <vtkLookupTable.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkPolyDataMapper.h>
#include <vtkPolyDataMapper2D.h>
#include <vtkProperty.h>
#include <vtkProperty2D.h>
#include <vtkRenderWindow.h>
#include <vtkRenderer.h>
#include <vtkTextActor.h>
#include <vtkTextProperty.h>
#include <vtkUnsignedCharArray.h>
#include <vtkWindowToImageFilter.h>

#include "fmbem/pictures/egl_window.hpp"

namespace fmbem {
namespace {

/// Pictures are drawn so many times larger in both directions, and then averaged.
constexpr int oversampling = 2;

vtkSmartPointer<vtkPolyData> surface_of(const Scene& scene, const Projection& projection) {
  vtkNew<vtkPoints> points;
  points->SetDataTypeToDouble();
  for (const Vec3d& x : scene.points) {
    const Vec3d at = projection(x);
    points->InsertNextPoint(at.x, picture_height - at.y, at.z);
  }
  vtkNew<vtkCellArray> cells;
  for (const std::array<int, 3>& corners : scene.triangles)
    cells->InsertNextCell({corners[0], corners[1], corners[2]});
  auto surface = vtkSmartPointer<vtkPolyData>::New();
  surface->SetPoints(points);
  surface->SetPolys(cells);
  return surface;
}

/// Colours by triangle, as bright as the light from the eye makes them.
vtkSmartPointer<vtkDataArray> lit_colours(const Scene& scene) {
  const auto table = colour_table(scene);
  auto colours = vtkSmartPointer<vtkUnsignedCharArray>::New();
  colours->SetNumberOfComponents(3);
  for (std::size_t i = 0; i < scene.triangles.size(); ++i) {
    const auto& [a, b, c] = scene.triangles[i];
    const auto at = [&](int k) { return scene.points[std::size_t(k)]; };
    const Vec3d across = cross(at(b) - at(a), at(c) - at(a));
    const double facing = std::abs(dot(across, scene.view.toward)) /
                          std::max(norm(across), std::numeric_limits<double>::min());
    const double light = ambient_light + (1 - ambient_light) * std::min(facing, 1.0);
    const double value = scene.values[i];
    const Colour& colour =
        std::isfinite(value) ? table[table_index(scene.scale.fraction(value))] : no_value_colour;
    for (const double part : colour)
      colours->InsertNextValue(std::uint8_t(std::lround(255 * light * part)));
  }
  return colours;
}

vtkSmartPointer<vtkLookupTable> lookup_table(const Scene& scene) {
  auto colours = vtkSmartPointer<vtkLookupTable>::New();
  colours->SetNumberOfTableValues(n_colours);
  const auto table = colour_table(scene);
  for (int i = 0; i < n_colours; ++i) {
    const Colour& c = table[std::size_t(i)];
    colours->SetTableValue(i, c[0], c[1], c[2]);
  }
  return colours;
}

void add_surface(vtkRenderer* renderer, const Scene& scene, const Projection& projection) {
  const auto surface = surface_of(scene, projection);
  vtkNew<vtkPolyDataMapper> mapper;
  if (scene.at_points) {
    vtkNew<vtkDoubleArray> fractions;
    for (const double value : scene.values) fractions->InsertNextValue(scene.scale.fraction(value));
    surface->GetPointData()->SetScalars(fractions);
    mapper->SetLookupTable(lookup_table(scene));
    mapper->SetScalarRange(0, 1);
    mapper->InterpolateScalarsBeforeMappingOn();
  } else {
    surface->GetCellData()->SetScalars(lit_colours(scene));
    mapper->SetColorModeToDirectScalars();
  }
  mapper->SetInputData(surface);
  mapper->SetResolveCoincidentTopologyToPolygonOffset();
  vtkNew<vtkActor> actor;
  actor->SetMapper(mapper);
  actor->GetProperty()->SetLighting(false);
  renderer->AddActor(actor);
}

void add_solid_lines(vtkRenderer* renderer, const Scene& scene, const Projection& projection) {
  for (const LineSet& set : scene.lines) {
    vtkNew<vtkPoints> points;
    points->SetDataTypeToDouble();
    vtkNew<vtkCellArray> cells;
    for (const std::vector<Vec3d>& path : set.paths) {
      cells->InsertNextCell(int(path.size()));
      for (const Vec3d& x : path) {
        const Vec3d at = projection(x);
        cells->InsertCellPoint(points->InsertNextPoint(at.x, picture_height - at.y, at.z));
      }
    }
    vtkNew<vtkPolyData> lines;
    lines->SetPoints(points);
    lines->SetLines(cells);
    vtkNew<vtkPolyDataMapper> mapper;
    mapper->SetInputData(lines);
    vtkNew<vtkActor> actor;
    actor->SetMapper(mapper);
    vtkProperty* look = actor->GetProperty();
    look->SetColor(set.colour[0], set.colour[1], set.colour[2]);
    look->SetOpacity(set.opacity);
    look->SetLineWidth(float(set.width * oversampling));
    look->SetLighting(false);
    renderer->AddActor(actor);
  }
}

/// Lines or a polygon over all, in pixels.
void add_over(vtkRenderer* renderer, const std::vector<Point2>& corners, bool is_filled,
              const Colour& colour, double opacity, double width) {
  vtkNew<vtkPoints> points;
  vtkNew<vtkCellArray> cells;
  cells->InsertNextCell(int(corners.size()));
  for (const Point2& corner : corners)
    cells->InsertCellPoint(points->InsertNextPoint(corner.x * oversampling,
                                                   (picture_height - corner.y) * oversampling, 0));
  vtkNew<vtkPolyData> shape;
  shape->SetPoints(points);
  if (is_filled)
    shape->SetPolys(cells);
  else
    shape->SetLines(cells);
  vtkNew<vtkPolyDataMapper2D> mapper;
  mapper->SetInputData(shape);
  vtkNew<vtkActor2D> actor;
  actor->SetMapper(mapper);
  actor->GetProperty()->SetColor(colour[0], colour[1], colour[2]);
  actor->GetProperty()->SetOpacity(opacity);
  actor->GetProperty()->SetLineWidth(float(width * oversampling));
  renderer->AddActor2D(actor);
}

void add_text(vtkRenderer* renderer, const Drawing::Text& text) {
  vtkNew<vtkTextActor> actor;
  actor->SetInput(text.text.c_str());
  actor->SetPosition(text.place.x * oversampling, (picture_height - text.place.y) * oversampling);
  vtkTextProperty* look = actor->GetTextProperty();
  look->SetColor(text.colour[0], text.colour[1], text.colour[2]);
  look->SetFontFamilyToArial();
  look->SetFontSize(int(text.size * oversampling));
  look->SetVerticalJustificationToCentered();
  if (text.anchor == Drawing::Anchor::start) look->SetJustificationToLeft();
  if (text.anchor == Drawing::Anchor::middle) look->SetJustificationToCentered();
  if (text.anchor == Drawing::Anchor::end) look->SetJustificationToRight();
  renderer->AddActor2D(actor);
}

void add_drawing(vtkRenderer* renderer, const Drawing& drawing) {
  for (const auto& [corners, colour, opacity] : drawing.areas)
    add_over(renderer, corners, true, colour, opacity, 1);
  for (const auto& [points, colour, width, opacity] : drawing.paths)
    add_over(renderer, points, false, colour, opacity, width);
}

/// Looks at the picture's pixels from ahead.
void place_camera(vtkRenderer* renderer) {
  vtkCamera* camera = renderer->GetActiveCamera();
  camera->ParallelProjectionOn();
  camera->SetParallelScale(picture_height / 2.0);
  camera->SetFocalPoint(picture_width / 2.0, picture_height / 2.0, 0);
  camera->SetPosition(picture_width / 2.0, picture_height / 2.0, 1e6);  // before everything
  camera->SetViewUp(0, 1, 0);
  renderer->ResetCameraClippingRange();
}

/// What a renderer draws, in a window that is so many times larger than the picture, with texts in
/// a layer of their own: those in the same one hide behind areas.
Pixels drawn(vtkRenderWindow* window, vtkRenderer* renderer, int times,
             const std::vector<Drawing::Text>& texts) {
  renderer->SetBackground(white[0], white[1], white[2]);
  vtkNew<vtkRenderer> over;
  over->SetLayer(1);
  for (const Drawing::Text& text : texts) add_text(over, text);
  window->SetNumberOfLayers(2);
  window->SetSize(picture_width * times, picture_height * times);
  window->AddRenderer(renderer);
  window->AddRenderer(over);
  place_camera(renderer);
  window->Render();
  vtkNew<vtkWindowToImageFilter> reader;
  reader->SetInput(window);
  reader->SetInputBufferTypeToRGB();
  reader->ReadFrontBufferOff();
  reader->ShouldRerenderOff();
  reader->Update();
  window->RemoveRenderer(renderer);
  window->RemoveRenderer(over);
  vtkImageData* image = reader->GetOutput();
  Pixels pixels{picture_width * times, picture_height * times, {}};
  pixels.rgb.reserve(std::size_t(pixels.width) * std::size_t(pixels.height));
  for (int y = pixels.height - 1; y >= 0; --y) {
    const auto* p = static_cast<const std::uint8_t*>(image->GetScalarPointer(0, y, 0));
    for (int x = 0; x < pixels.width; ++x, p += 3) pixels.rgb.push_back({p[0], p[1], p[2]});
  }
  return pixels;
}

/// The means of square blocks of pixels.
Pixels averaged(const Pixels& large) {
  Pixels small{large.width / oversampling, large.height / oversampling, {}};
  for (int y = 0; y < small.height; ++y)
    for (int x = 0; x < small.width; ++x) {
      auto& mean = small.rgb.emplace_back();
      for (std::size_t k = 0; k < 3; ++k) {
        int sum = 0;
        for (int dy = 0; dy < oversampling; ++dy)
          for (int dx = 0; dx < oversampling; ++dx)
            sum += large.at(oversampling * x + dx, oversampling * y + dy)[k];
        constexpr int n = oversampling * oversampling;
        mean[k] = std::uint8_t((sum + n / 2) / n);
      }
    }
  return small;
}

}  // namespace

Rgb byte_colour(const Colour& colour) {
  Rgb bytes;
  for (std::size_t k = 0; k < 3; ++k) bytes[k] = std::uint8_t(std::lround(255 * colour[k]));
  return bytes;
}

OffScreen::OffScreen() : window_(make_egl_window()) { window_->SetDPI(72); }
OffScreen::~OffScreen() = default;

Pixels OffScreen::picture(const Scene& scene, const Projection& projection,
                          const Drawing& drawing) {
  vtkNew<vtkRenderer> renderer;
  add_surface(renderer, scene, projection);
  if (!scene.flat) add_solid_lines(renderer, scene, projection);
  add_drawing(renderer, drawing);
  window_->SetMultiSamples(4);
  return averaged(drawn(window_, renderer, oversampling, drawing.texts));
}

std::vector<int> OffScreen::groups_seen(const Scene& scene, const Projection& projection) {
  const auto surface = surface_of(scene, projection);
  vtkNew<vtkUnsignedCharArray> numbers;  // from 1 on, as colours
  numbers->SetNumberOfComponents(3);
  for (const int group : scene.group_of)
    numbers->InsertNextTuple3((group + 1) >> 16, ((group + 1) >> 8) & 255, (group + 1) & 255);
  surface->GetCellData()->SetScalars(numbers);
  vtkNew<vtkPolyDataMapper> mapper;
  mapper->SetInputData(surface);
  mapper->SetColorModeToDirectScalars();
  vtkNew<vtkActor> actor;
  actor->SetMapper(mapper);
  actor->GetProperty()->SetLighting(false);
  vtkNew<vtkRenderer> renderer;
  renderer->AddActor(actor);
  window_->SetMultiSamples(0);
  const Pixels pixels = drawn(window_, renderer, 1, {});
  std::vector<int> groups;
  for (const auto& [red, green, blue] : pixels.rgb) {
    const int number = (red << 16) + (green << 8) + blue;
    groups.push_back(number > 0 && number < 0xFFFFFF ? number - 1 : -1);
  }
  return groups;
}

}  // namespace fmbem
