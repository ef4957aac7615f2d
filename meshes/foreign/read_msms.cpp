#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/foreign/polygons.hpp"
#include "fmbem/meshes/input_files.hpp"
#include "fmbem/meshes/read_file.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem {
namespace {

/// The fields of the first line of data, and how many there are; comments are none.
std::pair<std::size_t, std::size_t> first_fields_and_lines(std::string_view text) {
  std::size_t fields = 0, lines = 0;
  while (!text.empty()) {
    const std::vector<std::string_view> words = words_between(take_line(text));
    if (words.empty() || words[0].starts_with('#')) continue;
    if (++lines == 1) fields = words.size();
  }
  return {fields, lines};
}

/// Whether a line of at most four numbers states how many lines follow, which look otherwise.
bool states_lines_of(std::string_view rest, const std::vector<double>& fields) {
  if (fields.size() > 4 || fields[0] < 1) return false;
  const auto [next_fields, lines] = first_fields_and_lines(rest);
  return fields[0] == double(lines) && next_fields != fields.size();
}

/// Calls row(line's number, numbers) for each line of data. The first may have counts, that of all
/// lines of data before others: behind a header of comments, where MSMS has four, or without one.
template <class Row>
void for_rows(const std::string& file, std::size_t least_fields, Row&& row) {
  const std::string text = read_file(file);
  std::size_t number = 0, rows = 0;
  std::optional<double> announced;
  bool after_comments = false;
  for (std::string_view rest = text; !rest.empty();) {
    const std::vector<std::string_view> words = words_between(take_line(rest));
    ++number;
    if (words.empty()) continue;
    if (words[0].starts_with('#')) {
      after_comments = true;
      continue;
    }
    std::vector<double> fields;
    for (const std::string_view word : words) {
      const std::optional<double> value = parse_number(word);
      // Behind its numbers a vertex may have the name of its atom.
      if (!value && fields.size() >= least_fields) break;
      FMBEM_REQUIRE(value, file << ", line " << number << ", field " << fields.size() + 1
                                << " is not a finite number");
      fields.push_back(*value);
    }
    const bool may_announce = rows == 0 && !announced;
    if (may_announce && ((after_comments && fields.size() == 4) || states_lines_of(rest, fields))) {
      announced = fields[0];
      continue;
    }
    after_comments = false;
    FMBEM_REQUIRE(fields.size() >= least_fields, file << ", line " << number << " has "
                                                      << counted(fields.size(), "field")
                                                      << ", but needs at least " << least_fields);
    row(number, fields);
    ++rows;
  }
  FMBEM_REQUIRE(announced.value_or(double(rows)) == double(rows),
                file << " is damaged or truncated: it announces " << decimal(*announced)
                     << " lines of data behind its comments, and has " << rows);
}

}  // namespace

Polygons read_msms(const std::string& file) {
  const bool is_face = ending(file) == "face";
  const std::string vertices = is_face ? other_half(file) : file;
  const std::string faces = is_face ? file : other_half(file);
  Polygons polygons;
  for_rows(vertices, 3, [&](std::size_t, const std::vector<double>& f) {
    polygons.points.push_back({f[0], f[1], f[2]});
  });
  for_rows(faces, 3, [&](std::size_t line, const std::vector<double>& f) {
    std::vector<std::size_t> corners;
    for (int k = 0; k < 3; ++k) {
      const bool is_vertex =
          f[k] >= 1 && f[k] <= double(polygons.points.size()) && f[k] == std::floor(f[k]);
      FMBEM_REQUIRE(is_vertex, faces << ", line " << line << ": " << decimal(f[k])
                                     << " is none of the " << polygons.points.size()
                                     << " vertices of " << vertices);
      corners.push_back(static_cast<std::size_t>(f[k]) - 1);
    }
    polygons.corners.push_back(std::move(corners));
  });
  return polygons;
}

}  // namespace fmbem
