#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fmbem/bem/precond/mixed_systems.hpp"
#include "fmbem/fmm/base/buffer.hpp"

namespace fmbem {

/// A law (ChargeRows) in a small system: the row at `place` becomes m numbers, from `numbers` on,
/// plus the rows of terms times their factors.
struct SystemLaw {
  std::int32_t place, numbers, terms_begin, terms_end;
};
struct LawTerm {
  std::int32_t place;
  float factor;
};
/// A row that is m numbers.
struct GivenRow {
  std::int32_t place, numbers;
};

/// Small systems of mixed rows in parts, leaf after leaf, for a GPU to fill and to solve.
struct SystemBatch {
  std::vector<std::int32_t> node_begin, entry_begin, law_begin, given_begin;  ///< [leaves + 1]
  LargeVector<SystemNode> nodes;
  LargeVector<SetEntry> entries;
  std::vector<SystemLaw> laws;
  std::vector<LawTerm> terms;
  std::vector<GivenRow> given;
  std::vector<float> numbers;
};

/// Those of leaves [first, last). The same for any number of threads.
SystemBatch system_batch(std::span<const Triangle> panels, const MixedSystems<double>& systems,
                         std::size_t first, std::size_t last);

}  // namespace fmbem
