#include "fmbem/fmm/plan_data.hpp"

#include <algorithm>
#include <cmath>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/choice/cost.hpp"

namespace fmbem::fmm {

double unit_for(const Cube& hull) {
  FMBEM_REQUIRE(std::isfinite(hull.side) && std::isfinite(norm(hull.corner)),
                "the points are too far apart for double precision: use another unit of length");
  const double unit = std::ldexp(1.0, -std::ilogb(hull.side));
  FMBEM_REQUIRE(std::isfinite(unit),
                "the points are too close together for double precision: use another unit of "
                "length");
  return unit;
}

void list_boxes(PlanData& data) {
  data.parents.assign(data.tree.levels(), {});
  data.source_boxes.clear();
  for (std::size_t b = 0; b < data.tree.boxes.size(); ++b) {
    const Box& box = data.tree.boxes[b];
    if (!box.is_leaf) data.parents[box.level].push_back(static_cast<std::int32_t>(b));
    if (box.own_sources().size() > 0) data.source_boxes.push_back(static_cast<std::int32_t>(b));
  }
}

std::int64_t bytes_of_a_number(const PlanData& data) {
  return data.precision == Precision::single_precision ? sizeof(float) : sizeof(double);
}

std::int64_t kept_moment_bytes(const PlanData& data) {
  if (!data.keep_moments || data.tree.levels() <= 2) return 0;
  return static_cast<std::int64_t>(data.sources.size()) * data.order.count *
         bytes_of_a_number(data);
}

PlanInfo info_of(const PlanData& data, int max_leaf, double inflation,
                 std::int64_t operator_bytes) {
  const auto boxes = static_cast<std::int64_t>(data.tree.boxes.size());
  const auto leaves = std::count_if(data.tree.boxes.begin(), data.tree.boxes.end(),
                                    [](const Box& box) { return box.is_leaf; });
  const auto points = static_cast<std::int64_t>(data.sources.size() + data.other_targets.size());
  // A number in the lists, and what the CPU lists besides where it sums each pair of leaves once:
  // 16 bytes a pair of entries.
  const std::int64_t near_entry_bytes = !data.spread && data.sources_are_targets ? 4 + 8 : 4;
  const std::int64_t bytes =
      boxes * static_cast<std::int64_t>(sizeof(Box) + sizeof(data.tree.colleagues[0])) +
      points * 36 + static_cast<std::int64_t>(data.near.sources.size()) * near_entry_bytes +
      2 * boxes * data.order.count * bytes_of_a_number(data) + kept_moment_bytes(data);
  return {data.order.p,
          data.precision,
          data.tree.levels(),
          max_leaf,
          inflation,
          boxes,
          leaves,
          near_pairs(data.tree, data.near),
          m2l_rows(data.tree),
          bytes,
          operator_bytes};
}

}  // namespace fmbem::fmm
