#include "fmbem/bem/precond/charge_rows.hpp"

#include <algorithm>
#include <utility>

namespace fmbem {

ChargeRows::ChargeRows(const MixedPlaces& places, const MixedRows& rows, const ClusterTree& tree)
    : places_(places), tree_(tree), charge_area_(tree.nodes.size()), of_part_(places.parts.size()) {
  tree.for_children_first([&](std::int32_t k) {
    const Cluster& node = tree.nodes[k];
    charge_area_[k] = node.is_panel() ? charge_weight(rows, tree.panel(node.begin)) * node.area
                                      : charge_area_[node.left] + charge_area_[node.right];
  });
  for (std::size_t part = 0; part < places.parts.size(); ++part) {
    if (places.parts[part].equation < 0) continue;
    std::vector<std::pair<std::int32_t, double>> numbered;
    for (const auto& [other, factor] : rows.equations[places.parts[part].equation].others)
      if (places.number_of[other] >= 0) numbered.emplace_back(places.number_of[other], factor);
    std::sort(numbered.begin(), numbered.end());
    Others others;
    for (const auto& [number, factor] : numbered) {
      others.number.push_back(number);
      others.factor.push_back(factor);
    }
    of_part_[part] = merged(others, {});
  }
  list_of_node_.assign(tree.nodes.size(), -1);
  for (auto k = static_cast<std::int32_t>(tree.nodes.size()) - 1; k >= 0; --k) {
    const Cluster& node = tree.nodes[k];
    if (!is_given(node)) continue;
    const auto others_of = [&](std::int32_t half) -> const Others& {
      return is_given(tree.nodes[half]) ? of_node_[list_of_node_[half]]
                                        : of_part_[places.trees.part[tree.nodes[half].begin]];
    };
    list_of_node_[k] = static_cast<std::int32_t>(of_node_.size());
    of_node_.push_back(merged(others_of(node.left), others_of(node.right)));
  }
}

ChargeRows::Others ChargeRows::merged(const Others& a, const Others& b) const {
  Others all;
  for (std::size_t i = 0, j = 0; i < a.number.size() || j < b.number.size();) {
    const bool take_a = j == b.number.size() || (i < a.number.size() && a.number[i] <= b.number[j]);
    const std::int32_t number = take_a ? a.number[i] : b.number[j];
    const double factor = take_a ? a.factor[i++] : b.factor[j++];
    if (!all.number.empty() && all.number.back() == number) {
      all.factor.back() += factor;
    } else {
      all.number.push_back(number);
      all.factor.push_back(factor);
    }
  }
  for (std::size_t i = 0; i < all.number.size(); ++i)
    all.sum_before.push_back(all.sum_before.back() +
                             all.factor[i] * places_.parts[all.number[i]].charge_area);
  return all;
}

double ChargeRows::sum_over(const Others& others, std::int32_t l) const {
  const Cluster& node = tree_.nodes[l];
  const std::int32_t first = places_.trees.part[node.begin],
                     last = places_.trees.part[node.end - 1];
  if (first < 0 || others.number.empty()) return 0;
  const auto from = std::lower_bound(others.number.begin(), others.number.end(), first);
  const auto to = std::upper_bound(from, others.number.end(), last);
  const auto i = from - others.number.begin(), j = to - others.number.begin();
  if (first != last) return others.sum_before[j] - others.sum_before[i];
  return i == j ? 0 : others.factor[i] * charge_area_[l];
}

double ChargeRows::part_entry(std::int32_t part, std::int32_t l) const {
  const MixedPlaces::Part& own = places_.parts[part];
  const bool is_inside = tree_.nodes[l].begin >= own.begin && tree_.nodes[l].end <= own.end;
  return ((is_inside ? charge_area_[l] : 0) + sum_over(of_part_[part], l)) / own.area;
}

double ChargeRows::given_entry(std::int32_t k, std::int32_t l) const {
  const Cluster &node = tree_.nodes[k], &of = tree_.nodes[l];
  // Of the others that the node itself holds only the sum of charges is known, which is given.
  if (of.begin >= node.begin && of.end <= node.end) return k == l ? charge_area_[k] / node.area : 0;
  return sum_over(of_node_[list_of_node_[k]], l) / node.area;
}

}  // namespace fmbem
