#include "fmbem/problems/solvation/charge_sets.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

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
  for (const Residue& residue : residues_of(sites.atoms)) {
    ChargeSet set{residue.title, {}};
    for (const std::size_t a : residue.atoms)
      if (sites.atoms[a].charge != 0) set.atoms.push_back(sites.atoms[a]);
    FMBEM_REQUIRE(!set.atoms.empty(), sites.file << ": the site " << set.name << " has no charge");
    sets.push_back(std::move(set));
  }
  return sets;
}

}  // namespace fmbem
