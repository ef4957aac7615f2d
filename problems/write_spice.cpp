#include "fmbem/problems/write_spice.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/csv_table.hpp"
#include "fmbem/meshes/output_file.hpp"

namespace fmbem {
namespace {

std::string in_capitals(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

bool is_legal(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::string legal_name(const std::string& name) {
  std::string result;
  for (const char c : name) result += is_legal(c) ? c : '_';
  const bool needs_letter = result.empty() || std::isdigit(static_cast<unsigned char>(result[0]));
  const bool needs_prefix = needs_letter || in_capitals(result) == "GND";
  return std::string(needs_prefix ? "n_" : "").append(result);
}

std::string comment(const std::string& text) {
  std::string line = "* ";
  for (const char c : text) line += static_cast<unsigned char>(c) < 32 ? '?' : c;
  return line += '\n';
}

/// A statement, continued on the next line where it would get long.
std::string statement(const std::vector<std::string>& words) {
  constexpr std::size_t most = 80;
  std::string text;
  std::size_t length = 0;
  for (const std::string& word : words) {
    if (length > 0 && length + 1 + word.size() > most) {
      text += "\n+";
      length = 1;
    }
    if (length > 0) text += ' ';
    text += word;
    length += word.size() + 1;
  }
  return text += '\n';
}

/// The capacitors that stay, with what is left out on the diagonal.
SquareMatrix capacitors_of(const SpiceCircuit& circuit) {
  const SquareMatrix& maxwell = circuit.maxwell;
  SquareMatrix result = mutual_capacitance(maxwell);
  for (std::size_t i = 0; i < result.n; ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const double least = circuit.threshold * std::min(maxwell(i, i), maxwell(j, j));
      if (result(i, j) > 0 && result(i, j) >= least) continue;
      result(i, i) += result(i, j);
      result(j, j) += result(i, j);
      result(i, j) = result(j, i) = 0;
    }
  return result;
}

}  // namespace

std::vector<std::string> spice_names(const std::vector<std::string>& names) {
  std::vector<std::string> result;
  std::set<std::string> taken;
  for (const std::string& name : names) {
    const std::string legal = legal_name(name);
    std::string unique = legal;
    for (int k = 2; !taken.insert(in_capitals(unique)).second; ++k)
      unique = std::string(legal).append("_").append(std::to_string(k));
    result.push_back(unique);
  }
  return result;
}

void write_spice(const std::string& path, const SpiceCircuit& circuit) {
  FMBEM_REQUIRE(circuit.threshold >= 0 && std::isfinite(circuit.threshold),
                "a circuit's threshold must be 0 or more, not " << circuit.threshold);
  const std::vector<std::string> pins = spice_names(circuit.nets);
  const std::string name = legal_name(circuit.name);
  const SquareMatrix capacitors = capacitors_of(circuit);
  std::string text;
  for (const std::string& note : circuit.notes) text += comment(note);
  for (std::size_t i = 0; i < pins.size(); ++i)
    if (pins[i] != circuit.nets[i]) text += comment(pins[i] + ": " + circuit.nets[i]);
  std::vector<std::string> head{".subckt", name};
  head.insert(head.end(), pins.begin(), pins.end());
  text += statement(head);
  int count = 0;
  const auto add = [&](const std::string& from, const std::string& to, double farads) {
    text += statement(
        {std::string("C").append(std::to_string(++count)), from, to, shortest_digits(farads)});
  };
  for (std::size_t i = 0; i < pins.size(); ++i) {
    if (capacitors(i, i) > 0)
      add(pins[i], "0", capacitors(i, i));
    else
      text += comment(pins[i] + " has no capacitor to ground, as that would be " +
                      shortest_digits(capacitors(i, i)) + " F");
    for (std::size_t j = i + 1; j < pins.size(); ++j)
      if (capacitors(i, j) > 0) add(pins[i], pins[j], capacitors(i, j));
  }
  write_whole(path, text + ".ends " + name + "\n");
}

}  // namespace fmbem
