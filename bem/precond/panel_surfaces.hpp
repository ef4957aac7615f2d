#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "fmbem/fmm/base/buffer.hpp"

namespace fmbem {

/// What the unknowns φ and q of panels are coupled by: the regions on both sides of each.
struct RegionsOfPanels {
  LargeVector<int> inside, outside;         ///< [n panels]
  std::vector<double> permittivity, kappa;  ///< [regions]
};

/// Panels by surface, that is by the regions that they are between: sorted, those of a surface in
/// their order. O(n).
struct PanelSurfaces {
  struct Sides {
    int inside, outside;
    auto operator<=>(const Sides&) const = default;
  };

  PanelSurfaces() = default;
  PanelSurfaces(std::span<const int> inside, std::span<const int> outside);

  std::vector<Sides> sides;         ///< [surfaces], ascending
  LargeVector<std::int32_t> panel;  ///< [n]
  std::vector<std::int32_t> begin;  ///< [surfaces + 1], in `panel`
  LargeVector<std::int32_t> of;     ///< [n panels]: their surface; empty where there is but one

  std::size_t size() const { return sides.size(); }
  std::size_t surface_of(std::size_t i) const {
    return of.empty() ? 0 : static_cast<std::size_t>(of[i]);
  }
  std::span<const std::int32_t> panels_of(std::size_t s) const {
    return std::span(panel).subspan(begin[s], begin[s + 1] - begin[s]);
  }
};

}  // namespace fmbem
