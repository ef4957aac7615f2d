#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "fmbem/meshes/output_file.hpp"

namespace fmbem {

/// An array of numbers, row by row.
struct NumberArray {
  std::vector<std::size_t> shape;
  std::vector<double> values;
};

/// Whether a file is one of NumPy's arrays, by its name.
bool is_npy(const std::string& file);

/// Reads NumPy's .npy: numbers of 4 or 8 bytes, of one or more dimensions, in C's order. Throws
/// InputError that names the file for what it is not, or holds no finite number.
NumberArray read_npy(const std::string& file);

/// Writes doubles in C's order. The file appears whole or not at all. Throws InputError for an
/// unwritable path and ResourceError when the disk is full.
void write_npy(const std::string& file, const NumberArray& array);
/// The same into a file that its owner commits.
void write_npy(OutputFile& file, const NumberArray& array);

/// Numbers of a .csv: those on its lines, where each has one, or the column with this heading.
/// Throws InputError that names file and line.
std::vector<double> read_csv_column(const std::string& file,
                                    const std::optional<std::string>& name);

}  // namespace fmbem
