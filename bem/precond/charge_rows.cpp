#include "fmbem/bem/precond/charge_rows.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fmbem/bem/layer/complex_rows.hpp"

namespace fmbem {
namespace {

/// Smaller terms of a law, beside its largest, are what rounding has left of terms that cancel.
constexpr double least_term = 1e-8;

}  // namespace

template <class T>
ChargeRows<T>::ChargeRows(const MixedPlaces& places, const BasicMixedRows<T>& rows,
                          const ClusterTree& tree)
    : places_(places),
      tree_(tree),
      charge_area_(tree.nodes.size()),
      law_of_part_(places.parts.size()),
      others_of_part_(places.parts.size()) {
  tree.for_children_first([&](std::int32_t k) {
    const Cluster& node = tree.nodes[k];
    charge_area_[k] = node.is_panel() ? charge_weight(rows, tree.panel(node.begin)) * node.area
                                      : charge_area_[node.left] + charge_area_[node.right];
  });
  add_equations(rows);
  add_stretched(rows);
  add_given();
}

template <class T>
void ChargeRows<T>::add_equations(const BasicMixedRows<T>& rows) {
  for (std::size_t p = 0; p < places_.parts.size(); ++p) {
    const MixedPlaces::Part& part = places_.parts[p];
    if (part.equation < 0) continue;
    Factors others;
    for (const auto& [other, factor] : rows.equations[part.equation].others)
      if (places_.number_of[other] >= 0) others[places_.number_of[other]] += factor;
    others_of_part_[p] = sorted(others);
    Factors all = others;
    all[static_cast<std::int32_t>(p)] += T(1);
    law_of_part_[p] = {static_cast<std::int32_t>(laws_.size()), T(1 / part.area)};
    laws_.push_back({sorted(all), part.area});
  }
}

template <class T>
void ChargeRows<T>::add_stretched(const BasicMixedRows<T>& rows) {
  if (rows.stretched.empty()) return;
  std::vector<T> beta(places_.number_of.size(), T(0));
  for (std::size_t i = 0; i < rows.part.size(); ++i) beta[rows.part[i]] = rows.beta[i];
  for (const BasicStretchedParts<T>& parts : rows.stretched) add_stretched(rows, parts, beta);
}

/// What the mean of the rows of parts has become,
///
///     Σ_p w_p (Y_p + shift_p) / Σ_p w_p A_p.
///
/// In charges and fluxes, Y = Q + β F, what is of the contrast cancels; of what is left fluxes are
/// those that rows say, F = (Y − Q)/β.
template <class T>
void ChargeRows<T>::add_stretched(const BasicMixedRows<T>& rows,
                                  const BasicStretchedParts<T>& parts, const std::vector<T>& beta) {
  Factors weight, charge, flux;
  T total(0);
  for (const auto& [part, w] : parts) {
    weight[part] = w;
    total += w * places_.parts[places_.number_of[part]].area;
  }
  const auto add_row = [&](std::int32_t part, T factor) {
    charge[part] += factor;
    flux[part] += factor * beta[part];
  };
  for (const auto& [part, w] : weight) add_row(part, w / total);
  for (const auto& [part, terms] : rows.shifts) {
    const auto of = weight.find(part);
    if (of == weight.end()) continue;
    for (const auto& term : terms) {
      charge[term.part] += of->second / total * term.charge;
      flux[term.part] += of->second / total * term.flux;
      add_row(term.part, of->second / total * term.row);
    }
  }

  double largest = 0;
  for (const Factors* factors : {&charge, &flux})
    for (const auto& [part, factor] : *factors) largest = std::max(largest, std::abs(factor));
  Law law{{}, 1};
  for (const auto& [part, factor] : flux) {
    if (std::abs(factor) <= least_term * largest) continue;
    charge[part] -= factor / beta[part];
    law.rows[places_.number_of[part]] = factor / beta[part];
  }
  Factors charges;
  for (const auto& [part, factor] : charge)
    if (places_.number_of[part] >= 0) charges[places_.number_of[part]] += factor;
  law.charges = sorted(charges);
  for (const auto& [part, w] : weight)
    law_of_part_[places_.number_of[part]] = {static_cast<std::int32_t>(laws_.size()), w / total};
  laws_.push_back(std::move(law));
}

template <class T>
void ChargeRows<T>::add_given() {
  list_of_node_.assign(tree_.nodes.size(), -1);
  for (auto k = static_cast<std::int32_t>(tree_.nodes.size()) - 1; k >= 0; --k) {
    const Cluster& node = tree_.nodes[k];
    if (!is_given(node)) continue;
    const auto others_of = [&](std::int32_t half) -> const Charges& {
      return list_of_node_[half] >= 0
                 ? of_node_[list_of_node_[half]]
                 : others_of_part_[places_.trees.part[tree_.nodes[half].begin]];
    };
    Charges both = merged(others_of(node.left), others_of(node.right));
    list_of_node_[k] = static_cast<std::int32_t>(of_node_.size());
    of_node_.push_back(std::move(both));
  }
}

template <class T>
auto ChargeRows<T>::sorted(const Factors& factors) const -> Charges {
  Charges all;
  for (const auto& [number, factor] : factors) {
    all.number.push_back(number);
    all.factor.push_back(factor);
    all.sum_before.push_back(all.sum_before.back() + factor * places_.parts[number].charge_area);
  }
  return all;
}

template <class T>
auto ChargeRows<T>::merged(const Charges& a, const Charges& b) const -> Charges {
  Factors all;
  for (const Charges* charges : {&a, &b})
    for (std::size_t i = 0; i < charges->number.size(); ++i)
      all[charges->number[i]] += charges->factor[i];
  return sorted(all);
}

template <class T>
T ChargeRows<T>::sum_over(const Charges& charges, std::int32_t l) const {
  const Cluster& node = tree_.nodes[l];
  const std::int32_t first = places_.trees.part[node.begin],
                     last = places_.trees.part[node.end - 1];
  if (first < 0 || charges.number.empty()) return T(0);
  const auto from = std::lower_bound(charges.number.begin(), charges.number.end(), first);
  const auto to = std::upper_bound(from, charges.number.end(), last);
  const auto i = from - charges.number.begin(), j = to - charges.number.begin();
  if (first != last) return charges.sum_before[j] - charges.sum_before[i];
  return i == j ? T(0) : charges.factor[i] * charge_area_[l];
}

template <class T>
T ChargeRows<T>::row_factor(std::int32_t law, const Cluster& k) const {
  const auto at = laws_[law].rows.find(places_.trees.part[k.begin]);
  return at == laws_[law].rows.end() ? T(0) : at->second * k.area;
}

template <class T>
T ChargeRows<T>::given_entry(std::int32_t k, std::int32_t l) const {
  const Cluster &node = tree_.nodes[k], &of = tree_.nodes[l];
  // Of the others that the node itself holds only the sum of charges is known, which is given.
  if (of.begin >= node.begin && of.end <= node.end)
    return k == l ? T(charge_area_[k] / node.area) : T(0);
  return sum_over(of_node_[list_of_node_[k]], l) / node.area;
}

template class ChargeRows<double>;
template class ChargeRows<Complex>;

}  // namespace fmbem
