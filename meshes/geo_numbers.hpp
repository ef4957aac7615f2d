#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fmbem {

/// Numbers of a .geo by name, to replace those of its DefineConstant[NAME = …].
using GeoNumbers = std::vector<std::pair<std::string, double>>;

/// The texts of a .geo and of the scripts that it includes or merges, without comments and white
/// space. Throws InputError if the file cannot be read.
std::vector<std::string> texts_of_script(const std::string& file);

/// The files that a .geo, and the scripts that it includes or merges, name literally in Merge,
/// Include or ShapeFromFile, as far as they exist. Throws InputError if the .geo cannot be read.
std::vector<std::string> files_of_script(const std::string& file);

/// The names of the numbers that a script defines in DefineConstant, in the script's order.
std::vector<std::string> defined_numbers(std::string_view script);

/// The same of a file and the scripts that it includes or merges. Throws InputError if it cannot be
/// read.
std::vector<std::string> numbers_of_file(const std::string& file);

/// Throws InputError for a file that is no .geo, for a name that it does not define (telling which
/// it does), and for a name that is given twice.
void check_numbers(const std::string& file, const GeoNumbers& numbers);

}  // namespace fmbem
