#pragma once

#include <cstdint>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/space/cut_boxes.hpp"

namespace fmbem::test {

/// Long panels as the GPU cuts them, as PanelPieces has them; empty where it cuts none.
struct PiecesOnDevice {
  double inflation = 0;
  std::vector<std::int32_t> panel, first;
  std::vector<double> place;
};
PiecesOnDevice pieces_on_device(const Panels& panels, const PieceCosts& costs);

/// Boxes whose own sources are stacks of pieces, and those whose are not.
struct StacksOnDevice {
  std::size_t stacks, others;
};
StacksOnDevice stacks_on_device(const Panels& panels, const PieceCosts& costs, double tolerance);

}  // namespace fmbem::test
