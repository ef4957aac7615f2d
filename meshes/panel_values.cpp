#include "fmbem/meshes/panel_values.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string_view>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/read_file.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view magic = "\x93NUMPY";

/// The text behind 'key': in a header such as {'descr': '<f8', 'shape': (3,), }.
std::string_view value_of(std::string_view header, const std::string& key) {
  std::size_t at = header.find("'" + key + "'");
  if (at == header.npos) return {};
  at = header.find(':', at);
  if (at == header.npos) return {};
  header.remove_prefix(at + 1);
  header.remove_prefix(std::min(header.find_first_not_of(' '), header.size()));
  return header;
}

/// "(2, 3)" or "(3,)"
std::optional<std::vector<std::size_t>> parse_shape(std::string_view text) {
  const std::size_t end = text.find(')');
  if (text.empty() || text[0] != '(' || end == text.npos) return {};
  text = text.substr(1, end - 1);
  std::vector<std::size_t> shape;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view word = text.substr(0, comma);
    word.remove_prefix(std::min(word.find_first_not_of(' '), word.size()));
    const std::optional<double> number = parse_number(word);
    if (number && *number >= 0 && *number < 1e15)
      shape.push_back(static_cast<std::size_t>(*number));
    else if (!word.empty())
      return {};
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return shape;
}

template <class T>
std::vector<double> numbers_of(std::string_view bytes) {
  std::vector<double> values(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    values[i] = static_cast<double>(value);
  }
  return values;
}

/// Fields of a line of a .csv; those in double quotes may hold commas.
std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      fields.emplace_back();
    else if (c != '\r')
      fields.back() += c;
  }
  for (std::string& field : fields) {
    field.erase(0, std::min(field.find_first_not_of(" \t"), field.size()));
    field.erase(field.find_last_not_of(" \t") + 1);
  }
  return fields;
}

}  // namespace

bool is_npy(const std::string& file) { return ending(file) == "npy"; }

NumberArray read_npy(const std::string& file) {
  const std::string text = read_file(file);
  const std::string_view all = text;
  const auto refuse = [&](const std::string& why) -> InputError {
    return InputError(file + " is no .npy that fmbem reads: " + why);
  };
  if (all.substr(0, magic.size()) != magic || all.size() < 12) throw refuse("it is no NumPy array");
  const auto byte = [&](std::size_t k) { return std::size_t{static_cast<unsigned char>(all[k])}; };
  const bool is_first = byte(6) == 1;
  const std::size_t begin = is_first ? 10 : 12,
                    length =
                        byte(8) | byte(9) << 8 | (is_first ? 0 : byte(10) << 16 | byte(11) << 24);
  if (length > all.size() - begin) throw refuse("it is truncated");
  const std::string_view header = all.substr(begin, length), bytes = all.substr(begin + length);
  NumberArray array;
  const auto shape = parse_shape(value_of(header, "shape"));
  if (!shape) throw refuse("its header has no shape");
  array.shape = *shape;
  if (value_of(header, "fortran_order").substr(0, 5) != "False" && array.shape.size() > 1)
    throw refuse("it is in Fortran's order; write numpy.ascontiguousarray() of it");
  const std::string_view type = value_of(header, "descr").substr(0, 5);
  if (type == "'<f8'")
    array.values = numbers_of<double>(bytes);
  else if (type == "'<f4'")
    array.values = numbers_of<float>(bytes);
  else if (type == "'<i8'")
    array.values = numbers_of<std::int64_t>(bytes);
  else if (type == "'<i4'")
    array.values = numbers_of<std::int32_t>(bytes);
  else
    throw refuse("its type is " + std::string(type) + "; write float64");
  double count = 1;
  for (const std::size_t n : array.shape) count *= static_cast<double>(n);
  if (count != static_cast<double>(array.values.size()))
    throw refuse("it holds " + std::to_string(array.values.size()) +
                 " numbers, which are not as many as its shape says");
  for (std::size_t i = 0; i < array.values.size(); ++i)
    if (!std::isfinite(array.values[i]))
      throw InputError(file + " has a number that is not finite at place " + std::to_string(i) +
                       " (counted from 0)");
  return array;
}

void write_npy(const std::string& file, const NumberArray& array) {
  OutputFile output(file);
  write_npy(output, array);
  output.commit();
}

void write_npy(OutputFile& file, const NumberArray& array) {
  std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (";
  for (const std::size_t n : array.shape) header += std::to_string(n) + ", ";
  header += "), }";
  constexpr std::size_t before = 10, alignment = 64;
  header.append(alignment - 1 - (before + header.size()) % alignment, ' ');
  header += '\n';
  std::ofstream stream(file.partial_path(), std::ios::binary);
  stream << magic << '\1' << '\0' << static_cast<char>(header.size() & 255)
         << static_cast<char>(header.size() >> 8) << header;
  stream.write(reinterpret_cast<const char*>(array.values.data()),
               static_cast<std::streamsize>(array.values.size() * sizeof(double)));
  stream.close();
  if (!stream) throw ResourceError("cannot write " + file.path() + ": is the disk full?");
}

std::vector<double> read_csv_column(const std::string& file,
                                    const std::optional<std::string>& name) {
  const std::string text = read_file(file);
  std::vector<double> values;
  std::optional<std::size_t> column;
  if (!name) column = 0;
  int number = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::vector<std::string> fields = fields_of(take_line(rest));
    const std::string where = file + ", line " + std::to_string(++number);
    if (fields.size() == 1 && fields[0].empty()) continue;
    if (!column) {
      const auto found = std::find(fields.begin(), fields.end(), *name);
      FMBEM_REQUIRE(found != fields.end(),
                    where << " is the heading, and has no column \"" << *name << '"');
      column = static_cast<std::size_t>(found - fields.begin());
      continue;
    }
    FMBEM_REQUIRE(name || fields.size() == 1,
                  where << " has several fields: say which column with \"array\"");
    const std::optional<double> value =
        *column < fields.size() ? parse_number(fields[*column]) : std::nullopt;
    FMBEM_REQUIRE(value, where << " has no finite number where one is due");
    values.push_back(*value);
  }
  return values;
}

}  // namespace fmbem
