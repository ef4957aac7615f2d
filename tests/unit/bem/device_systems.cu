#include <utility>

#include "fmbem/bem/precond/cuda/mixed_parts.cuh"
#include "tests/unit/bem/device_systems.hpp"
#include "tests/unit/cuda/to_host.cuh"

namespace fmbem::test {

using namespace cuda;
using namespace cuda::bem;

SystemsOnDevice systems_on_device(const Panels& panels, const MixedRows& rows) {
  const Stream stream;
  const MixedPlaces places(panels, rows);
  const auto store = store_of(panels, stream);
  const DeviceMixedNodes nodes(*store, rows, places, {}, stream);
  SystemsOnDevice result{to_host(nodes.tree.nodes, stream),
                         to_host(nodes.tree.leaves, stream),
                         to_host(nodes.cuts.nodes, stream),
                         to_host(nodes.cuts.begin, stream),
                         {}};
  const auto all = static_cast<std::int64_t>(result.leaves.size()), half = all / 2;
  for (const auto& [first, last] : {std::pair(std::int64_t{0}, half), {half, all}}) {
    if (first == last) continue;
    const DeviceBatch batch = system_parts(nodes, result.cut_begin, first, last, stream);
    result.batches.push_back({to_host(batch.node_begin, stream), to_host(batch.entry_begin, stream),
                              to_host(batch.laws.law_begin, stream),
                              to_host(batch.laws.given_begin, stream), to_host(batch.nodes, stream),
                              to_host(batch.entries, stream), to_host(batch.laws.laws, stream),
                              to_host(batch.laws.terms, stream), to_host(batch.laws.given, stream),
                              to_host(batch.laws.numbers, stream)});
  }
  return result;
}

}  // namespace fmbem::test
