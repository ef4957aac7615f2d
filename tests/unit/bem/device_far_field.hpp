#pragma once

#include <cstdint>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/layer/layer.hpp"
#include "fmbem/fmm/base/precision.hpp"

namespace fmbem::test {

struct FarFieldOptions {
  int order;
  Precision precision;
  double moment_tolerance;  ///< relative error of the panels' moments
  int max_leaf;
  Trace source = Trace::value;  ///< of the kernel at the panels
  bool crowded = false;         ///< as is_crowded() says
  bool transposed = false;
  bool sparing = false;  ///< gathers for M2L as where memory counts more than time
  bool keeps_moments = false;
};

/// The far field of panels at their centroids, as products with V or K on the GPU have it, alone;
/// and what it leaves to the near field.
struct DeviceFarField {
  /// Every target with every source, as numbers of panels.
  struct Pairs {
    std::vector<std::int32_t> targets, sources;
  };
  std::vector<double> product;  ///< [vectors][panels]
  std::vector<Pairs> near;      ///< of each target leaf
  int levels;
};

/// Of x, [vectors][panels].
DeviceFarField far_field_on_device(const Panels& panels, const FarFieldOptions& options,
                                   const std::vector<double>& x);

}  // namespace fmbem::test
