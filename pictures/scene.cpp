#include "fmbem/pictures/scene.hpp"

#include <algorithm>
#include <limits>

#include <vtkColorTransferFunction.h>
#include <vtkNew.h>

namespace fmbem {
namespace {

/// The part of the picture that the scene fills, in pixels.
struct Frame {
  double left, top, right, bottom;
};
Frame frame_of(const Scene& scene) {
  return scene.flat ? Frame{110, 60, 950, 800} : Frame{40, 40, 950, 830};
}

struct Bounds {
  Vec3d min, max;
};

Bounds bounds_along(const Scene& scene) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Bounds b{{infinity, infinity, infinity}, {-infinity, -infinity, -infinity}};
  for (const Vec3d& x : scene.points) {
    const Vec3d along{dot(x, scene.view.right), dot(x, scene.view.up), dot(x, scene.view.toward)};
    for (int k = 0; k < 3; ++k) {
      b.min[k] = std::min(b.min[k], along[k]);
      b.max[k] = std::max(b.max[k], along[k]);
    }
  }
  return b;
}

}  // namespace

Projection::Projection(const Scene& scene) : view_(scene.view) {
  const Frame frame = frame_of(scene);
  const Bounds bounds = bounds_along(scene);
  const Vec3d size = bounds.max - bounds.min;
  // A scene without extent in one direction is as large as the other allows.
  scale_ = std::min((frame.right - frame.left) / std::max(size.x, 1e-9 * (size.y + size.z)),
                    (frame.bottom - frame.top) / std::max(size.y, 1e-9 * (size.x + size.z)));
  const Vec3d middle = 0.5 * (bounds.min + bounds.max);
  middle_ = {middle.x - (frame.left + frame.right) / 2 / scale_,
             middle.y + (frame.top + frame.bottom) / 2 / scale_, middle.z};
}

Vec3d Projection::operator()(Vec3d x) const {
  return {scale_ * (dot(x, view_.right) - middle_.x), scale_ * (middle_.y - dot(x, view_.up)),
          scale_ * (dot(x, view_.toward) - middle_.z)};
}

Point2 Projection::flat(Vec3d x) const {
  const Vec3d place = (*this)(x);
  return {place.x, place.y};
}

std::array<Colour, n_colours> colour_table(const Scene& scene) {
  vtkNew<vtkColorTransferFunction> colours;
  const bool is_symmetric = scene.scale.kind == Scale::Kind::symmetric;
  const bool is_molecular = scene.scale.kind == Scale::Kind::molecular;
  if (is_molecular) {
    colours->AddRGBPoint(0, 1, 0, 0);
    colours->AddRGBPoint(0.5, 1, 1, 1);
    colours->AddRGBPoint(1, 0, 0, 1);
  } else if (is_symmetric || scene.flat) {
    colours->SetColorSpaceToDiverging();
    colours->AddRGBPoint(0, 0.230, 0.299, 0.754);
    colours->AddRGBPoint(1, 0.706, 0.016, 0.150);
  } else {
    constexpr std::array<std::array<int, 3>, 10> viridis{{{68, 1, 84},
                                                          {72, 40, 120},
                                                          {62, 74, 137},
                                                          {49, 104, 142},
                                                          {38, 130, 142},
                                                          {31, 158, 137},
                                                          {53, 183, 121},
                                                          {109, 205, 89},
                                                          {180, 222, 44},
                                                          {253, 231, 37}}};
    for (std::size_t i = 0; i < viridis.size(); ++i)
      colours->AddRGBPoint(double(i) / double(viridis.size() - 1), viridis[i][0] / 255.0,
                           viridis[i][1] / 255.0, viridis[i][2] / 255.0);
  }
  std::array<Colour, n_colours> table;
  const double first = scene.flat && !is_symmetric && !is_molecular ? 0.5 : 0;
  for (int i = 0; i < n_colours; ++i)
    colours->GetColor(first + (1 - first) * i / (n_colours - 1), table[std::size_t(i)].data());
  return table;
}

}  // namespace fmbem
