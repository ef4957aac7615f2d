#include "fmbem/bem/geometry/panel_block.hpp"

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {

void check_panels(std::span<const std::int32_t> chosen, std::size_t n) {
  for (const std::int32_t panel : chosen)
    FMBEM_REQUIRE(panel >= 0 && static_cast<std::size_t>(panel) < n,
                  "there is no panel " << panel << ": they go from 0 to " << n << " - 1");
}

void check_block(const PanelBlock& block, std::size_t n) {
  for (const auto& chosen : {block.rows, block.columns}) {
    check_panels(chosen, n);
    for (std::size_t k = 1; k < chosen.size(); ++k)
      FMBEM_REQUIRE(chosen[k - 1] < chosen[k], "the panels of a block must ascend, but "
                                                   << chosen[k] << " follows " << chosen[k - 1]);
  }
}

}  // namespace fmbem
