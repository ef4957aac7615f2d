#include <cmath>
#include <numbers>
#include <vector>

#include "fmbem/bem/precond/cluster_inverse.hpp"
#include "fmbem/bem/precond/cuda/cluster_inverse.hpp"
#include "fmbem/cuda/device_array.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/cuda/gpu.hpp"
#include "tests/unit/points.hpp"
#include "tests/unit/surfaces.hpp"
#include "tests/unit/vectors.hpp"

namespace fmbem::test::cuda_cluster_inverse_tests {

namespace {

/// Triangles of several sizes and directions about each of some points: their keys are the same,
/// and with exact entries their systems are not positive definite.
SurfaceMesh concentric_triangles(int places, int sizes) {
  SurfaceMesh mesh;
  const int group = add_group(mesh, "concentric");
  for (int place = 0; place < places; ++place) {
    const Vec3d centre{static_cast<double>(place % 4), static_cast<double>(place / 4), 0};
    for (int k = 0; k < sizes; ++k) {
      const double side = 0.5 * std::pow(0.6, k);
      for (int corner = 0; corner < 3; ++corner) {
        const double angle = 2 * std::numbers::pi * (corner / 3.0 + 0.13 * k);
        add_vertex(mesh, centre + side * Vec3d{std::cos(angle), std::sin(angle), 0});
      }
      const int last = static_cast<int>(mesh.vertices.size());
      add_triangle(mesh, last - 3, last - 2, last - 1, group);
    }
  }
  return mesh;
}

SurfaceMesh close_spheres(int level) {
  SurfaceMesh mesh;
  add_ellipsoid(mesh, "left", level, {1, 1, 1});
  add_ellipsoid(mesh, "right", level, {0.5, 0.5, 0.5}, {1.51, 0, 0});
  mesh.closed = true;
  return mesh;
}

Vector applied(const ApproximateInverse& inverse, const Vector& x, int vectors = 1) {
  Vector y(x.size());
  inverse.apply(x.data(), y.data(), {.vectors = vectors});
  return y;
}

/// Compares both on one surface. The GPU rounds rows to half precision, by at most 2^-11 = 4.9e-4
/// of an entry and 2.8e-4 in the root mean square. For x of random signs, a row's sum is as large
/// as the root of the sum of its terms' squares; each term also has what rounding left of the one
/// before. The factors differ by far less: by rounding in single precision times the condition of
/// the scaled systems, some 100, unless more is said of them.
void check_against_cpu(const Panels& panels, const Vector& x,
                       const ClusterInverseOptions& options = {}, double of_factors = 0) {
  const ClusterInverse host(panels, options);
  const cuda::bem::ClusterInverse device(panels, options);
  CAPTURE(panels.size(), panels.extent, host.mean_unknowns());
  CHECK(device.size() == host.size());
  CHECK(device.leaves() == host.leaves());
  CHECK(device.mean_unknowns() == host.mean_unknowns());
  CHECK(device.name() == host.name());
  CHECK(device.memory_bytes() > 0);
  const Vector expected = applied(host, x), y = applied(device, x);
  CHECK(norm_of(difference(y, expected)) < (0x1p-11 + of_factors) * norm_of(expected));
}
void check_against_cpu(const SurfaceMesh& mesh, const ClusterInverseOptions& options = {}) {
  const Panels panels = make_panels(mesh);
  check_against_cpu(panels, signed_charges(panels.size(), 3), options);
}

}  // namespace

TEST_CASE("the cluster inverse on the GPU is that of the CPU, whatever the surface and unit") {
  if (!gpu_is_there()) {
    CHECK_THROWS_AS(cuda::bem::ClusterInverse(make_panels(sphere(0))), InputError);
    return;
  }
  for (const SurfaceMesh& mesh : {sphere(3), sphere(3, 1e-25), sphere(3, 1e30), cube(8), plate(16),
                                  bracket(6), close_spheres(2)})
    check_against_cpu(mesh);
}

TEST_CASE("the cluster inverse on the GPU takes leaves and systems of any size") {
  if (!gpu_is_there()) return;
  SurfaceMesh one;
  add_vertex(one, {0, 0, 0});
  add_vertex(one, {1, 0, 0});
  add_vertex(one, {0, 1, 0});
  add_triangle(one, 0, 1, 2, add_group(one, "one"));
  check_against_cpu(one);
  SurfaceMesh four = one;
  four.vertices.push_back({0, 0, 1});
  for (const auto& [a, b, c] : Faces{{0, 1, 3}, {0, 2, 3}, {1, 2, 3}})
    add_triangle(four, a, b, c, 0);
  check_against_cpu(four);
  check_against_cpu(sphere(0));
  check_against_cpu(sphere(2), {.max_leaf = 1});
  check_against_cpu(sphere(3), {.max_leaf = 7, .most_unknowns = 60});
  check_against_cpu(bracket(4), {.max_leaf = 5, .most_unknowns = 20});
  // More than shared memory holds: all panels are unknowns, so all are in one leaf.
  check_against_cpu(sphere(3), {.opening = 1e-9, .nearness = 0, .most_unknowns = 1000});
  check_against_cpu(bracket(4), {.opening = 1e-9, .nearness = 0, .most_unknowns = 1000});
  check_against_cpu(sphere(3), {.max_leaf = 600, .most_unknowns = 1000});
}

TEST_CASE("the cluster inverse on the GPU is that of the CPU where panels are long") {
  if (!gpu_is_there()) return;
  for (const SurfaceMesh& mesh :
       {long_plate(4, 50), long_plate(4, 500), long_plate(2, 1000), graded_plate(40)}) {
    check_against_cpu(mesh);
    check_against_cpu(mesh, {.max_leaf = 7, .most_unknowns = 60});
    // More than shared memory holds.
    check_against_cpu(mesh, {.max_leaf = 100, .most_unknowns = 600});
  }
}

TEST_CASE("the cluster inverse on the GPU keeps the sums of rows") {
  if (!gpu_is_there()) return;
  // Of facing sheets a row's entries are some hundred times its sum: rounded one by one to half
  // precision they would leave errors of a tenth. Single precision leaves 1e-7 times that.
  // The factors of facing sheets have a larger condition: the host's results differ by 2e-4 from
  // one kind of processor to another, for which OpenBLAS rounds in another order, and the GPU's
  // differ from theirs likewise.
  const auto check = [](const SurfaceMesh& mesh, double of_factors) {
    const Panels panels = make_panels(mesh);
    const Vector ones(panels.size(), 1.0);
    check_against_cpu(panels, ones, {}, of_factors);
    check_against_cpu(panels, ones, {.max_leaf = 7, .most_unknowns = 60}, of_factors);
  };
  for (const SurfaceMesh& mesh : {sphere(3), bracket(6), long_plate(4, 500), graded_plate(40)})
    check(mesh, 0);
  for (const SurfaceMesh& mesh : {facing_sheets(20, 20, 1e-4), facing_sheets(6, 100, 1e-4)})
    check(mesh, 2e-4);
}

TEST_CASE("the cluster inverse on the GPU of panels at the same places") {
  if (!gpu_is_there()) return;
  check_against_cpu(concentric_triangles(12, 5));
  check_against_cpu(concentric_triangles(1, 8), {.max_leaf = 3});

  // With copies of a panel, sliver or not, the system is singular; the preconditioner has to cope
  // with it.
  for (const double height : {1.0, 0.01}) {
    SurfaceMesh copies;
    add_group(copies, "copies");
    for (const Vec3d v : {Vec3d{0, 0, 0}, Vec3d{1, 0, 0}, Vec3d{0, height, 0}})
      add_vertex(copies, v);
    for (int k = 0; k < 100; ++k) add_triangle(copies, 0, 1, 2, 0);
    const Panels panels = make_panels(copies);
    const Vector y = applied(cuda::bem::ClusterInverse(panels), Vector(panels.size(), 1.0));
    CHECK(std::isfinite(norm_of(y)));
  }
}

TEST_CASE("the cluster inverse on the GPU refuses options out of range") {
  if (!gpu_is_there()) return;
  const Panels panels = make_panels(sphere(1));
  CHECK_THROWS_AS(cuda::bem::ClusterInverse(panels, {.opening = 0}), InputError);
  CHECK_THROWS_AS(cuda::bem::ClusterInverse(panels, {.max_leaf = 0}), InputError);
}

TEST_CASE("the cluster inverse on the GPU says so where a system is singular") {
  if (!gpu_is_there()) return;
  SurfaceMesh mesh = sphere(1);
  add_triangle(mesh, 0, 1, 1, 0);  // a panel without area
  CHECK_THROWS_AS(cuda::bem::ClusterInverse(make_panels(mesh)), InputError);
}

TEST_CASE(
    "the cluster inverse on the GPU gives the same bits every time, for any number of vectors") {
  if (!gpu_is_there()) return;
  const Panels panels = make_panels(bracket(5));
  const std::size_t n = panels.size();
  const Vector x = signed_charges(6 * n, 2);
  const cuda::bem::ClusterInverse inverse(panels), again(panels);
  const Vector y = applied(inverse, x, 6);
  CHECK(applied(again, x, 6) == y);
  for (int v = 0; v < 6; ++v) {
    const Vector one(x.begin() + v * n, x.begin() + (v + 1) * n);
    CHECK(applied(inverse, one) == Vector(y.begin() + v * n, y.begin() + (v + 1) * n));
  }
  const cuda::DeviceArray<double> d_x(x);
  cuda::DeviceArray<double> d_y(x.size());
  inverse.apply_on_device(d_x.data(), d_y.data(), {.vectors = 6});
  Vector on_device(x.size());
  d_y.download(on_device);
  CHECK(on_device == y);
}

}  // namespace fmbem::test::cuda_cluster_inverse_tests
