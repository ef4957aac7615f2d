#include "fmbem/meshes/units.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/read_file.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem {
namespace {

struct Unit {
  const char* name;
  double metres;
  const char* step;  // its prefix in STEP
  int iges;          // its flag in IGES
  CadUnit cad;       // OpenCASCADE knows none below a micrometre
};

const std::array<Unit, 6> units{{{"m", 1, "$", 6, {"M", 1}},
                                 {"cm", 1e-2, ".CENTI.", 10, {"CM", 1}},
                                 {"mm", 1e-3, ".MILLI.", 2, {"MM", 1}},
                                 {"um", 1e-6, ".MICRO.", 9, {"UM", 1}},
                                 {"nm", 1e-9, ".NANO.", -1, {"UM", 1e3}},
                                 {"angstrom", 1e-10, "", -1, {"UM", 1e4}}}};

constexpr const char* of_other_units = "mm";

const Unit& known(const std::string& name) {
  const auto found =
      std::find_if(units.begin(), units.end(), [&](const Unit& unit) { return name == unit.name; });
  if (found == units.end())
    throw InputError("the unit '" + name + "' is none of m, cm, mm, um, nm, angstrom");
  return *found;
}

/// The text without white space, which may stand anywhere between two words of STEP.
std::string without_space(std::string_view text) {
  std::string dense;
  for (const char c : text)
    if (c > ' ') dense += c;
  return dense;
}

/// The parameters of IGES' global section: texts are "4HINCH", with their length in front.
class IgesParameters {
 public:
  explicit IgesParameters(std::string text) : text_(std::move(text)) {}

  std::string_view next() {
    const std::size_t begin = at_;
    std::size_t length = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + begin, text_.data() + text_.size(), length);
    if (error == std::errc() && end < text_.data() + text_.size() && *end == 'H')
      at_ = std::min(text_.size(),
                     std::size_t(end - text_.data()) + 1 + std::min(length, text_.size()));
    at_ = std::min(text_.find_first_of(",;", at_), text_.size());
    const std::string_view found = std::string_view(text_).substr(begin, at_ - begin);
    at_ = std::min(at_ + 1, text_.size());
    return found;
  }

 private:
  std::string text_;
  std::size_t at_ = 0;
};

}  // namespace

double metres_in(const std::string& unit) { return known(unit).metres; }
CadUnit cad_unit(const std::string& unit) { return known(unit).cad; }

std::string unit_for(const std::string& file, const std::optional<std::string>& asked) {
  if (asked) return known(*asked).name;
  const std::string format = ending(file);
  if (format == "step" || format == "stp") return unit_of_step(read_file(file));
  if (format == "iges" || format == "igs") return unit_of_iges(read_file(file));
  return "m";
}

std::string unit_of_step(std::string_view text) {
  constexpr std::string_view word = "LENGTH_UNIT";
  std::string found;
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + word.size())) {
    const std::size_t before = text.find_last_of(';', at);
    const std::size_t begin = before == text.npos ? 0 : before + 1;
    const std::string statement = without_space(text.substr(begin, text.find(';', at) - begin));
    if (statement.find("CONVERSION_BASED_UNIT(") != statement.npos) return of_other_units;
    const std::size_t si = statement.find("SI_UNIT(");
    if (si == statement.npos || !found.empty()) continue;
    const std::string_view rest = std::string_view(statement).substr(si + 8);
    found = of_other_units;
    for (const Unit& unit : units)
      if (rest.starts_with(unit.step + std::string(",.METRE."))) found = unit.name;
  }
  return found.empty() ? of_other_units : found;
}

std::string unit_of_iges(std::string_view text) {
  std::string global;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (line.size() > 72 && line[72] == 'G') global += line.substr(0, 72);
    at = end + 1;
  }
  IgesParameters parameters(std::move(global));
  constexpr int unit_flag = 14;
  std::string_view flag;
  for (int k = 0; k < unit_flag; ++k) flag = parameters.next();
  for (const Unit& unit : units)
    if (parse_number(flag) == unit.iges) return unit.name;
  return of_other_units;
}

Length::Length(const std::string& text) {
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  FMBEM_REQUIRE(error == std::errc() && std::isfinite(value),
                "\"" << text << "\" is no length such as 2, 2e-3 or 2um");
  const std::string letters(std::find_if(end, last, [](char c) { return c != ' '; }), last);
  if (!letters.empty()) unit = known(letters).name;
}

}  // namespace fmbem
