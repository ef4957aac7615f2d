#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <zlib.h>

/// A .vtu file with compressed arrays appended as they are, read without the code that writes them.
class VtuFile {
 public:
  explicit VtuFile(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    text.assign(std::istreambuf_iterator<char>(in), {});
  }

  std::string text;

  /// The values of the array whose name stands like that in XML.
  template <class T>
  std::vector<T> array(const std::string& name, const std::string& type) const {
    const std::size_t tag = text.find("<DataArray type=\"" + type + "\" Name=\"" + name + '"');
    if (tag == text.npos) throw std::runtime_error("no array " + name);
    const std::size_t offset = text.find("offset=\"", tag) + 8;
    const std::string mark = "<AppendedData encoding=\"raw\">\n_";
    std::size_t at = text.find(mark) + mark.size() + std::stoull(text.substr(offset));
    std::vector<std::uint64_t> header = numbers(at, 3);
    const auto [blocks, block_bytes, last_bytes] = std::array{header[0], header[1], header[2]};
    const std::vector<std::uint64_t> sizes = numbers(at + 24, blocks);
    at += 24 + 8 * blocks;
    std::string bytes;
    for (std::uint64_t b = 0; b < blocks; ++b) {
      std::string block(b + 1 == blocks && last_bytes > 0 ? last_bytes : block_bytes, '\0');
      uLongf size = block.size();
      if (uncompress(reinterpret_cast<Bytef*>(block.data()), &size,
                     reinterpret_cast<const Bytef*>(text.data() + at), sizes[b]) != Z_OK ||
          size != block.size())
        throw std::runtime_error("a block of " + name + " is no stream of zlib of its size");
      bytes += block;
      at += sizes[b];
    }
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

 private:
  std::vector<std::uint64_t> numbers(std::size_t at, std::size_t n) const {
    std::vector<std::uint64_t> found(n);
    std::memcpy(found.data(), text.data() + at, 8 * n);
    return found;
  }
};
