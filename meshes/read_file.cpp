#include "fmbem/meshes/read_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {

void check_readable(const std::string& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  FMBEM_REQUIRE(status.type() != std::filesystem::file_type::not_found,
                "there is no file " << (file.empty() ? "with an empty name" : file));
  FMBEM_REQUIRE(std::filesystem::exists(status), "cannot read " << file << ": " << error.message());
  FMBEM_REQUIRE(std::filesystem::is_regular_file(status), file << " is not a regular file");
  errno = 0;
  const std::ifstream in(file, std::ios::binary);
  FMBEM_REQUIRE(in, "cannot read " << file << ": " << std::strerror(errno));
  FMBEM_REQUIRE(std::filesystem::file_size(file) > 0, file << " is empty");
}

std::string read_file(const std::string& file) {
  check_readable(file);
  std::ifstream in(file, std::ios::binary);
  std::string text(std::filesystem::file_size(file), '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  FMBEM_REQUIRE(in, "cannot read " << file << ": " << std::strerror(errno));
  return text;
}

}  // namespace fmbem
