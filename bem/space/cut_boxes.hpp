#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "fmbem/bem/space/strip_cuts.hpp"
#include "fmbem/fmm/tree/morton.hpp"

namespace fmbem {

/// What a product takes for each unknown near to a target, and for each piece. Their ratio decides
/// on the boxes.
struct PieceCosts {
  double near_entry, piece;
};

/// The boxes that long panels are cut for.
struct CutBoxes {
  BoxPlanes planes;
  double inflation;  ///< the root's side over that of the bounding cube
};

/// Every so-many-th of n things, some `wanted` of them.
struct SampleOf {
  std::size_t n, wanted;

  FMBEM_HD std::size_t stride() const { return n < wanted ? 1 : n / wanted; }
  FMBEM_HD std::size_t operator[](std::size_t k) const { return stride() / 2 + k * stride(); }
  FMBEM_HD std::size_t size() const { return (n - stride() / 2 + stride() - 1) / stride(); }
};

/// What the choice of boxes looks at.
struct PanelSample {
  static SampleOf targets_of(std::size_t panels) { return {panels, 128}; }
  static SampleOf sources_of(std::size_t long_panels) { return {long_panels, 2048}; }

  std::vector<Strip> strips;        ///< of long panels, as sources_of() has them
  std::vector<Vec3d> targets;       ///< centroids of panels, as targets_of() has them
  std::size_t panels, long_panels;  ///< how many there are
  Hull hull;                        ///< of all panels: the tree's root before it is inflated
};

/// The boxes that cost least, by the distances of long panels to targets. Nothing where cutting
/// saves too little.
std::optional<CutBoxes> choose_cut_boxes(const PanelSample& sample, const PieceCosts& costs);

}  // namespace fmbem
