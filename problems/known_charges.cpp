#include "fmbem/problems/known_charges.hpp"

#include <algorithm>
#include <complex>
#include <cstddef>
#include <map>

#include "fmbem/bem/layer/complex_rows.hpp"
#include "fmbem/bem/layer/mixed_rows.hpp"

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

/// Known charges are replaced until there is none. Each is of bodies outside of those whose charges
/// it asks for, so that this ends. What `part_of_law` belongs to stays: the law is its own.
template <class T>
void replace(std::span<const KnownCharge<T>> known, std::int32_t part_of_law, Law<T>& law) {
  for (bool is_changed = true; is_changed;) {
    is_changed = false;
    for (const KnownCharge<T>& one : known) {
      const T factor = common_factor(law, one);
      if (factor == T(0) || std::count(one.parts.begin(), one.parts.end(), part_of_law) > 0)
        continue;
      for (const std::int32_t part : one.parts) law.charges.erase(part);
      for (const auto& [part, f] : one.charges) law.charges[part] += factor * f;
      for (const auto& [part, f] : one.sums) law.sums[part] += factor * f;
      is_changed = true;
    }
  }
}

}  // namespace

template <class T, class Rows>
std::vector<KnownTerm<T>> put_in_known_charges(std::vector<KnownCharge<T>> known, Rows& rows) {
  std::vector<KnownTerm<T>> terms;
  const auto add = [&](std::int32_t part, const Law<T>& law) {
    for (const auto& [from, factor] : law.sums)
      if (factor != T(0)) terms.push_back({part, from, -factor});
  };
  for (auto& equation : rows.equations) {
    Law<T> law;
    for (const auto& [part, factor] : equation.others) law.charges[part] += factor;
    replace<T>(known, equation.part, law);
    equation.others.clear();
    for (const auto& [part, factor] : law.charges)
      if (factor != T(0)) equation.others.push_back({part, factor});
    add(equation.part, law);
  }
  for (auto& shift : rows.shifts) {
    Law<T> law;
    for (const auto& term : shift.terms)
      if (term.charge != T(0)) law.charges[term.part] += term.charge;
    replace<T>(known, shift.part, law);
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
  return terms;
}

template std::vector<KnownTerm<double>> put_in_known_charges(std::vector<KnownCharge<double>>,
                                                             MixedRows&);
template std::vector<KnownTerm<Complex>> put_in_known_charges(std::vector<KnownCharge<Complex>>,
                                                              ComplexRows&);

}  // namespace fmbem
