#include "fmbem/bem/geometry/panel_images.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "fmbem/fmm/base/bounds.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/contact.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem {
namespace {

/// The mesh with its vertices moved into planes that they touch, and which planes these are: bit k
/// is that of axes()[k].
struct MeshBeforePlanes {
  SurfaceMesh mesh;
  std::vector<unsigned> planes_of;  ///< [vertices]

  unsigned planes_of_triangle(std::size_t t) const {
    const auto& [a, b, c] = mesh.triangles[t];
    return planes_of[a] & planes_of[b] & planes_of[c];
  }
};

void refuse_crossing(const SurfaceMesh& mesh, int axis, const SymmetryPlane& plane, double gap) {
  bool is_below = false, is_above = false;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    bool below = false, above = false;
    for (const int v : mesh.triangles[t]) {
      const double height = mesh.vertices[v][axis] - plane.offset;
      below |= height < -gap;
      above |= height > gap;
    }
    is_below |= below;
    is_above |= above;
    FMBEM_REQUIRE(!(is_below && is_above),
                  "the group \"" << mesh.groups[mesh.group_of[t]].name << "\" "
                                 << (below && above ? "crosses" : "has panels behind") << " the "
                                 << name(plane.kind) << " plane "
                                 << "xyz"[axis] << " = " << decimal(plane.offset) << ' '
                                 << mesh.unit << " at "
                                 << place(mesh.vertices[mesh.triangles[t][0]]) << ' ' << mesh.unit
                                 << ": mesh only what lies on one side of it");
  }
}

MeshBeforePlanes before_planes(const SurfaceMesh& mesh, const SymmetryPlanes& planes) {
  MeshBeforePlanes result{mesh, std::vector<unsigned>(mesh.vertices.size(), 0)};
  const auto [low, high] = coordinate_bounds(static_cast<std::int64_t>(mesh.vertices.size()),
                                             [&](std::int64_t k) { return mesh.vertices[k]; });
  const double gap = contact_gap * norm(high - low);
  const std::vector<int> axes = planes.axes();
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const int axis = axes[k];
    const SymmetryPlane& plane = *planes.at[axis];
    refuse_crossing(mesh, axis, plane, gap);
    for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
      if (std::abs(mesh.vertices[v][axis] - plane.offset) > gap) continue;
      result.mesh.vertices[v][axis] = plane.offset;
      result.planes_of[v] |= 1U << k;
    }
    if (plane.kind == PlaneKind::mirror) continue;
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
      FMBEM_REQUIRE((result.planes_of_triangle(t) >> k & 1U) == 0,
                    "the group \"" << mesh.groups[mesh.group_of[t]].name
                                   << "\" has a panel in the ground plane "
                                   << "xyz"[axis] << " = " << decimal(plane.offset) << ' '
                                   << mesh.unit << " at "
                                   << place(mesh.vertices[mesh.triangles[t][0]]) << ' ' << mesh.unit
                                   << ": leave it out, as that plane is at 0 V");
  }
  return result;
}

/// A triangle of the whole.
struct Image {
  std::int64_t triangle;
  std::size_t reflection;
};

/// Vertices and triangles of all images, which share vertices in planes; `image` says whose they
/// are.
SurfaceMesh with_images(const MeshBeforePlanes& before, std::span<const Reflection> reflections,
                        std::vector<Image>& image) {
  const SurfaceMesh& mesh = before.mesh;
  SurfaceMesh whole;
  const std::size_t n_vertices = mesh.vertices.size();
  std::vector<int> vertex(reflections.size() * n_vertices);
  for (std::size_t m = 0; m < reflections.size(); ++m) {
    for (std::size_t v = 0; v < n_vertices; ++v) {
      const std::size_t first = m & ~std::size_t{before.planes_of[v]};  // of those at one place
      if (first == m) {
        vertex[m * n_vertices + v] = static_cast<int>(whole.vertices.size());
        whole.vertices.push_back(reflections[m].point(mesh.vertices[v]));
      } else {
        vertex[m * n_vertices + v] = vertex[first * n_vertices + v];
      }
    }
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
      if ((before.planes_of_triangle(t) & m) != 0) continue;
      auto [a, b, c] = mesh.triangles[t];
      if (reflections[m].turns_over()) std::swap(b, c);
      const int* const of = vertex.data() + m * n_vertices;
      whole.triangles.push_back({of[a], of[b], of[c]});
      image.push_back({static_cast<std::int64_t>(t), m});
    }
  }
  return whole;
}

std::vector<double> times(std::span<const double> values, const PanelImages& images,
                          const std::vector<double>& factor) {
  std::vector<double> result = images.copies(values);
  for (std::size_t w = 0; w < result.size(); ++w) result[w] *= factor[w];
  return result;
}

}  // namespace

bool PanelImages::touches(std::size_t panel, std::size_t planes_of_reflection) const {
  const std::int32_t w = image[panel * reflections + planes_of_reflection];
  if (w < 0) return true;
  for (const int a : whole.corners[itself(panel)])
    for (const int b : whole.corners[w])
      if (a == b) return true;
  return false;
}

std::vector<std::int32_t> PanelImages::images_of(std::span<const std::int32_t> chosen) const {
  std::vector<std::int32_t> result;
  for (const std::int32_t panel : chosen)
    for (std::size_t m = 0; m < reflections; ++m)
      if (image[panel * reflections + m] >= 0) result.push_back(image[panel * reflections + m]);
  std::sort(result.begin(), result.end());
  return result;
}

std::vector<double> PanelImages::densities(std::span<const double> of_panels) const {
  return times(of_panels, *this, charge);
}

std::vector<double> PanelImages::potentials(std::span<const double> of_panels) const {
  return times(of_panels, *this, sign);
}

Panels make_panels(const SurfaceMesh& mesh, const SymmetryPlanes& planes, int max_leaf) {
  if (planes.empty()) return make_panels(mesh, Processor::cpu, max_leaf);
  const std::vector<Reflection> reflections = planes.reflections();
  const MeshBeforePlanes before = before_planes(mesh, planes);
  Panels panels = make_panels(before.mesh, Processor::cpu, max_leaf);
  std::vector<std::int32_t> panel_of(panels.size());
  for (std::size_t i = 0; i < panels.size(); ++i)
    panel_of[panels.input_index[i]] = static_cast<std::int32_t>(i);

  auto images = std::make_shared<PanelImages>();
  images->planes = planes;
  images->reflections = reflections.size();
  images->image.assign(panels.size() * reflections.size(), -1);
  std::vector<Image> image;
  images->whole = make_panels(with_images(before, reflections, image), Processor::cpu, max_leaf);
  for (std::size_t w = 0; w < images->whole.size(); ++w) {
    const auto& [triangle, m] = image[images->whole.input_index[w]];
    const std::int32_t panel = panel_of[triangle];
    double often = 1;
    for (unsigned in = before.planes_of_triangle(triangle); in != 0; in &= in - 1) often *= 2;
    images->source.push_back(panel);
    images->sign.push_back(reflections[m].sign);
    images->charge.push_back(often * reflections[m].sign);
    images->image[panel * reflections.size() + m] = static_cast<std::int32_t>(w);
  }
  panels.images = std::move(images);
  return panels;
}

}  // namespace fmbem
