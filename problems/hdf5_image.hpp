#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {

/// Of the library in use, such as 1.10.8.
std::string hdf5_version();

/// An HDF5 file in memory. Files are read and written whole, so that a full disk and a cut file are
/// never HDF5's to deal with; a damaged one must not come here, as HDF5 may crash. Arrays have the
/// types double, std::int32_t, std::int64_t and text, and are compressed.
class Hdf5Image {
 public:
  /// An empty one, to be filled.
  Hdf5Image();
  /// Of a file's bytes; `name` is for sentences. Throws InputError for what HDF5 cannot open.
  Hdf5Image(const std::string& bytes, const std::string& name);
  ~Hdf5Image();
  Hdf5Image(const Hdf5Image&) = delete;
  Hdf5Image& operator=(const Hdf5Image&) = delete;

  void add_group(const std::string& name);
  /// [values.size() / columns][columns], or without `columns` one axis; empty ones too.
  template <class T>
  void add(const std::string& name, const std::vector<T>& values, std::size_t columns = 0) {
    add_array(name, kind_of(T{}), values.data(), values.size(), columns);
  }
  void add(const std::string& name, const std::vector<std::string>& texts);

  /// All its bytes.
  std::string bytes() const;

  bool has(const std::string& name) const;
  /// An array of that type. Throws InputError where it is missing, damaged or another one.
  template <class T>
  std::vector<T> read(const std::string& name) const {
    std::vector<T> values(count(name, kind_of(T{})));
    read_array(name, kind_of(T{}), values.data());
    return values;
  }
  std::vector<std::string> read_texts(const std::string& name) const;
  /// Of an array of one value.
  template <class T>
  T read_one(const std::string& name) const {
    const auto values = [&] {
      if constexpr (std::is_same_v<T, std::string>)
        return read_texts(name);
      else
        return read<T>(name);
    }();
    FMBEM_REQUIRE(values.size() == 1, name_ << " is damaged: " << name << " is not one value");
    return values.front();
  }

 private:
  enum class Kind { real, int32, int64 };
  static Kind kind_of(double) { return Kind::real; }
  static Kind kind_of(std::int32_t) { return Kind::int32; }
  static Kind kind_of(std::int64_t) { return Kind::int64; }

  void add_array(const std::string& name, Kind kind, const void* values, std::size_t n,
                 std::size_t columns);
  std::size_t count(const std::string& name, Kind kind) const;
  void read_array(const std::string& name, Kind kind, void* values) const;

  std::int64_t file_ = -1;  ///< HDF5's hid_t
  std::string name_;
};

}  // namespace fmbem
