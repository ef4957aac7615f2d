#include "fmbem/meshes/vtk_blocks.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>

#include <zlib.h>

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {
namespace {

static_assert(std::endian::native == std::endian::little,
              "arrays and headers are written as they lie in memory");

/// Large enough to make headers negligible, small enough to share a million panels among 64 cores.
constexpr std::size_t block_bytes = 256 * 1024;

/// Tries a sixteenth of a block first: digits of charges hardly shrink, and looking for repetitions
/// in them takes longest of all. A block that does not lose a third is stored, which is a stream of
/// zlib too.
int worthwhile_level(std::span<const char> data, std::string& buffer) {
  const std::size_t n = std::min(data.size(), block_bytes / 16);
  buffer.resize(compressBound(n));
  uLongf size = buffer.size();
  const int status = compress2(reinterpret_cast<Bytef*>(buffer.data()), &size,
                               reinterpret_cast<const Bytef*>(data.data()), n, Z_BEST_SPEED);
  return status == Z_OK && size < n - n / 3 ? Z_BEST_SPEED : Z_NO_COMPRESSION;
}

/// Empty if memory does not suffice: nothing may be thrown out of a parallel loop.
std::string compressed(std::span<const char> data) try {
  std::string buffer;
  const int level = worthwhile_level(data, buffer);
  buffer.resize(compressBound(data.size()));
  uLongf size = buffer.size();
  const int status = compress2(reinterpret_cast<Bytef*>(buffer.data()), &size,
                               reinterpret_cast<const Bytef*>(data.data()), data.size(), level);
  return status == Z_OK ? std::string(buffer, 0, size) : std::string();
} catch (const std::bad_alloc&) {
  return {};
}

}  // namespace

std::size_t VtkBlocks::size() const {
  return std::accumulate(
      blocks.begin(), blocks.end(), header.size(),
      [](std::size_t sum, const std::string& block) { return sum + block.size(); });
}

std::vector<VtkBlocks> compress_for_vtk(const std::vector<std::span<const char>>& arrays) {
  struct Piece {
    std::span<const char> data;
    std::string* block;
  };
  std::vector<Piece> pieces;
  std::vector<VtkBlocks> result(arrays.size());
  for (std::size_t a = 0; a < arrays.size(); ++a) {
    const std::size_t bytes = arrays[a].size();
    result[a].blocks.resize((bytes + block_bytes - 1) / block_bytes);
    for (std::size_t b = 0; b < result[a].blocks.size(); ++b)
      pieces.push_back(
          {arrays[a].subspan(b * block_bytes, std::min(block_bytes, bytes - b * block_bytes)),
           &result[a].blocks[b]});
  }
#pragma omp parallel for schedule(dynamic)
  for (std::size_t i = 0; i < pieces.size(); ++i) *pieces[i].block = compressed(pieces[i].data);

  for (std::size_t a = 0; a < arrays.size(); ++a) {
    std::vector<std::uint64_t> header{result[a].blocks.size(), block_bytes,
                                      arrays[a].size() % block_bytes};
    for (const std::string& block : result[a].blocks) {
      if (block.empty()) throw ResourceError("not enough memory to compress an output file");
      header.push_back(block.size());
    }
    result[a].header.assign(reinterpret_cast<const char*>(header.data()),
                            header.size() * sizeof header[0]);
  }
  return result;
}

}  // namespace fmbem
