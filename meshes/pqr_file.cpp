#include "fmbem/meshes/pqr_file.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/csv_table.hpp"
#include "fmbem/meshes/output_file.hpp"
#include "fmbem/meshes/read_file.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem {
namespace {

using Words = std::vector<std::string_view>;

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// Whether it is a number, even one that is not finite.
bool is_number(std::string_view word) {
  if (word.starts_with('+') && !word.starts_with("+-")) word.remove_prefix(1);
  double value;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return end == word.data() + word.size() && (error == std::errc{} || !word.empty());
}

/// The numbers of a word in which each but the first begins with its sign, as 1.5-2.25; else the
/// word itself.
Words split_at_signs(std::string_view word) {
  Words parts;
  std::size_t begin = 0;
  for (std::size_t i = 1; i < word.size(); ++i)
    if ((word[i] == '-' || word[i] == '+') && word[i - 1] != 'e' && word[i - 1] != 'E') {
      parts.push_back(word.substr(begin, i - begin));
      begin = i;
    }
  parts.push_back(word.substr(begin));
  return std::all_of(parts.begin(), parts.end(), is_number) ? parts : Words{word};
}

Words words_of(std::string_view line) {
  Words words;
  for (const std::string_view word : words_between(line))
    for (const std::string_view part : split_at_signs(word)) words.push_back(part);
  return words;
}

/// A number with, perhaps, a chain's letter before it and an insertion code behind: -5, 52A, A1000.
bool is_residue_number(std::string_view word) {
  if (!word.empty() && std::isalpha(static_cast<unsigned char>(word.front())))
    word.remove_prefix(1);
  if (!word.empty() && std::isalpha(static_cast<unsigned char>(word.back()))) word.remove_suffix(1);
  if (!word.empty() && (word.front() == '-' || word.front() == '+')) word.remove_prefix(1);
  return !word.empty() &&
         std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c); });
}

/// What a line holds of an atom, as text.
struct AtomFields {
  std::string_view serial, name, residue, chain, number;
  std::array<std::string_view, 5> values;  ///< x y z charge radius
};

bool is_digits(std::string_view word) {
  return !word.empty() &&
         std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c); });
}

/// What follows ATOM or HETATM, up to a #. That may be part of the names, which are the first four
/// words: ### is a residue without one.
std::string_view without_comment(std::string_view rest) {
  constexpr std::size_t names = 4;
  const Words words = words_of(rest);
  for (std::size_t k = names; k < words.size(); ++k)
    if (const std::size_t at = words[k].find('#'); at != words[k].npos)
      return rest.substr(0, static_cast<std::size_t>(words[k].data() - rest.data()) + at);
  return rest;
}

/// A digit and a whole number behind the residue's name are a chain and the residue's number, or
/// this number and x. Coordinates of one atom look alike, with a point or without, so that where
/// all three behind them have one they are the former, which leaves too few words or not.
bool is_ambiguous(const Words& words) {
  if (!is_digits(words[3]) || !is_residue_number(words[4])) return false;
  const auto has_point = [&](std::size_t k) { return words[k].find('.') != words[k].npos; };
  if (words.size() == 10) return !has_point(5) && !has_point(6);
  return words.size() == 9 && words[3].size() == 1 && has_point(5) && has_point(6) && has_point(7);
}

/// By separators, with a chain or none, and perhaps one more number behind the radius.
std::optional<AtomFields> fields_by_words(const Words& words) {
  const bool has_chain = words.size() == 11 || (words.size() == 10 && is_residue_number(words[4]));
  const std::size_t first_value = has_chain ? 5 : 4;
  if (words.size() < first_value + 5 || words.size() > first_value + 6) return {};
  AtomFields fields{words[0], words[1], words[2], {}, words[first_value - 1], {}};
  if (has_chain) fields.chain = words[3];
  std::copy_n(words.begin() + static_cast<std::ptrdiff_t>(first_value), 5, fields.values.begin());
  if (!is_residue_number(fields.number) ||
      !std::all_of(words.begin() + static_cast<std::ptrdiff_t>(first_value), words.end(),
                   is_number))
    return {};
  if (!has_chain && std::isalpha(static_cast<unsigned char>(fields.number.front()))) {
    fields.chain = fields.number.substr(0, 1);
    fields.number.remove_prefix(1);
  }
  return fields;
}

/// The columns first to last of a line, from 1, without blanks around.
std::string_view columns_of(std::string_view line, std::size_t first, std::size_t last) {
  if (line.size() < first) return {};
  return trimmed(line.substr(first - 1, last - first + 1));
}

/// Whether a number with that many decimals ends in that column, from 1.
bool has_decimals(std::string_view line, std::size_t last_column, std::size_t decimals) {
  return line.size() >= last_column && line[last_column - 1 - decimals] == '.' &&
         is_digits(line.substr(last_column - decimals, decimals));
}

/// By the columns of a PDB file, where coordinates have three decimals; charge and radius follow.
std::optional<AtomFields> fields_by_columns(std::string_view line) {
  for (const std::size_t last_column : {38, 46, 54})
    if (!has_decimals(line, last_column, 3)) return {};
  AtomFields fields{columns_of(line, 7, 11),
                    columns_of(line, 13, 16),
                    columns_of(line, 18, 21),
                    columns_of(line, 22, 22),
                    columns_of(line, 23, 27),
                    {columns_of(line, 31, 38), columns_of(line, 39, 46), columns_of(line, 47, 54)}};
  const Words last = words_of(line.substr(54));
  if (last.size() < 2) return {};
  fields.values[3] = last[0];
  fields.values[4] = last[1];
  if (!is_residue_number(fields.number) ||
      !std::all_of(fields.values.begin(), fields.values.end(), is_number))
    return {};
  return fields;
}

/// Whether occupancy and B factor stand where a PDB file has them, in columns 55 to 66 with two
/// decimals, which PQR files may have, too; and an element in its columns, unless `has_records`.
bool is_line_of_pdb(std::string_view line, bool has_records) {
  const std::string_view element = columns_of(line, 77, 78);
  const bool has_element =
      !element.empty() &&
      std::all_of(element.begin(), element.end(), [](unsigned char c) { return std::isalpha(c); });
  return has_decimals(line, 60, 2) && has_decimals(line, 66, 2) &&
         columns_of(line, 67, 67).empty() && (has_element || has_records);
}

Atom read_atom(std::string_view line, std::string_view record, const std::string& where) {
  const std::string_view rest = without_comment(line.substr(record.size()));
  line = line.substr(0, record.size() + rest.size());
  Words words = words_of(rest);
  while (!words.empty() && !is_number(words.back())) words.pop_back();  // such as an element
  FMBEM_REQUIRE(words.size() < 9 || !is_ambiguous(words),
                where << " can be read in two ways, as " << words[3] << " and " << words[4]
                      << " may be chain and residue number or residue number and x: write "
                         "coordinates with a decimal point, and charge and radius behind them");
  std::optional<AtomFields> fields = fields_by_words(words);
  if (!fields) fields = fields_by_columns(line);
  FMBEM_REQUIRE(fields, where << " is no atom of a PQR file: it needs serial, name, residue, chain "
                                 "(or none), residue number, x, y, z, charge and radius");
  constexpr const char* names[] = {"x", "y", "z", "charge", "radius"};
  double values[5];
  for (int k = 0; k < 5; ++k) {
    const std::optional<double> value = parse_number(fields->values[k]);
    FMBEM_REQUIRE(value, where << ": " << names[k] << " is not finite, but " << fields->values[k]);
    values[k] = *value;
  }
  FMBEM_REQUIRE(values[4] >= 0, where << ": the radius is negative, " << values[4]);
  return {{values[0], values[1], values[2]},
          values[3],
          values[4],
          std::string(record),
          std::string(fields->serial),
          std::string(fields->name),
          std::string(fields->residue),
          std::string(fields->chain),
          std::string(fields->number)};
}

/// Of PDB files; pdb2pqr may leave them in the PQR file.
bool is_record_of_pdb(std::string_view name) {
  constexpr std::string_view names[] = {"HEADER", "COMPND", "KEYWDS", "EXPDTA", "SEQRES",
                                        "CRYST",  "ORIGX",  "SCALE",  "ANISOU", "MASTER"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

/// The word of letters that a line begins with, in capitals: a record's name.
std::string record_name(std::string_view line) {
  std::string name;
  for (const unsigned char c : line) {
    if (!std::isalpha(c)) break;
    name += static_cast<char>(std::toupper(c));
  }
  return name;
}

}  // namespace

std::string Atom::residue_title() const {
  return residue + " " + (chain.empty() ? "" : chain + " ") + residue_number;
}
std::string Atom::title() const { return name + " of " + residue_title(); }

std::string Atom::title_and_line() const {
  return title() + " (line " + std::to_string(line) + ")";
}

double Molecule::charge() const {
  double sum = 0;
  for (const Atom& atom : atoms) sum += atom.charge;
  return sum;
}

std::vector<Residue> residues_of(const std::vector<Atom>& atoms) {
  std::vector<Residue> residues;
  std::unordered_map<std::string, std::size_t> number_of;
  for (std::size_t a = 0; a < atoms.size(); ++a) {
    const std::string title = atoms[a].residue_title();
    const auto [found, is_new] = number_of.try_emplace(title, residues.size());
    if (is_new) residues.push_back({title, {}});
    residues[found->second].atoms.push_back(a);
  }
  return residues;
}

Molecule read_pqr(const std::string& file) {
  FMBEM_REQUIRE(
      ending(file) != "pdb" && ending(file) != "ent",
      file << " is a PDB file, without charges and radii: pdb2pqr makes a PQR file of it");
  const std::string text = read_file(file);
  Molecule molecule;
  molecule.file = file;
  std::size_t number = 0, left_out = 0;
  bool first_model = true, has_records_of_pdb = false;
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view line = take_line(rest);
    const std::string where = file + ", line " + std::to_string(++number);
    // A residue's name may be ### where an atom has none.
    if (const std::string name = record_name(line); name != "ATOM" && name != "HETATM")
      line = line.substr(0, line.find('#'));
    if (trimmed(line).empty()) continue;
    const std::string name = record_name(line);
    FMBEM_REQUIRE(!name.empty(), where << " is no record of a PQR file, such as ATOM");
    if (name == "ATOM" || name == "HETATM") {
      if (!first_model) {
        ++left_out;
        continue;
      }
      FMBEM_REQUIRE(!is_line_of_pdb(line, has_records_of_pdb),
                    where << " has an occupancy and a B factor, as in a PDB file, in the place of "
                             "charge and radius: pdb2pqr makes a PQR file of it");
      molecule.atoms.push_back(read_atom(line, line.substr(0, name.size()), where));
      molecule.atoms.back().record = name;
      molecule.atoms.back().line = number;
    } else if (name == "ENDMDL" || name == "END" || name == "MODEL") {
      first_model = molecule.atoms.empty();
    } else {
      has_records_of_pdb = has_records_of_pdb || is_record_of_pdb(name);
    }
  }
  FMBEM_REQUIRE(!molecule.atoms.empty(), file << " has no atoms");
  if (left_out > 0)
    molecule.notices.push_back(file + " has several models: of the first " +
                               counted(molecule.atoms.size(), "atom was", "atoms were") +
                               " read, and " + std::to_string(left_out) + " of others left out");
  return molecule;
}

std::vector<std::string> atom_columns() {
  return {"serial",       "name",         "residue",      "chain",     "number",
          "x [angstrom]", "y [angstrom]", "z [angstrom]", "charge [e]"};
}

std::vector<std::string> atom_fields(const Atom& atom) {
  return {atom.serial,
          atom.name,
          atom.residue,
          atom.chain,
          atom.residue_number,
          shortest_digits(atom.place.x),
          shortest_digits(atom.place.y),
          shortest_digits(atom.place.z),
          shortest_digits(atom.charge)};
}

namespace {

/// With four decimals, or as many digits as the number has.
std::string all_digits(double value) {
  if (std::abs(value) >= 1e15) return shortest_digits(value);
  char text[32];
  std::snprintf(text, sizeof text, "%.4f", value);
  return parse_number(text) == value ? text : shortest_digits(value);
}

}  // namespace

void write_pqr(const std::string& path, const std::vector<Atom>& atoms,
               const std::vector<double>& column, const std::string& comment) {
  std::string text = "REMARK " + comment + "\n";
  for (std::size_t i = 0; i < atoms.size(); ++i) {
    const Atom& atom = atoms[i];
    char line[512];
    std::snprintf(line, sizeof line,
                  "%-6s %5.12s %-4.12s %-4.12s %1.12s %5.12s %10s %10s %10s %8s "
                  "%7s %.10g\n",
                  atom.record.c_str(), atom.serial.c_str(), atom.name.c_str(), atom.residue.c_str(),
                  atom.chain.c_str(), atom.residue_number.c_str(), all_digits(atom.place.x).c_str(),
                  all_digits(atom.place.y).c_str(), all_digits(atom.place.z).c_str(),
                  all_digits(atom.charge).c_str(), all_digits(atom.radius).c_str(), column[i]);
    text += line;
  }
  write_whole(path, text + "END\n");
}

}  // namespace fmbem
