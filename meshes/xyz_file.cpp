#include "fmbem/meshes/xyz_file.hpp"

#include <optional>
#include <string_view>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/read_file.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem {
namespace {

/// The fields of a line, without its comment.
std::vector<std::string_view> fields_of(std::string_view line) {
  return words_between(line.substr(0, line.find('#')), " \t\r\v\f,");
}

/// Adds the point of a line, which is called `where` in errors; nothing for a line without fields.
void add_line(PointFile& result, std::string_view line, const std::string& where) {
  const std::vector<std::string_view> fields = fields_of(line);
  if (fields.empty()) return;
  FMBEM_REQUIRE(fields.size() == 3 || fields.size() == 4,
                where << " has " << fields.size() << " fields, but must have x y z or x y z q");
  const bool has_charge = fields.size() == 4;
  FMBEM_REQUIRE(result.points.empty() || has_charge == !result.charges.empty(),
                where << (has_charge ? " has a charge, but the lines before it have none"
                                     : " has no charge, but the lines before it have one"));
  double values[4] = {};
  for (std::size_t k = 0; k < fields.size(); ++k) {
    const std::optional<double> value = parse_number(fields[k]);
    FMBEM_REQUIRE(value, where << ", field " << k + 1 << " is not a finite number");
    values[k] = *value;
  }
  result.points.push_back({values[0], values[1], values[2]});
  if (has_charge) result.charges.push_back(values[3]);
}

}  // namespace

PointFile read_xyz_file(const std::string& file) {
  const std::string text = read_file(file);
  PointFile result;
  int number = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = take_line(rest);
    add_line(result, line, file + ", line " + std::to_string(++number));
  }
  FMBEM_REQUIRE(!result.points.empty(), file << " has no points");
  return result;
}

}  // namespace fmbem
