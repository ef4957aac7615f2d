#include "fmbem/meshes/csv_table.hpp"

#include <charconv>
#include <cmath>

#include "fmbem/meshes/output_file.hpp"

namespace fmbem {
namespace {

void add_field(std::string& line, const std::string& text) {
  if (text.find_first_of(",\"\r\n") == text.npos) {
    line += text;
    return;
  }
  line += '"';
  for (const char c : text) line.append(c == '"' ? 2 : 1, c);
  line += '"';
}

std::string record(const std::vector<std::string>& fields) {
  std::string line;
  for (const std::string& text : fields) {
    if (&text != &fields.front()) line += ',';
    add_field(line, text);
  }
  return line += "\r\n";
}

}  // namespace

std::string shortest_digits(double value) {
  char digits[32];
  if (std::isnan(value)) return "nan";
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

void write_csv_table(const std::string& path, const std::vector<std::string>& header,
                     const std::vector<std::vector<std::string>>& rows) {
  std::string text = record(header);
  for (const std::vector<std::string>& row : rows) text += record(row);
  write_whole(path, text);
}

}  // namespace fmbem
