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
ChargeLaws<T>::ChargeLaws(const MixedPlaces& places, const BasicMixedRows<T>& rows)
    : places_(places),
      law_of_part_(places.parts.size(), -1),
      share_of_part_(places.parts.size(), T(0)),
      others_of_part_(places.parts.size()) {
  add_equations(rows);
  add_stretched(rows);
}

template <class T>
void ChargeLaws<T>::add_equations(const BasicMixedRows<T>& rows) {
  for (std::size_t p = 0; p < places_.parts.size(); ++p) {
    const MixedPlaces::Part& part = places_.parts[p];
    if (part.equation < 0) continue;
    Factors others;
    for (const auto& [other, factor] : rows.equations[part.equation].others)
      if (places_.number_of[other] >= 0) others[places_.number_of[other]] += factor;
    others_of_part_[p] = others;
    others[static_cast<std::int32_t>(p)] += T(1);
    law_of_part_[p] = static_cast<std::int32_t>(size());
    share_of_part_[p] = T(1 / part.area);
    add(charges_, others);
    add(rows_, {});
    area_.push_back(part.area);
  }
}

template <class T>
void ChargeLaws<T>::add_stretched(const BasicMixedRows<T>& rows) {
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
void ChargeLaws<T>::add_stretched(const BasicMixedRows<T>& rows,
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
  Factors of_rows;
  for (const auto& [part, factor] : flux) {
    if (std::abs(factor) <= least_term * largest) continue;
    charge[part] -= factor / beta[part];
    of_rows[places_.number_of[part]] = factor / beta[part];
  }
  Factors charges;
  for (const auto& [part, factor] : charge)
    if (places_.number_of[part] >= 0) charges[places_.number_of[part]] += factor;
  for (const auto& [part, w] : weight) {
    law_of_part_[places_.number_of[part]] = static_cast<std::int32_t>(size());
    share_of_part_[places_.number_of[part]] = w / total;
  }
  add(charges_, charges);
  add(rows_, of_rows);
  area_.push_back(1);
}

template <class T>
void ChargeLaws<T>::add(Lists& lists, const Factors& factors) const {
  T sum(0);
  for (const auto& [number, factor] : factors) {
    lists.number.push_back(number);
    lists.factor.push_back(factor);
    lists.sum_before.push_back(sum);
    sum += factor * places_.parts[number].charge_area;
  }
  lists.sum_before.push_back(sum);
  lists.begin.push_back(static_cast<std::int32_t>(lists.number.size()));
}

template <class T>
auto ChargeLaws<T>::others_of(std::span<const std::pair<std::int32_t, std::int32_t>> ranges) const
    -> Lists {
  Lists lists;
  for (const auto& [first, last] : ranges) {
    Factors all;
    for (std::int32_t p = first; p <= last; ++p)
      for (const auto& [number, factor] : others_of_part_[p]) all[number] += factor;
    add(lists, all);
  }
  return lists;
}

template <class T>
ChargeRows<T>::ChargeRows(const MixedPlaces& places, const BasicMixedRows<T>& rows,
                          const ClusterTree& tree)
    : places_(places),
      tree_(tree),
      laws_(places, rows),
      charge_area_(tree.nodes.size()),
      list_of_(tree.nodes.size(), -1) {
  tree.for_children_first([&](std::int32_t k) {
    const Cluster& node = tree.nodes[k];
    charge_area_[k] = node.is_panel() ? charge_weight(rows, tree.panel(node.begin)) * node.area
                                      : charge_area_[node.left] + charge_area_[node.right];
  });
  std::vector<std::pair<std::int32_t, std::int32_t>> ranges;
  const LawsOfNodes<T> laws = view();
  for (std::int32_t k = 0; k < static_cast<std::int32_t>(list_of_.size()); ++k) {
    if (laws_.size() == 0 || !laws.is_given(k)) continue;
    list_of_[k] = static_cast<std::int32_t>(ranges.size());
    ranges.emplace_back(laws.parts.first(k), laws.parts.last(k));
  }
  others_ = laws_.others_of(ranges);
}

template <class T>
LawsOfNodes<T> ChargeRows<T>::view() const {
  return {{tree_.nodes.data(), places_.trees.part.data()},
          charge_area_.data(),
          laws_.law_of_part().data(),
          laws_.share_of_part().data(),
          laws_.charges().view(),
          laws_.area().data(),
          laws_.rows().view(),
          others_.view(),
          list_of_.data()};
}

template class ChargeLaws<double>;
template class ChargeLaws<Complex>;
template class ChargeRows<double>;
template class ChargeRows<Complex>;

}  // namespace fmbem
