#include "fmbem/problems/known_charges.hpp"

#include <algorithm>
#include <complex>
#include <cstddef>
#include <map>
#include <utility>

#include "fmbem/bem/layer/complex_rows.hpp"

namespace fmbem {
namespace {

/// A sum of charges of parts, and of sums of the right-hand side over parts.
template <class T>
struct Law {
  std::map<std::int32_t, T> charges{}, sums{};
};

/// The factor of all parts of what is known, if that is one; 0 otherwise.
template <class T>
T common_factor(const Law<T>& law, const KnownCharge<T>& known) {
  const auto first = law.charges.find(known.parts.front());
  if (first == law.charges.end()) return T(0);
  for (const std::int32_t part : known.parts) {
    const auto other = law.charges.find(part);
    if (other == law.charges.end() || other->second != first->second) return T(0);
  }
  return first->second;
}

/// Replaces known charges in a law until there is none, by looking at those that it has. Each is of
/// bodies outside of those whose charges it asks for, so that this ends. What the part of the law
/// belongs to stays: the law is its own.
template <class T>
class Replacement {
 public:
  explicit Replacement(std::span<const KnownCharge<T>> known) {
    for (const KnownCharge<T>& one : known) known_of_.emplace(one.parts.front(), &one);
  }

  void operator()(std::int32_t part_of_law, Law<T>& law) const {
    while (const KnownCharge<T>* const one = next(part_of_law, law)) {
      const T factor = law.charges.at(one->parts.front());
      for (const std::int32_t part : one->parts) law.charges.erase(part);
      for (const auto& [part, f] : one->charges) law.charges[part] += factor * f;
      for (const auto& [part, f] : one->sums) law.sums[part] += factor * f;
    }
  }

 private:
  /// The first that is in the law: what hangs together comes before a wall of it.
  const KnownCharge<T>* next(std::int32_t part_of_law, const Law<T>& law) const {
    const KnownCharge<T>* first = nullptr;
    for (const auto& charge : law.charges) {
      const auto [begin, end] = known_of_.equal_range(charge.first);
      for (auto at = begin; at != end; ++at) {
        const KnownCharge<T>* const one = at->second;
        if ((!first || one < first) && common_factor(law, *one) != T(0) &&
            std::count(one->parts.begin(), one->parts.end(), part_of_law) == 0)
          first = one;
      }
    }
    return first;
  }

  std::multimap<std::int32_t, const KnownCharge<T>*> known_of_;  ///< by the first of their parts
};

}  // namespace

template <class T, class Rows>
std::vector<BasicPartShift<T>> put_in_known_charges(std::span<const KnownCharge<T>> known,
                                                    Rows& rows) {
  const Replacement<T> replace(known);
  std::vector<BasicPartShift<T>> shifts;
  const auto add = [&](std::int32_t part, const Law<T>& law) {
    BasicPartShift<T> shift{part, {}};
    for (const auto& [from, factor] : law.sums)
      if (factor != T(0)) shift.terms.push_back({from, T(0), T(0), -factor});
    if (!shift.terms.empty()) shifts.push_back(std::move(shift));
  };
  for (auto& equation : rows.equations) {
    Law<T> law;
    for (const auto& [part, factor] : equation.others) law.charges[part] += factor;
    replace(equation.part, law);
    equation.others.clear();
    for (const auto& [part, factor] : law.charges)
      if (factor != T(0)) equation.others.push_back({part, factor});
    add(equation.part, law);
  }
  for (auto& shift : rows.shifts) {
    Law<T> law;
    for (const auto& term : shift.terms)
      if (term.charge != T(0)) law.charges[term.part] += term.charge;
    replace(shift.part, law);
    for (auto& term : shift.terms) {
      const auto left = law.charges.find(term.part);
      term.charge = left == law.charges.end() ? T(0) : left->second;
      if (left != law.charges.end()) law.charges.erase(left);
    }
    for (const auto& [part, factor] : law.charges)
      if (factor != T(0)) shift.terms.push_back({part, factor, T(0), T(0)});
    std::erase_if(shift.terms, [](const auto& term) {
      return term.charge == T(0) && term.flux == T(0) && term.row == T(0);
    });
    add(shift.part, law);
  }
  return shifts;
}

template std::vector<BasicPartShift<double>> put_in_known_charges(
    std::span<const KnownCharge<double>>, MixedRows&);
template std::vector<BasicPartShift<Complex>> put_in_known_charges(
    std::span<const KnownCharge<Complex>>, ComplexRows&);

}  // namespace fmbem
