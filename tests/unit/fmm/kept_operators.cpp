#include "fmbem/fmm/cpu/operators.hpp"

// A test makes many plans of few orders, one after the other. Making the operators of each again is
// most of the time of many tests: 2 s at order 28.
namespace {
const bool kept = [] {
  fmbem::fmm::keep_operators(std::int64_t{3} << 30);
  return true;
}();
}  // namespace
