#include "fmbem/problems/solvation/binding_atoms.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "fmbem/meshes/csv_table.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem {
namespace {

constexpr const char* what_binding_needs =
    ": energies of binding need the same atoms with the same charges";

std::string contents_of(std::size_t atoms, double charge) {
  // Charges of forcefields add up to whole numbers but for their rounding.
  return counted(atoms, "atom") + " of together " + decimal(std::round(1e4 * charge) / 1e4) + " e";
}

/// The receptor or the ligand, with its atoms as they are in the complex.
struct PartInComplex {
  const char* name;
  const std::vector<Atom>* atoms;
  std::vector<const Atom*> in_complex{};  ///< [atoms]
};
using TwoParts = std::array<PartInComplex, 2>;

using AtomsByTitle = std::map<std::string, std::vector<const Atom*>>;

void add_by_title(const std::vector<Atom>& atoms, AtomsByTitle& result) {
  for (const Atom& atom : atoms) result[atom.title()].push_back(&atom);
}

/// Matches atoms; both sides have as many.
void match_atoms(const std::vector<Atom>& complex, TwoParts& parts) {
  AtomsByTitle together, apart;
  add_by_title(complex, together);
  for (const PartInComplex& part : parts) add_by_title(*part.atoms, apart);
  const auto is_unique = [&](const std::string& title) {
    const auto a = together.find(title), b = apart.find(title);
    return a != together.end() && b != apart.end() && a->second.size() == 1 &&
           b->second.size() == 1;
  };
  std::size_t next = 0;
  for (PartInComplex& part : parts) {
    part.in_complex.clear();
    for (const Atom& atom : *part.atoms) {
      const std::string title = atom.title();
      if (is_unique(title)) {
        part.in_complex.push_back(together[title][0]);
        continue;
      }
      while (is_unique(complex[next].title())) ++next;
      part.in_complex.push_back(&complex[next++]);
    }
  }
}

/// Of the charges as they were written, as far as their values tell.
int decimals_of_charges(const std::vector<Atom>& atoms) {
  constexpr int least = 4, most = 15;
  int decimals = least;
  for (const Atom& atom : atoms) {
    const auto is_all = [&](int count) {
      char text[512];
      std::snprintf(text, sizeof text, "%.*f", count, atom.charge);
      return parse_number(text) == atom.charge;
    };
    while (decimals < most && !is_all(decimals)) ++decimals;
  }
  return decimals;
}

std::string charges_differ(const PartInComplex& part, int decimals_of_complex) {
  const int decimals = std::min(decimals_of_complex, decimals_of_charges(*part.atoms));
  const double tolerance = 0.51 * std::pow(10, -decimals);  // of what is rounded in one file
  for (std::size_t i = 0; i < part.atoms->size(); ++i) {
    const Atom &alone = (*part.atoms)[i], &bound = *part.in_complex[i];
    if (std::abs(alone.charge - bound.charge) > tolerance)
      return "the atom " + bound.title_and_line() + " of the complex has the charge " +
             shortest_digits(bound.charge) + " e, but " + shortest_digits(alone.charge) +
             " e in the " + part.name + what_binding_needs;
  }
  return "";
}

/// Four atoms, or fewer, that distances from them tell where others are: the first one, and those
/// that are farthest from it, from the line and from the plane through them.
std::vector<std::size_t> far_atoms(const std::vector<Atom>& atoms) {
  std::vector<std::size_t> chosen{0};
  const auto place_of = [&](std::size_t i) { return atoms[i].place - atoms[0].place; };
  const auto add_farthest = [&](const std::function<double(Vec3d)>& distance) {
    std::size_t farthest = 0;
    for (std::size_t i = 1; i < atoms.size(); ++i)
      if (distance(place_of(i)) > distance(place_of(farthest))) farthest = i;
    chosen.push_back(farthest);
    return place_of(farthest);
  };
  const Vec3d a = add_farthest([](Vec3d x) { return norm(x); });
  const Vec3d b = add_farthest([&](Vec3d x) { return norm(cross(x, a)); });
  add_farthest([&](Vec3d x) { return std::abs(dot(x, cross(a, b))); });
  return chosen;
}

std::string distances_differ(const PartInComplex& part) {
  constexpr double tolerance = 5e-3;
  const std::vector<Atom>& alone = *part.atoms;
  if (alone.empty()) return "";
  for (const std::size_t far : far_atoms(alone))
    for (std::size_t i = 0; i < alone.size(); ++i) {
      const Atom &bound = *part.in_complex[i], &bound_far = *part.in_complex[far];
      const double in_part = norm(alone[i].place - alone[far].place),
                   in_complex = norm(bound.place - bound_far.place);
      if (std::abs(in_part - in_complex) > tolerance)
        return "the atoms " + bound.title_and_line() + " and " + bound_far.title_and_line() +
               " of the complex are " + decimal(in_complex) + " angstrom apart, but " +
               decimal(in_part) + " in the " + part.name +
               ": energies of binding need parts of the same shape";
    }
  return "";
}

std::string differences(const Molecule& complex, TwoParts parts) {
  match_atoms(complex.atoms, parts);
  const int decimals = decimals_of_charges(complex.atoms);
  for (const PartInComplex& part : parts) {
    if (std::string sentence = charges_differ(part, decimals); !sentence.empty()) return sentence;
    if (std::string sentence = distances_differ(part); !sentence.empty()) return sentence;
  }
  return "";
}

}  // namespace

std::string binding_atoms_differ(const Molecule& complex, const Molecule& receptor,
                                 const Molecule& ligand) {
  const std::size_t whole = complex.atoms.size(),
                    of_both = receptor.atoms.size() + ligand.atoms.size();
  if (whole != of_both)
    return "the complex has " + contents_of(whole, complex.charge()) + ", receptor and ligand " +
           contents_of(of_both, receptor.charge() + ligand.charge()) + what_binding_needs;
  TwoParts parts{{{"receptor", &receptor.atoms}, {"ligand", &ligand.atoms}}};
  const std::string sentence = differences(complex, parts);
  if (sentence.empty()) return "";
  std::swap(parts[0], parts[1]);
  return differences(complex, parts).empty() ? "" : sentence;
}

}  // namespace fmbem
