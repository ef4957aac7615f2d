#include "fmbem/meshes/read_npy.hpp"

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <regex>

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {
namespace {

/// The numbers of "(3, 4)", "(3,)" or "()".
std::vector<std::size_t> shape_of(const std::string& header) {
  std::smatch match;
  std::vector<std::size_t> shape;
  const std::regex tuple(R"('shape': *\(([0-9, ]*)\))");
  if (!std::regex_search(header, match, tuple)) return shape;
  const std::string inside = match[1];
  const std::regex number("[0-9]{1,18}");
  for (std::sregex_iterator it(inside.begin(), inside.end(), number), end; it != end; ++it)
    shape.push_back(std::stoull(it->str()));
  return shape;
}

}  // namespace

NpyArray read_npy(const std::string& path) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  std::ifstream in(path, std::ios::binary);
  FMBEM_REQUIRE(in && !error, "cannot read " << path << ": is there such a file?");
  unsigned char start[10] = {};
  in.read(reinterpret_cast<char*>(start), sizeof start);
  FMBEM_REQUIRE(in && std::memcmp(start, "\x93NUMPY\1", 7) == 0,
                path << " is no array of NumPy's (.npy, version 1): save it with numpy.save");
  std::string header(start[8] + 256U * start[9], ' ');
  in.read(header.data(), static_cast<std::streamsize>(header.size()));
  NpyArray array{shape_of(header), {}};
  FMBEM_REQUIRE(in && header.find("'<f8'") != header.npos &&
                    header.find("'fortran_order': False") != header.npos && !array.shape.empty() &&
                    array.shape.size() <= 2,
                path << " must hold doubles of one or two dimensions in C's order: save it with "
                        "numpy.save(..., numpy.ascontiguousarray(x, float))");
  const std::uintmax_t numbers = (bytes - sizeof start - header.size()) / sizeof(double);
  std::uintmax_t wanted = 1;
  for (const std::size_t extent : array.shape)
    wanted = extent > 0 && wanted > numbers / extent ? numbers + 1 : wanted * extent;
  FMBEM_REQUIRE(wanted == numbers && wanted > 0,
                path << " is damaged: its size is not that of its shape");
  array.values.resize(numbers);
  in.read(reinterpret_cast<char*>(array.values.data()),
          static_cast<std::streamsize>(numbers * sizeof(double)));
  FMBEM_REQUIRE(in, "cannot read " << path);
  return array;
}

}  // namespace fmbem
