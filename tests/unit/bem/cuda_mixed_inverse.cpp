// The preconditioner of mixed rows on the GPU, whose rows are rounded, against the host's.
#include <cmath>
#include <span>
#include <vector>

#include "fmbem/bem/precond/cuda/mixed_inverse.hpp"
#include "fmbem/cuda/device_array.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/cuda/gpu.hpp"
#include "tests/unit/mixed_dense.hpp"
#include "tests/unit/mixed_surfaces.hpp"
#include "tests/unit/points.hpp"
#include "tests/unit/vectors.hpp"

namespace fmbem::test::cuda_mixed_inverse_tests {

namespace {

Vector applied(const ApproximateInverse& inverse, const Vector& x, int vectors = 1) {
  Vector y(x.size());
  inverse.apply(x.data(), y.data(), {.vectors = vectors});
  return y;
}

/// Half precision is off by 2.8e-4 in the root mean square. For random x a row's sum is as large as
/// the root of the sum of its terms' squares. The charge correction changes both alike.
void check_against_host(const MixedSurface& surface) {
  const Panels panels = make_panels(surface.mesh);
  const MixedRows rows = mixed_rows(surface, panels);
  const MixedInverse host(panels, triangles_of(panels), rows);
  const cuda::bem::MixedInverse device(panels, rows);
  REQUIRE(device.size() == panels.size());
  CHECK(device.memory_bytes() > 0);
  constexpr int vectors = 11;  // more than go together
  const Vector x = signed_charges(vectors * panels.size(), 5);
  const Vector there = applied(device, x, vectors), here = applied(host, x, vectors);
  CHECK(norm_of(difference(there, here)) < 1e-3 * norm_of(here));
  CHECK(applied(device, x, vectors) == there);
  const Vector last(x.end() - static_cast<std::ptrdiff_t>(panels.size()), x.end()),
      of_last(there.end() - static_cast<std::ptrdiff_t>(panels.size()), there.end());
  CHECK(norm_of(difference(applied(device, last), of_last)) < 1e-12 * norm_of(of_last));

  const cuda::DeviceArray<double> d_x{std::span<const double>(x)}, d_y(x.size());
  device.apply_on_device(d_x.data(), d_y.data(), {.vectors = vectors});
  Vector y(x.size());
  d_y.download(y);
  CHECK(y == there);
}

}  // namespace

TEST_CASE("the inverse of mixed rows on the GPU is the host's, rounded") {
  if (!gpu_is_there()) return;
  for (const MixedSurface& surface :
       {memory_cell(1, true), plate_on_substrate(3, 1e4), mixed_cube(6, true), shell(5, 0.01, 1e4),
        coated_conductor(6, 1e6), shell(8, 0.05, 1e4), balls_between_plates(2, 4, 1e6, true)}) {
    CAPTURE(surface.mesh.triangles.size());
    check_against_host(surface);
  }
}

TEST_CASE("the inverse of mixed rows on the GPU of a few panels") {
  if (!gpu_is_there()) return;
  check_against_host(two_balls(1, 0.5, 4));
}

TEST_CASE("GMRES with the inverse on the GPU takes the host's iterations") {
  if (!gpu_is_there()) return;
  for (const MixedSurface& surface : {memory_cell(1, false), coated_conductor(8, 1e6)}) {
    const Panels panels = make_panels(surface.mesh);
    const MixedRows rows = mixed_rows(surface, panels);
    const MixedInverse host(panels, triangles_of(panels), rows);
    const cuda::bem::MixedInverse device(panels, rows);
    const DenseMixed dense(panels, rows);
    const auto a = [&](const Vector& x) { return dense(x); };
    const Vector b = right_hand_side(surface, panels);
    const int on_host = gmres(
                            a, [&](const Vector& x) { return applied(host, x); }, b, 1e-6)
                            .iterations;
    const int on_device = gmres(
                              a, [&](const Vector& x) { return applied(device, x); }, b, 1e-6)
                              .iterations;
    CHECK(std::abs(on_device - on_host) <= 1);
  }
}

}  // namespace fmbem::test::cuda_mixed_inverse_tests
