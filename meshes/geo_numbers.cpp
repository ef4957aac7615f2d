#include "fmbem/meshes/geo_numbers.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/read_file.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem {
namespace {

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The script without comments, and without white space outside of texts; what is a word follows
/// from its context.
std::string bare(std::string_view script) {
  std::string text;
  bool quoted = false;
  for (std::size_t i = 0; i < script.size(); ++i) {
    const std::string_view two = script.substr(i, 2);
    if (!quoted && two == "//") {
      i = std::min(script.find('\n', i), script.size());
    } else if (!quoted && two == "/*") {
      i = std::min(script.find("*/", i + 2), script.size() - 2) + 1;
    } else if (quoted || std::isspace(static_cast<unsigned char>(script[i])) == 0) {
      if (script[i] == '"') quoted = !quoted;
      text += script[i];
    }
  }
  return text;
}

/// Calls visit(place behind the word) for each occurrence of a word outside of texts.
template <class Visit>
void for_each(std::string_view text, std::string_view word, Visit&& visit) {
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (!quoted && text.substr(i, word.size()) == word && (i == 0 || !in_word(text[i - 1])))
      visit(i + word.size());
  }
}

/// The text between a bracket and its closing one, split at the commas.
std::vector<std::string> items_between(std::string_view text, std::size_t opening) {
  std::vector<std::string> items(1);
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = opening; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (!quoted && std::string_view("[({").find(c) != std::string_view::npos && ++depth == 1)
      continue;
    if (!quoted && std::string_view("])}").find(c) != std::string_view::npos && --depth == 0) break;
    if (!quoted && c == ',' && depth == 1)
      items.emplace_back();
    else
      items.back() += c;
  }
  return items;
}

/// Texts of files whose names a bare script has literally: behind a word that reads them, which may
/// stand behind another, as in "Else Merge".
std::vector<std::string> names_of_files(std::string_view text) {
  std::vector<std::string> names;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '"' || !(quoted = !quoted)) continue;
    const std::string_view before = text.substr(0, i);
    for (const char* word : {"Include", "Merge", "ShapeFromFile("})
      if (before.ends_with(word))
        names.emplace_back(text.substr(i + 1, text.find('"', i + 1) - i - 1));
  }
  return names;
}

/// What a script and those that it names consist of.
struct ScriptParts {
  std::set<std::filesystem::path> seen;
  std::vector<std::string> texts, files;  ///< texts of scripts; files that they name and that exist
};

void add_script(const std::filesystem::path& script, ScriptParts& parts) {
  if (!parts.seen.insert(std::filesystem::weakly_canonical(script)).second) return;
  const std::string text = bare(read_file(script.string()));
  parts.texts.push_back(text);
  for (const std::string& name : names_of_files(text)) {
    const std::filesystem::path other = script.parent_path() / name;
    if (!std::filesystem::is_regular_file(other)) continue;
    parts.files.push_back(other.string());
    if (ending(name) == "geo") add_script(other, parts);
  }
}

}  // namespace

std::vector<std::string> defined_numbers(std::string_view script) {
  const std::string text = bare(script);
  std::vector<std::string> names;
  for_each(text, "DefineConstant", [&](std::size_t at) {
    if (at >= text.size() || (text[at] != '[' && text[at] != '(')) return;
    for (const std::string& item : items_between(text, at)) {
      const std::size_t equals = item.find('=');
      const std::string name = item.substr(0, equals);
      const bool is_text = equals != item.npos &&
                           (item.substr(equals, 2) == "=\"" || item.substr(equals, 3) == "={\"");
      if (!name.empty() && !is_text && std::all_of(name.begin(), name.end(), in_word))
        names.push_back(name);
    }
  });
  return names;
}

std::vector<std::string> texts_of_script(const std::string& file) {
  ScriptParts parts;
  add_script(file, parts);
  return parts.texts;
}

std::vector<std::string> files_of_script(const std::string& file) {
  ScriptParts parts;
  add_script(file, parts);
  return parts.files;
}

std::vector<std::string> numbers_of_file(const std::string& file) {
  std::vector<std::string> names;
  for (const std::string& text : texts_of_script(file))
    for (std::string& name : defined_numbers(text)) names.push_back(std::move(name));
  return names;
}

void check_numbers(const std::string& file, const GeoNumbers& numbers) {
  if (numbers.empty()) return;
  FMBEM_REQUIRE(ending(file) == "geo", "numbers are set in a .geo, which " << file << " is not");
  const std::vector<std::string> known = numbers_of_file(file);
  std::string names;
  for (const std::string& name : known) names += (names.empty() ? "" : ", ") + name;
  for (auto number = numbers.begin(); number != numbers.end(); ++number) {
    const auto is_it = [&](const auto& other) { return other.first == number->first; };
    FMBEM_REQUIRE(std::find(known.begin(), known.end(), number->first) != known.end(),
                  file << " defines no number \"" << number->first << "\" in DefineConstant[…]"
                       << (names.empty() ? ", and no other, so that nothing can be set in it"
                                         : "; it defines " + names));
    FMBEM_REQUIRE(std::none_of(numbers.begin(), number, is_it),
                  "the number \"" << number->first << "\" is set twice");
  }
}

}  // namespace fmbem
