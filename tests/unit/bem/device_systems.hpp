#pragma once

#include <cstdint>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/layer/mixed_rows.hpp"
#include "fmbem/bem/precond/system_parts.hpp"

namespace fmbem::test {

/// What the GPU makes of mixed rows: cuts and small systems, leaf after leaf.
struct SystemsOnDevice {
  std::vector<Cluster> nodes;
  std::vector<std::int32_t> leaves, cuts;  ///< nodes
  std::vector<std::int64_t> cut_begin;     ///< [leaves + 1]
  std::vector<SystemBatch> batches;        ///< of half the leaves each
};
SystemsOnDevice systems_on_device(const Panels& panels, const MixedRows& rows);

}  // namespace fmbem::test
