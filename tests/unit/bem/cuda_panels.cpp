// Panels that were sorted on the GPU.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/cuda/gpu.hpp"
#include "tests/unit/points.hpp"
#include "tests/unit/surfaces.hpp"
#include "tests/unit/vectors.hpp"

namespace fmbem::test::cuda_panels_tests {

namespace {

/// Each panel five times over, at the same place.
SurfaceMesh piled_up(SurfaceMesh mesh) {
  const std::size_t n = mesh.triangles.size();
  for (int copy = 0; copy < 4; ++copy)
    for (std::size_t i = 0; i < n; ++i) {
      const auto [a, b, c] = mesh.triangles[i];
      add_triangle(mesh, a, b, c, 0);
    }
  return mesh;
}

Vector product_on_gpu(const Panels& panels, OperatorOptions::NearField near_field) {
  OperatorOptions options{
      .kind = OperatorOptions::Choice::fmm, .processor = Processor::gpu, .near_field = near_field};
  options.max_leaf = 40;
  return product(*make_single_layer(panels, options), signed_charges(panels.size(), 5));
}

}  // namespace

TEST_CASE("panels are in the same order, to the last bit of their keys, wherever they are sorted") {
  if (!gpu_is_there()) {
    CHECK_THROWS_AS(make_panels(sphere(0), Processor::gpu), InputError);
    return;
  }
  for (const SurfaceMesh& mesh :
       {sphere(0), sphere(6), sphere(5, 0.37, {3, 1, -1}), sphere(3, 1e-25), sphere(3, 1e30),
        icosphere(4), cube(40), plate(33), bracket(8), piled_up(plate(9)), piled_up(sphere(3))}) {
    const Panels host = make_panels(mesh), device = make_panels(mesh, Processor::gpu);
    CAPTURE(host.size(), host.extent);
    CHECK(device.on_device != nullptr);
    CHECK(std::ranges::equal(device.key, host.key));
    CHECK(std::ranges::equal(device.input_index, host.input_index));
    CHECK(std::ranges::equal(device.corners, host.corners));
    CHECK(std::ranges::equal(device.vertices, host.vertices));
    CHECK(std::ranges::equal(device.leaf_begin, host.leaf_begin));
    CHECK(device.origin == host.origin);
    CHECK(device.extent == host.extent);
  }
}

TEST_CASE("an operator takes panels as they were left on the GPU, with the same bits") {
  if (!gpu_is_there()) return;
  for (const SurfaceMesh& mesh : {sphere(5, 0.37, {3, 1, -1}), bracket(10)}) {
    const Panels host = make_panels(mesh);
    for (const auto near_field :
         {OperatorOptions::NearField::stored, OperatorOptions::NearField::lean})
      CHECK(product_on_gpu(make_panels(mesh, Processor::gpu), near_field) ==
            product_on_gpu(host, near_field));
  }
}

TEST_CASE("a mesh that is not finite is refused on the GPU, too") {
  if (!gpu_is_there()) return;
  SurfaceMesh mesh = sphere(2);
  mesh.vertices[7].y = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(make_panels(mesh), InputError);
  CHECK_THROWS_AS(make_panels(mesh, Processor::gpu), InputError);
  CHECK_THROWS_AS(make_panels(SurfaceMesh{}, Processor::gpu), InputError);
}

}  // namespace fmbem::test::cuda_panels_tests
