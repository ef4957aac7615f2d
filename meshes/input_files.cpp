#include "fmbem/meshes/input_files.hpp"

#include <filesystem>

#include "fmbem/meshes/geo_numbers.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem {

std::string other_half(const std::string& file) {
  const bool is_face = ending(file) == "face";
  std::filesystem::path small(file), capital(file);
  small.replace_extension(is_face ? ".vert" : ".face");
  capital.replace_extension(is_face ? ".VERT" : ".FACE");
  const bool is_capital = !std::filesystem::exists(small) && std::filesystem::exists(capital);
  return (is_capital ? capital : small).string();
}

std::vector<std::string> files_read_with(const std::string& file) {
  std::vector<std::string> files{file};
  const std::string format = ending(file);
  if (format == "vert" || format == "face") files.push_back(other_half(file));
  if (format == "geo" && std::filesystem::is_regular_file(file))
    for (std::string& other : files_of_script(file)) files.push_back(std::move(other));
  return files;
}

}  // namespace fmbem
