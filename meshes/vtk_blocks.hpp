#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace fmbem {

/// Bytes as VTK's XML files hold them behind `compressor="vtkZLibDataCompressor"`: a header of
/// UInt64 (number of blocks, bytes of a block, bytes of a last block that is shorter or else 0,
/// compressed bytes of each block), then the blocks, a stream of zlib each.
struct VtkBlocks {
  std::string header;
  std::vector<std::string> blocks;

  std::size_t size() const;
};

/// Compresses several arrays, the blocks of all of them in parallel; the result is the same for any
/// number of threads. Throws ResourceError if memory runs out.
/// Source: VTK file formats, "XML file formats", and vtkXMLDataParser::ReadCompressionHeader.
std::vector<VtkBlocks> compress_for_vtk(const std::vector<std::span<const char>>& arrays);

}  // namespace fmbem
