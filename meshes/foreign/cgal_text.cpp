#include "fmbem/meshes/foreign/cgal_text.hpp"

#include <charconv>
#include <optional>
#include <set>
#include <vector>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem {
namespace {

/// The vertex of a corner such as 7, -1, 7/2, 7//3 or 7/2/3; nothing where it is none.
std::optional<int> vertex_of(std::string_view corner) {
  int vertex = 0;
  const char* const end = corner.data() + corner.size();
  const auto [behind, error] = std::from_chars(corner.data(), end, vertex);
  const bool is_whole = error == std::errc() && (behind == end || *behind == '/');
  return is_whole && std::string_view(behind, end).find_first_not_of("-/0123456789") ==
                         std::string_view::npos
             ? std::optional(vertex)
             : std::nullopt;
}

void add_face(std::string& result, const std::vector<std::string_view>& words, std::size_t line,
              const std::string& file) {
  result += 'f';
  for (std::size_t k = 1; k < words.size() && words[k][0] != '#'; ++k) {
    const std::optional<int> vertex = vertex_of(words[k]);
    FMBEM_REQUIRE(vertex, file << ", line " << line << ": a face has the corner '"
                               << words[k].substr(0, 40) << "', which is no vertex's number");
    result += ' ' + std::to_string(*vertex);
  }
  result += '\n';
}

/// Types of PLY's integers, but for those that CGAL reads.
bool is_small_integer(std::string_view type) {
  static const std::set<std::string_view> small{"char", "uchar", "short", "ushort",
                                                "int8", "uint8", "int16", "uint16"};
  return small.contains(type);
}
bool is_integer_of_cgal(std::string_view type) {
  return type == "int" || type == "uint" || type == "int32" || type == "uint32";
}

}  // namespace

std::string obj_for_cgal(const std::string& text, const std::string& file) {
  std::string result;
  result.reserve(text.size());
  std::size_t number = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t first = ++number;
    std::string joined;
    std::string_view line = take_line(rest);
    const auto last = [&] { return line.find_last_not_of(blanks); };
    for (; last() != line.npos && line[last()] == '\\' && !rest.empty(); ++number) {
      (joined += line.substr(0, last())) += ' ';
      line = take_line(rest);
    }
    if (!joined.empty()) line = joined += line;
    const std::vector<std::string_view> words = words_between(line);
    if (words.empty() || words[0] == "l") continue;
    if (words[0] == "f")
      add_face(result, words, first, file);
    else
      (result += line) += '\n';
  }
  return result;
}

std::string ply_for_cgal(std::string text, const std::string& file) {
  bool is_ascii = false, in_faces = false, has_faces = false;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::vector<std::string_view> words = words_between(take_line(rest));
    if (words.empty()) continue;
    if (words[0] == "end_header") break;
    if (words[0] == "format") is_ascii = words.size() > 1 && words[1] == "ascii";
    if (words[0] == "element") in_faces = words.size() > 1 && words[1] == "face";
    has_faces = has_faces || in_faces;
    if (!in_faces || words.size() != 5 || words[1] != "list" ||
        (words[4] != "vertex_indices" && words[4] != "vertex_index"))
      continue;
    if (is_integer_of_cgal(words[3])) return text;
    FMBEM_REQUIRE(is_ascii && is_small_integer(words[3]),
                  "cannot read " << file << ": its faces have " << words[4] << " of the type "
                                 << words[3].substr(0, 40)
                                 << "; in a binary .ply int and uint can be read");
    text.replace(std::size_t(words[3].data() - text.data()), words[3].size(), "int");
    return text;
  }
  FMBEM_REQUIRE(
      rest.empty() || !has_faces,
      "cannot read " << file << ": its faces have no list vertex_indices or vertex_index");
  return text;
}

void check_off_begins(std::string_view text, const std::string& file) {
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::vector<std::string_view> words = words_between(take_line(text));
    if (words.empty() || words[0][0] == '#') continue;
    FMBEM_REQUIRE(!parse_number(words[0]),
                  file << ", line " << line << ": an .off file begins with the word OFF, and this "
                       << "one with the number " << words[0].substr(0, 40)
                       << ": put a line with OFF before it");
    return;
  }
}

void check_off_ends(const std::string& text, std::istream& in, const std::string& file) {
  std::string_view begin = text;
  const std::vector<std::string_view> words = words_between(take_line(begin));
  if (in.eof() || (words.size() > 1 && words[1] == "BINARY")) return;
  const auto at = static_cast<std::size_t>(in.tellg());
  std::string_view rest = std::string_view(text).substr(at);
  if (at > 0 && text[at - 1] != '\n') take_line(rest);  // with colours of the last face
  while (!rest.empty()) {
    const std::vector<std::string_view> more = words_between(take_line(rest));
    FMBEM_REQUIRE(more.empty() || more[0][0] == '#',
                  file << " is damaged: it goes on behind the faces that it announces, with '"
                       << more[0].substr(0, 40) << "'");
  }
}

}  // namespace fmbem
