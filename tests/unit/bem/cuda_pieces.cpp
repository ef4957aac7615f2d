// Long panels as the GPU cuts them.
#include <cmath>

#include "fmbem/bem/space/panel_pieces.hpp"
#include "tests/unit/bem/device_pieces.hpp"
#include "tests/unit/bem/test_surfaces.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/cuda/gpu.hpp"

namespace fmbem::test::cuda_pieces_tests {

namespace {

SurfaceMesh axis_plate(int across, int along) {
  return plate_of_lines(steps(across), steps(along), {}, {1, 0, 0}, {0, 1, 0});
}

}  // namespace

TEST_CASE("the GPU cuts panels as the host does, to rounding") {
  if (!gpu_is_there()) return;
  for (const SurfaceMesh& mesh :
       {axis_plate(4, 500), long_plate(4, 500), long_plate(3, 2000), graded_plate(40)}) {
    const Panels panels = make_panels(mesh);
    const auto triangles = triangles_of(panels);
    for (const PieceCosts& costs : {PieceCosts{1, 5}, PieceCosts{1, 100}}) {
      const auto host = cut_long_panels(triangles, costs);
      const PiecesOnDevice device = pieces_on_device(panels, costs);
      CAPTURE(panels.size(), costs.piece);
      REQUIRE(static_cast<bool>(host) == !device.panel.empty());
      if (!host) continue;
      REQUIRE(host->size() == device.panel.size());
      CHECK(host->inflation() == device.inflation);
      int wrong = 0;
      for (std::size_t k = 0; k < host->size(); ++k) {
        const std::int32_t panel = device.panel[k];
        const double same = 1e-12 * longest_length(triangles[panel]);
        wrong += panel != host->panel(k);
        wrong += std::abs(device.place[k + panel] - host->begin_of(k)) > same;
        wrong += std::abs(device.place[k + panel + 1] - host->end_of(k)) > same;
        wrong += static_cast<std::int32_t>(k) < device.first[panel] ||
                 static_cast<std::int32_t>(k) >= device.first[panel + 1];
      }
      CHECK(wrong == 0);
    }
  }
  const Panels square = make_panels(plate(32));
  CHECK(pieces_on_device(square, {1, 40}).panel.empty());
}

TEST_CASE("the GPU finds stacks where cells are equal, and none where they are graded") {
  if (!gpu_is_there()) return;
  const StacksOnDevice equal = stacks_on_device(make_panels(axis_plate(4, 2000)), {1, 170}, 1e-8);
  CAPTURE(equal.stacks, equal.others);
  CHECK(equal.stacks > 2 * equal.others);
  CHECK(stacks_on_device(make_panels(graded_plate(60)), {1, 5}, 1e-8).stacks == 0);
}

}  // namespace fmbem::test::cuda_pieces_tests
