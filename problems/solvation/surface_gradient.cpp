#include "fmbem/problems/solvation/surface_gradient.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "fmbem/bem/geometry/panels_at_vertices.hpp"
#include "fmbem/fmm/base/error.hpp"

namespace fmbem {
namespace {

/// A neighbour's place in the plane, in units of the distance of the farthest one, and how its
/// value differs.
struct Sample {
  double u, v, difference;
};

/// A pivot of the normal equations that is smaller than this part of the largest makes no use of
/// what was measured along it.
constexpr double least_pivot = 1e-4;

/// Least squares for the first n of u, v, u², uv, v² by Cholesky's factorization of the normal
/// equations, whose condition is mild as places are scaled. Nothing where they are singular.
template <int n>
std::optional<std::pair<double, double>> slope_of_fit(std::span<const Sample> samples) {
  if (samples.size() < n) return {};
  std::array<std::array<double, n + 1>, n> a{};
  for (const auto& [u, v, difference] : samples) {
    const std::array<double, 6> terms{u, v, u * u, u * v, v * v, 0};
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) a[i][j] += terms[i] * terms[j];
      a[i][n] += terms[i] * difference;
    }
  }
  std::array<double, n> scale{};
  for (int i = 0; i < n; ++i) {
    if (!(a[i][i] > 0)) return {};
    scale[i] = 1 / std::sqrt(a[i][i]);
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) a[i][j] *= scale[i] * scale[j];
    a[i][n] *= scale[i];
  }
  for (int k = 0; k < n; ++k) {  // elimination; a is symmetric and positive
    if (a[k][k] < least_pivot) return {};
    for (int i = k + 1; i < n; ++i) {
      const double factor = a[i][k] / a[k][k];
      for (int j = k; j <= n; ++j) a[i][j] -= factor * a[k][j];
    }
  }
  for (int i = n - 1; i >= 0; --i) {
    for (int j = i + 1; j < n; ++j) a[i][n] -= a[i][j] * a[j][n];
    a[i][n] /= a[i][i];
  }
  return std::pair(a[0][n] * scale[0], a[1][n] * scale[1]);
}

}  // namespace

std::vector<Vec3d> surface_gradient(const Panels& panels, std::span<const double> value) {
  FMBEM_REQUIRE(value.size() == panels.size(),
                "there are " << value.size() << " values for " << panels.size() << " panels");
  const PanelsAtVertices at_vertices(panels);
  std::vector<Vec3d> result(panels.size());
#pragma omp parallel for schedule(dynamic, 256)
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const Triangle triangle = panels.triangle(i);
    const Vec3d across = triangle.vertex[1] - triangle.vertex[0];
    const Vec3d along_u = (1 / norm(across)) * across, along_v = cross(triangle.normal, along_u);
    std::vector<std::int32_t> neighbours;
    for (const int v : panels.corners[i])
      for (const std::int32_t j : at_vertices.at(v))
        if (j != static_cast<std::int32_t>(i)) neighbours.push_back(j);
    std::sort(neighbours.begin(), neighbours.end());
    neighbours.erase(std::unique(neighbours.begin(), neighbours.end()), neighbours.end());
    double reach = 0;
    std::vector<Sample> samples;
    for (const std::int32_t j : neighbours) {
      const Vec3d d = panels.centroid(j) - panels.centroid(i);
      samples.push_back({dot(d, along_u), dot(d, along_v), value[j] - value[i]});
      reach = std::max(reach, norm(d));
    }
    for (Sample& sample : samples) {
      sample.u /= reach;
      sample.v /= reach;
    }
    std::optional<std::pair<double, double>> slope = slope_of_fit<5>(samples);
    if (!slope) slope = slope_of_fit<2>(samples);
    if (slope) result[i] = (slope->first / reach) * along_u + (slope->second / reach) * along_v;
  }
  return result;
}

}  // namespace fmbem
