#pragma once

#include <string>
#include <vector>

namespace fmbem {

/// The shortest digits that give the same number back; "nan" for none, whatever its sign.
std::string shortest_digits(double value);

/// Writes a table as RFC 4180 has it: a header and records with lines that end in CR LF, fields in
/// double quotes where they need them. Each row has as many fields as the header. The file appears
/// whole or not at all. Throws InputError for an unwritable path and ResourceError when the disk is
/// full.
void write_csv_table(const std::string& path, const std::vector<std::string>& header,
                     const std::vector<std::vector<std::string>>& rows);

}  // namespace fmbem
