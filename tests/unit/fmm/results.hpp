#pragma once

#include <cstddef>
#include <vector>

#include "fmbem/fmm/plan.hpp"

namespace fmbem::test {

/// Results at n targets, with second derivatives or without.
struct Results {
  explicit Results(std::size_t n, bool has_hessian = false)
      : potential(n), gradient(n), hessian(has_hessian ? n : 0) {}
  fmm::Fields fields() { return {potential, gradient, hessian}; }
  bool operator==(const Results&) const = default;

  std::vector<double> potential;
  std::vector<Vec3d> gradient;
  std::vector<Symmetric3d> hessian;
};

}  // namespace fmbem::test
