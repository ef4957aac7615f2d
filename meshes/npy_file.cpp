#include "fmbem/meshes/npy_file.hpp"

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {

NpyFile::NpyFile(const std::string& path, const char* type, const std::vector<std::size_t>& shape,
                 Order order)
    : file_(std::make_unique<OutputFile>(path)), out_(file_->partial_path(), std::ios::binary) {
  std::string header = "{'descr': '" + std::string(type) +
                       "', 'fortran_order': " + (order == Order::columns ? "True" : "False") +
                       ", 'shape': (";
  for (const std::size_t n : shape) header += std::to_string(n) + ",";
  header += "), }";
  // Magic, version, two bytes of length, and a header that ends with a newline: whole 64 bytes.
  constexpr std::size_t before = 10, alignment = 64;
  while ((before + header.size() + 1) % alignment != 0) header += ' ';
  header += '\n';
  const auto length = static_cast<std::uint16_t>(header.size());
  out_ << "\x93NUMPY" << '\1' << '\0' << static_cast<char>(length & 0xff)
       << static_cast<char>(length >> 8) << header;
}

void NpyFile::write_bytes(std::span<const char> bytes) {
  out_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!out_) throw ResourceError("cannot write " + file_->path() + ": is the disk full?");
}

void NpyFile::close() {
  out_.close();
  if (!out_) throw ResourceError("cannot write " + file_->path() + ": is the disk full?");
}

}  // namespace fmbem
