#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fmbem/fmm/base/vec3.hpp"

namespace fmbem {

struct Atom {
  Vec3d place;                                                ///< angstrom
  double charge = 0;                                          ///< elementary charges
  double radius = 0;                                          ///< angstrom; 0 is usual of hydrogens
  std::string record = "ATOM", serial, name, residue, chain;  ///< the chain may be empty
  std::string residue_number;                                 ///< with its insertion code
  std::size_t line = 0;                                       ///< of the file, from 1

  /// "CA of LYS A 13"
  std::string title() const;
  std::string title_and_line() const;  ///< for messages: … (line N)
  /// "LYS A 13"
  std::string residue_title() const;
};

struct Molecule {
  std::vector<Atom> atoms;
  std::string file;
  std::vector<std::string> notices;  ///< one sentence each

  double charge() const;  ///< of all atoms
};

/// Atoms that have residue, chain and number in common, wherever they stand.
struct Residue {
  std::string title;
  std::vector<std::size_t> atoms;  ///< ascending
};

/// In the order of their first atoms. O(n).
std::vector<Residue> residues_of(const std::vector<Atom>& atoms);

/// Reads the atoms of a PQR file: lines ATOM and HETATM of serial, name, residue, chain (may be
/// missing), residue number, x, y, z, charge, radius and, perhaps, one more number and more words,
/// such as an element. Fields are separated by blanks or tabs; numbers that run together because
/// the second is negative are told apart, and what is left are the columns of a PDB file. Of
/// several models (MODEL, ENDMDL, END) the first is read. Other records are left out, and so is
/// what follows a #, unless it is in a name. Throws InputError naming file and line for an atom
/// that cannot be read, or in two ways, for a number that is not finite, a negative radius and
/// lines that are no records, and for a file without atoms or with those of a PDB file.
Molecule read_pqr(const std::string& file);

/// What tables of atoms begin with: headings, and the fields of an atom.
std::vector<std::string> atom_columns();
std::vector<std::string> atom_fields(const Atom& atom);

/// Writes the atoms as a PQR file with a column behind the radius, a number for each atom, which
/// the comment at the top explains; read_pqr() reads the same atoms from it. The file appears whole
/// or not at all. Throws InputError for an unwritable path and ResourceError when the disk is full.
void write_pqr(const std::string& path, const std::vector<Atom>& atoms,
               const std::vector<double>& column, const std::string& comment);

}  // namespace fmbem
