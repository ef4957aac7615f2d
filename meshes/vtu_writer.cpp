#include "fmbem/meshes/vtu_writer.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace fmbem {
namespace {

static_assert(std::endian::native == std::endian::little,
              "arrays are written as they lie in memory");

/// Base64 of a length in bytes followed by that many bytes, as VTK wants it for inline arrays.
std::string base64_with_length(std::span<const char> data) {
  static constexpr char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::uint64_t length = data.size();
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  bytes.append(data.data(), data.size());
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t n = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (k < n ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) text += k <= n ? digits[bits >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

}  // namespace

std::string xml_escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += static_cast<unsigned char>(c) < 32 ? ' ' : c;
    }
  }
  return result;
}

VtuWriter::VtuWriter(const std::string& path) : out_(path, std::ios::binary) {
  out_ << "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" "
          "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<UnstructuredGrid>\n";
}

void VtuWriter::begin_piece(std::span<const Vec3d> points,
                            const std::vector<std::int64_t>& connectivity, std::size_t corners,
                            std::uint8_t vtk_type) {
  const std::size_t n = connectivity.size() / corners;
  std::vector<double> coordinates;
  coordinates.reserve(3 * points.size());
  for (const Vec3d& x : points) coordinates.insert(coordinates.end(), {x.x, x.y, x.z});
  std::vector<std::int64_t> offsets(n);
  for (std::size_t i = 0; i < n; ++i) offsets[i] = static_cast<std::int64_t>(corners * (i + 1));
  out_ << "<Piece NumberOfPoints=\"" << points.size() << "\" NumberOfCells=\"" << n
       << "\">\n<Points>\n";
  array("Float64", "Points", coordinates, 3);
  out_ << "</Points>\n<Cells>\n";
  array("Int64", "connectivity", connectivity);
  array("Int64", "offsets", offsets);
  array("UInt8", "types", std::vector<std::uint8_t>(n, vtk_type));
  out_ << "</Cells>\n";
}

void VtuWriter::strings(const std::string& name, const std::vector<std::string>& values) {
  std::string characters;
  for (const std::string& value : values) characters.append(value.c_str(), value.size() + 1);
  out_ << "<Array type=\"String\" Name=\"" << name << "\" NumberOfTuples=\"" << values.size()
       << "\" format=\"binary\">" << base64_with_length(characters) << "</Array>\n";
}

bool VtuWriter::finish() {
  out_ << "</Piece>\n</UnstructuredGrid>\n</VTKFile>\n";
  out_.close();
  return static_cast<bool>(out_);
}

void VtuWriter::write_array(const char* type, const std::string& name, std::span<const char> bytes,
                            int components) {
  out_ << "<DataArray type=\"" << type << "\" Name=\"" << xml_escaped(name)
       << "\" NumberOfComponents=\"" << components << "\" format=\"binary\">"
       << base64_with_length(bytes) << "</DataArray>\n";
}

}  // namespace fmbem
