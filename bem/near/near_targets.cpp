#include "fmbem/bem/near/near_targets.hpp"

#include <algorithm>

namespace fmbem {

NearTargets::NearTargets(const Panels& panels, const PanelBlock& block)
    : centroid(count_of(block.rows, panels.size())), own(centroid.size()) {
  const auto n = static_cast<std::int64_t>(centroid.size());
  const std::vector<std::int32_t>& columns = block.columns;
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int32_t panel = panel_of(block.rows, i);
    centroid[i] = panels.triangle(panel).centroid;
    const auto column = std::lower_bound(columns.begin(), columns.end(), panel);
    own[i] = columns.empty() ? panel
             : column == columns.end() || *column != panel
                 ? -1
                 : static_cast<std::int32_t>(column - columns.begin());
  }
}

}  // namespace fmbem
