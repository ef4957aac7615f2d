#include "fmbem/bem/space/panel_pieces.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "fmbem/fmm/base/bounds.hpp"

namespace fmbem {
namespace {

/// The cube that the tree is made in, before it is inflated.
Hull hull_of(std::span<const Triangle> panels) {
  const auto [low, high] =
      coordinate_bounds(3 * static_cast<std::int64_t>(panels.size()),
                        [&](std::int64_t k) { return panels[k / 3].vertex[k % 3]; });
  return bounding_cube(low, high);
}

/// Numbers of the long ones, ascending.
std::vector<std::int32_t> find_long(std::span<const Triangle> panels) {
  const auto n = static_cast<std::int64_t>(panels.size());
  std::vector<char> found(n);
  std::int64_t count = 0;
#pragma omp parallel for schedule(static) reduction(+ : count)
  for (std::int64_t j = 0; j < n; ++j) count += found[j] = is_long(panels[j]);
  std::vector<std::int32_t> numbers;
  if (count == 0) return numbers;
  numbers.reserve(count);
  for (std::int64_t j = 0; j < n; ++j)
    if (found[j]) numbers.push_back(static_cast<std::int32_t>(j));
  return numbers;
}

}  // namespace

PanelPieces::PanelPieces(std::span<const Triangle> panels, const CutBoxes& boxes)
    : inflation_(boxes.inflation), begin_(panels.size() + 1) {
  const auto n = static_cast<std::int64_t>(panels.size());
  const auto cut = [&](std::int64_t j, auto&& body) {
    if (is_long(panels[j])) for_cuts(make_strip(panels[j]), boxes.planes, body);
  };
#pragma omp parallel for schedule(static)
  for (std::int64_t j = 0; j < n; ++j) {
    std::int32_t pieces = 1;
    cut(j, [&](double) { ++pieces; });
    begin_[j + 1] = pieces;
  }
  begin_[0] = 0;
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  panel_.resize(begin_[n]);
  place_.resize(begin_[n] + n);
#pragma omp parallel for schedule(static)
  for (std::int64_t j = 0; j < n; ++j) {
    std::fill(panel_.begin() + begin_[j], panel_.begin() + begin_[j + 1],
              static_cast<std::int32_t>(j));
    double* place = place_.data() + begin_[j] + j;
    *place = 0;
    cut(j, [&](double at) { *++place = at; });
    *++place = longest_length(panels[j]);
  }
}

std::shared_ptr<const PanelPieces> cut_long_panels(std::span<const Triangle> panels,
                                                   const PieceCosts& costs) {
  const std::vector<std::int32_t> long_panels = find_long(panels);
  if (long_panels.empty()) return nullptr;
  const SampleOf strips = PanelSample::sources_of(long_panels.size()),
                 targets = PanelSample::targets_of(panels.size());
  PanelSample sample{{}, {}, targets.n, strips.n, hull_of(panels)};
  for (std::size_t k = 0; k < strips.size(); ++k)
    sample.strips.push_back(make_strip(panels[long_panels[strips[k]]]));
  for (std::size_t k = 0; k < targets.size(); ++k)
    sample.targets.push_back(panels[targets[k]].centroid);
  const std::optional<CutBoxes> boxes = choose_cut_boxes(sample, costs);
  return boxes ? std::make_shared<PanelPieces>(panels, *boxes) : nullptr;
}

}  // namespace fmbem
