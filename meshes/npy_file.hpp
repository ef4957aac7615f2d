#pragma once

#include <cstdint>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fmbem/meshes/output_file.hpp"

namespace fmbem {

/// An array in NumPy's format .npy, version 1.0 (numpy.lib.format): little-endian doubles or 64-bit
/// integers. It appears whole or not at all.
class NpyFile {
 public:
  enum class Order {
    rows,    ///< the last index is the fastest, as in C
    columns  ///< the first one is
  };

  /// Throws InputError for a path that cannot be written.
  template <class T>
  static NpyFile of(const std::string& path, const std::vector<std::size_t>& shape,
                    Order order = Order::rows) {
    return {path, type_name(T{}), shape, order};
  }

  /// The next values, in the order of the array.
  template <class T>
  void write(std::span<const T> values) {
    write_bytes({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  }
  /// No more values. Throws ResourceError if the disk is full.
  void close();
  /// Gives the closed file its name.
  void commit() { file_->commit(); }

 private:
  NpyFile(const std::string& path, const char* type, const std::vector<std::size_t>& shape,
          Order order);
  static const char* type_name(double) { return "<f8"; }
  static const char* type_name(std::int64_t) { return "<i8"; }
  void write_bytes(std::span<const char> bytes);

  std::unique_ptr<OutputFile> file_;
  std::ofstream out_;
};

}  // namespace fmbem
