#pragma once

// What tests of panels' integrals share: rows of reference values, and how close edges are.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "fmbem/bem/geometry/triangle.hpp"

namespace fmbem::test {

/// A row NAME,18 numbers[,TEXT] of a table that a script of tests/oracles has written. The numbers
/// are a triangle's corners, a point, and six values of the table.
struct ReferenceRow {
  std::string name, text;
  Triangle triangle;
  Vec3d x;
  double value[6];
  /// Of three values from k on.
  Vec3d vec(int k) const { return {value[k], value[k + 1], value[k + 2]}; }
};

/// All rows of a table in tests/data.
inline std::vector<ReferenceRow> reference_rows(const std::string& table) {
  std::ifstream file(FMBEM_TEST_DATA "/" + table);
  std::string line, word;
  std::getline(file, line);
  std::vector<ReferenceRow> rows;
  while (std::getline(file, line)) {
    // Names are in quotes where they have a comma.
    const std::size_t end = line[0] == '"' ? line.find('"', 1) + 1 : line.find(',');
    std::istringstream fields(line.substr(end + 1));
    double number[18];
    for (double& x : number) {
      std::getline(fields, word, ',');
      char* last = nullptr;
      x = std::strtod(word.c_str(), &last);  // std::stod would throw where it underflows
      if (word.empty() || *last != '\0') throw std::invalid_argument(table + ": " + line);
    }
    const auto vec = [&](int k) { return Vec3d{number[k], number[k + 1], number[k + 2]}; };
    ReferenceRow row{line.substr(0, end), "", make_triangle(vec(0), vec(3), vec(6)), vec(9), {}};
    std::copy(number + 12, number + 18, row.value);
    std::getline(fields, row.text);
    rows.push_back(row);
  }
  return rows;
}

inline double distance_to_edges(const Triangle& t, Vec3d x) {
  double nearest = std::numeric_limits<double>::max();
  for (int k = 0; k < 3; ++k) {
    const Vec3d d = x - t.vertex[k];
    const double s = std::clamp(dot(d, t.tangent[k]), 0.0, t.length[k]);
    nearest = std::min(nearest, norm(d - s * t.tangent[k]));
  }
  return nearest;
}

}  // namespace fmbem::test
