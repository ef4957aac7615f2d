#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fmbem {

/// A block of an operator: its rows and columns are some panels, ascending; all panels where a list
/// is empty.
struct PanelBlock {
  std::vector<std::int32_t> rows{}, columns{};

  bool is_whole() const { return rows.empty() && columns.empty(); }
};

/// Of n panels.
inline std::size_t count_of(std::span<const std::int32_t> chosen, std::size_t n) {
  return chosen.empty() ? n : chosen.size();
}
inline std::int32_t panel_of(std::span<const std::int32_t> chosen, std::size_t k) {
  return chosen.empty() ? static_cast<std::int32_t>(k) : chosen[k];
}

/// Throws InputError if one of them is none of n panels.
void check_panels(std::span<const std::int32_t> chosen, std::size_t n);
/// As well, if they do not ascend.
void check_block(const PanelBlock& block, std::size_t n);

}  // namespace fmbem
