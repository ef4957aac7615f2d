#include "fmbem/problems/solvation/binding_atoms.hpp"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/catch.hpp"
#include "tests/unit/molecules.hpp"

namespace fmbem::test::binding_atoms_tests {

namespace {

/// n atoms of a chain at places of no symmetry, named N0, N1, …, with charges of four decimals.
std::vector<Atom> chain_of(const std::string& chain, int n, Vec3d shift) {
  std::vector<Atom> atoms;
  for (int i = 0; i < n; ++i) {
    const Vec3d place{std::cos(2.0 * i), std::sin(3.0 * i), 0.7 * i};
    atoms.push_back(atom_at(shift + place, std::round(1e4 * std::cos(5.0 * i)) / 1e4));
    atoms.back().name = "N" + std::to_string(i);
    atoms.back().chain = chain;
  }
  return atoms;
}

std::vector<Atom> together(std::vector<Atom> one, const std::vector<Atom>& other) {
  one.insert(one.end(), other.begin(), other.end());
  return one;
}

struct Parts {
  std::vector<Atom> receptor = chain_of("A", 7, {}), ligand = chain_of("B", 5, {9, 1, 0});
  std::vector<Atom> complex = together(receptor, ligand);
  std::string differ() const {
    return binding_atoms_differ(molecule_of(complex), molecule_of(receptor), molecule_of(ligand));
  }
};

Vec3d turned(Vec3d x) { return {3.3 - x.y, -20.1 - x.z, x.x + 7.7}; }

}  // namespace

TEST_CASE("parts that are in the complex differ in nothing, wherever they are") {
  Parts parts;
  CHECK(parts.differ() == "");
  for (Atom& atom : parts.ligand) {
    atom.place = turned(atom.place);
    for (int axis = 0; axis < 3; ++axis)  // as files of three decimals have it
      atom.place[axis] = 1e-3 * std::round(1e3 * atom.place[axis]);
  }
  CHECK(parts.differ() == "");
  SECTION("with the ligand first") {
    parts.complex = together(chain_of("B", 5, {}), parts.receptor);
  }
  SECTION("in another order") { std::swap(parts.ligand[1], parts.ligand[3]); }
  SECTION("with another chain") {
    for (Atom& atom : parts.ligand) atom.chain = "X";
  }
  SECTION("with one name for all") {
    for (std::vector<Atom>* atoms : {&parts.complex, &parts.receptor, &parts.ligand})
      for (Atom& atom : *atoms) atom.name = "N";
    SECTION("and the ligand first") {
      parts.complex = together({parts.complex.begin() + 7, parts.complex.end()}, parts.receptor);
    }
  }
  SECTION("with more decimals of charges in one file") {
    for (Atom& atom : parts.complex) atom.charge += 4.9e-5 * std::sin(3 * atom.place.x);
  }
  CHECK(parts.differ() == "");
}

TEST_CASE("the first atom with another charge is named") {
  Parts parts;
  const bool have_unique_names = GENERATE(true, false);
  if (!have_unique_names)
    for (std::vector<Atom>* atoms : {&parts.complex, &parts.receptor, &parts.ligand})
      for (Atom& atom : *atoms) atom.name = "N";
  const std::string name = have_unique_names ? "N2" : "N";
  SECTION("where two are exchanged") {
    std::swap(parts.ligand[2].charge, parts.ligand[4].charge);
    CHECK_THAT(parts.differ(), contains("the atom " + name + " of ION B 1 (line 10)") &&
                                   contains("-0.8391 e, but 0.4081 e in the ligand"));
  }
  SECTION("where one differs in the fourth decimal") {
    parts.receptor[2].charge += 1e-4;
    CHECK_THAT(parts.differ(), contains("the atom " + name + " of ION A 1 (line 3)") &&
                                   contains("in the receptor"));
  }
  SECTION("where all files have six decimals, in the sixth") {
    for (std::vector<Atom>* atoms : {&parts.complex, &parts.receptor, &parts.ligand})
      for (Atom& atom : *atoms) atom.charge += 3e-6;
    CHECK(parts.differ() == "");
    parts.ligand[0].charge += 1e-6;
    CHECK_THAT(parts.differ(), contains("(line 8)") && contains("1.000003 e, but 1.000004 e"));
  }
}

TEST_CASE("parts of another shape than in the complex are told by two atoms") {
  Parts parts;
  SECTION("one atom elsewhere") {
    parts.ligand[3].place.y += 0.02;
    CHECK_THAT(parts.differ(), contains("N3 of ION B 1") && contains("in the ligand"));
  }
  SECTION("all elsewhere, and one not as the others") {
    for (Atom& atom : parts.receptor) atom.place = turned(atom.place);
    CHECK(parts.differ() == "");
    parts.receptor[5].place.z -= 0.03;
    CHECK_THAT(parts.differ(), contains("N5 of ION A 1") && contains("in the receptor"));
  }
  SECTION("larger") {
    for (Atom& atom : parts.ligand) atom.place = 1.01 * atom.place;
    CHECK_THAT(parts.differ(), contains("of the same shape"));
  }
}

TEST_CASE("parts with other numbers of atoms are told by these") {
  Parts parts;
  parts.ligand.pop_back();
  CHECK_THAT(parts.differ(), contains("the complex has 12 atoms") && contains("ligand 11 atoms"));
  parts.ligand.clear();
  CHECK_THAT(parts.differ(), contains("ligand 7 atoms"));
}

}  // namespace fmbem::test::binding_atoms_tests
