#pragma once

#include <cstdint>

namespace fmbem {

/// Columns [begin, end) of an operator, one behind the other; or, transposed, rows.
struct Columns {
  std::int64_t begin, end;
  bool transposed = false;

  std::int64_t count() const { return end - begin; }
};

}  // namespace fmbem
