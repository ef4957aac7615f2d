#pragma once

#include <cstdint>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/layer/mixed_rows.hpp"
#include "fmbem/bem/precond/system_parts.hpp"

namespace fmbem::test {

/// Small systems of mixed rows in parts, as the GPU has them, leaf after leaf.
struct SystemBatch {
  std::vector<std::int32_t> node_begin, entry_begin, law_begin, given_begin;  ///< [leaves + 1]
  std::vector<SystemNode> nodes;
  std::vector<SetEntry> entries;
  std::vector<SystemLaw> laws;
  std::vector<LawTerm> terms;
  std::vector<GivenRow> given;
  std::vector<float> numbers;
};

/// What the GPU makes of mixed rows: cuts and small systems, leaf after leaf.
struct SystemsOnDevice {
  std::vector<Cluster> nodes;
  std::vector<std::int32_t> leaves, cuts;  ///< nodes
  std::vector<std::int64_t> cut_begin;     ///< [leaves + 1]
  std::vector<SystemBatch> batches;        ///< of half the leaves each
};
SystemsOnDevice systems_on_device(const Panels& panels, const MixedRows& rows);

}  // namespace fmbem::test
