#include "fmbem/problems/solvation/charge_sets.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {

void refuse_coincident_charges(const Molecule& molecule) {
  std::vector<std::size_t> order;
  for (std::size_t a = 0; a < molecule.atoms.size(); ++a)
    if (molecule.atoms[a].charge != 0) order.push_back(a);
  const auto key = [&](std::size_t a) {
    const Vec3d x = molecule.atoms[a].place;
    return std::tuple(x.x, x.y, x.z);
  };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(key(a), a) < std::pair(key(b), b);
  });
  for (std::size_t k = 1; k < order.size(); ++k) {
    const Atom& a = molecule.atoms[order[k - 1]];
    const Atom& b = molecule.atoms[order[k]];
    FMBEM_REQUIRE(key(order[k - 1]) != key(order[k]),
                  molecule.file << ", line " << b.line << ": the atom " << b.title()
                                << " has a charge at the place of " << a.title() << ", line "
                                << a.line);
  }
}

std::vector<ChargeSet> charge_sets_of(const Molecule& sites) {
  std::vector<ChargeSet> sets;
  for (const Atom& atom : sites.atoms) {
    const std::string title = atom.residue_title();
    if (sets.empty() || sets.back().name != title) sets.push_back({title, {}});
    if (atom.charge != 0) sets.back().atoms.push_back(atom);
  }
  std::set<std::string> names;
  for (const ChargeSet& set : sets) {
    FMBEM_REQUIRE(!set.atoms.empty(), sites.file << ": the site " << set.name << " has no charge");
    FMBEM_REQUIRE(names.insert(set.name).second,
                  sites.file << ": the site " << set.name
                             << " comes up twice: atoms of a site follow each other, and sites "
                                "differ in residue, chain or number");
  }
  return sets;
}

}  // namespace fmbem
