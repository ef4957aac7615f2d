#include "fmbem/bem/space/cuda/stacks.cuh"
#include "tests/unit/bem/device_pieces.hpp"
#include "tests/unit/cuda/to_host.cuh"

namespace fmbem::test {

using namespace cuda;
using namespace cuda::bem;

PiecesOnDevice pieces_on_device(const Panels& panels, const PieceCosts& costs) {
  const Stream stream;
  const auto pieces = cut_long_panels(*store_of(panels, stream), costs, stream);
  if (!pieces) return {};
  return {pieces->inflation, to_host(pieces->panel, stream), to_host(pieces->first, stream),
          to_host(pieces->place, stream)};
}

StacksOnDevice stacks_on_device(const Panels& panels, const PieceCosts& costs, double tolerance) {
  const Stream stream;
  const auto store = store_of(panels, stream);
  const auto pieces = cut_long_panels(*store, costs, stream);
  const SpreadTree tree = grow_panel_tree(*store, store->centroid,
                                          {.order = 10,
                                           .precision = Precision::double_precision,
                                           .overhang = 0.1,
                                           .near_pair_seconds = 3e-12,
                                           .inflation = pieces->inflation},
                                          stream, pieces.get());
  const MomentRules rules(tolerance, {}, stream);
  const StripMomentRules piece_rules(tolerance, stream);
  const PieceMoments moments{pieces->view(), piece_rules.view()};
  const BoxStacks stacks(sources_of(*store, tree, rules, &moments), tolerance, stream);
  return {static_cast<std::size_t>(stacks.count()), stacks.others().size()};
}

}  // namespace fmbem::test
