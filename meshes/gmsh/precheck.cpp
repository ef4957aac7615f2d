#include "fmbem/meshes/gmsh/precheck.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/gmsh/msh_precheck.hpp"
#include "fmbem/meshes/read_file.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem {
namespace {

constexpr std::string_view white = " \t\r\n\v\f";

[[noreturn]] void fail(const std::string& file, const std::string& trouble) {
  throw InputError(file + " is damaged or truncated: " + trouble);
}

std::size_t occurrences(std::string_view text, std::string_view word) {
  std::size_t n = 0;
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + word.size()))
    ++n;
  return n;
}

/// The last line that is not blank.
std::string_view last_line(std::string_view text) {
  text = text.substr(0, text.find_last_not_of(white) + 1);
  const std::size_t end = text.find_last_of('\n');
  return end == text.npos ? text : text.substr(end + 1);
}

/// Gmsh leaves out the last line if no newline or comment ends it.
void precheck_geo(std::string_view text, const std::string& file) {
  text.remove_prefix(text.rfind('\n') + 1);
  text.remove_prefix(std::min(text.find_first_not_of(white), text.size()));
  FMBEM_REQUIRE(text.empty() || text.starts_with("//"),
                "Gmsh would leave out the last line of "
                    << file << ", which does not end with a line break: add one");
}

/// Refuses what is no finite number: Gmsh joins points before anybody else sees them, and NaN with
/// whatever comes first.
void check_binary_stl(std::string_view text, std::size_t facets, const std::string& file) {
  for (std::size_t i = 0; i < facets; ++i) {
    std::array<float, 9> corners;  // behind the normal
    std::memcpy(corners.data(), text.data() + 84 + 50 * i + 12, sizeof corners);
    if (!std::all_of(corners.begin(), corners.end(), [](float x) { return std::isfinite(x); }))
      fail(file, "a coordinate of the facet " + std::to_string(i + 1) + " is no finite number");
  }
}

/// Of a line of an ASCII STL that begins with the word vertex.
void check_stl_vertex(std::string_view line, std::size_t number, const std::string& file) {
  line.remove_prefix(std::min(line.find_first_of(white), line.size()));
  for (const std::string_view coordinate : words_between(line)) {
    const std::string word(coordinate);
    char* end = nullptr;
    const double x = std::strtod(word.c_str(), &end);
    if (end == word.c_str() || !std::isfinite(x))
      fail(file, "in line " + std::to_string(number) + " the coordinate '" + word.substr(0, 40) +
                     "' is no finite number");
  }
}

void check_ascii_stl(std::string_view text, const std::string& file) {
  if (last_line(text).find("endsolid") == text.npos) fail(file, "it does not end with endsolid");
  std::size_t begun = 0, ended = 0, number = 0;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    line.remove_prefix(std::min(line.find_first_not_of(white), line.size()));
    ++number;
    if (line.starts_with("facet")) ++begun;
    if (line.starts_with("endfacet")) ++ended;
    if (line.starts_with("vertex")) check_stl_vertex(line, number, file);
  }
  if (begun != ended)
    fail(file, "it begins " + counted(begun, "facet") + " and ends " + std::to_string(ended));
}

/// A binary STL has a header of 80 bytes, a count and 50 bytes a facet. Its header may begin with
/// "solid", as an ASCII one does, so the size is looked at first. Gmsh reads whatever is there of
/// either kind.
void precheck_stl(std::string_view text, const std::string& file) {
  std::uint32_t facets = 0;
  if (text.size() >= 84) std::memcpy(&facets, text.data() + 80, sizeof facets);
  if (text.size() >= 84 && text.size() == 84 + 50 * std::size_t{facets})
    return check_binary_stl(text, facets, file);
  if (!text.starts_with("solid"))
    fail(file, "it is neither an ASCII STL nor a binary STL of the size that it announces");
  check_ascii_stl(text, file);
}

/// Checks the text of a CAD exchange file: OpenCASCADE may crash or hang on half a file.
void precheck_step(std::string_view text, const std::string& file) {
  if (text.find("END-ISO-10303-21") == text.npos) fail(file, "it has no END-ISO-10303-21");
}

/// Checks the shapes of a BREP file: as many records, each ended by a '*', as "TShapes" announces,
/// and then the line that names the whole shape.
void precheck_brep(std::string_view text, const std::string& file) {
  const std::size_t at = text.find("TShapes");
  if (at == text.npos) fail(file, "it has no section TShapes");
  text = text.substr(at + 7);
  text.remove_prefix(std::min(text.find_first_not_of(white), text.size()));
  std::size_t announced = 0;
  std::from_chars(text.data(), text.data() + text.size(), announced);
  const std::size_t found = occurrences(text, "*");
  if (announced == 0 || found != announced)
    fail(file,
         "it announces " + counted(announced, "shape") + " and holds " + std::to_string(found));
  const std::string_view tail = text.substr(text.rfind('*') + 1);
  if (tail.find_first_not_of(white) == tail.npos) fail(file, "it does not name its whole shape");
}

}  // namespace

void precheck(const std::string& file) {
  check_readable(file);
  const std::string format = ending(file);
  if (format == "geo") precheck_geo(read_file(file), file);
  if (format == "msh") precheck_msh(file);
  if (format == "stl") precheck_stl(read_file(file), file);
  if (format == "step" || format == "stp") precheck_step(read_file(file), file);
  if (format == "brep") precheck_brep(read_file(file), file);
}

}  // namespace fmbem
