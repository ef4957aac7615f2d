#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "fmbem/problems/hdf5_image.hpp"

namespace fmbem {

/// The arrays of a solution's file. Throws InputError for what does not fit, and says which it is.
class KeptArrays {
 public:
  KeptArrays(const std::string& bytes, const std::string& file)
      : file_(file), image_(bytes, file) {}

  void require(bool good, const char* what) const {
    FMBEM_REQUIRE(good, file_ << " is damaged: its " << what << " do not fit");
  }
  bool has(const char* name) const { return image_.has(name); }

  /// n values.
  template <class T>
  std::vector<T> read(const char* name, std::size_t n) const {
    std::vector<T> values = image_.read<T>(name);
    require(values.size() == n, name);
    return values;
  }
  template <class T>
  T read_one(const char* name) const {
    return image_.read_one<T>(name);
  }
  std::vector<std::int32_t> numbers(const char* name) const {
    return image_.read<std::int32_t>(name);
  }
  std::vector<std::string> texts(const char* name) const { return image_.read_texts(name); }
  std::vector<std::string> texts(const char* name, std::size_t n) const {
    std::vector<std::string> values = texts(name);
    require(values.size() == n, name);
    return values;
  }
  enum class Values { finite, or_nan };  ///< NaN where there is none
  /// Numbers; none only where `none_too`.
  std::vector<std::vector<double>> rows(const char* name, std::size_t columns,
                                        bool none_too = false,
                                        Values known = Values::finite) const {
    const std::vector<double> values = image_.read<double>(name);
    require(columns == 0 ? values.empty() : values.size() % columns == 0, name);
    require(none_too || !values.empty(), name);
    const auto fits = [&](double x) {
      return std::isfinite(x) || (known == Values::or_nan && std::isnan(x));
    };
    require(std::all_of(values.begin(), values.end(), fits), name);
    std::vector<std::vector<double>> result;
    for (auto row = values.begin(); row != values.end(); row += std::ptrdiff_t(columns))
      result.emplace_back(row, row + std::ptrdiff_t(columns));
    return result;
  }
  /// n of them; also without columns.
  std::vector<std::vector<double>> rows_of(const char* name, std::size_t n, std::size_t columns,
                                           Values known = Values::finite) const {
    if (columns == 0) return std::vector<std::vector<double>>(n);
    std::vector<std::vector<double>> result = rows(name, columns, false, known);
    require(result.size() == n, name);
    return result;
  }

 private:
  std::string file_;
  Hdf5Image image_;
};

/// One row after the other.
inline std::vector<double> joined(const std::vector<std::vector<double>>& rows) {
  std::vector<double> result;
  for (const std::vector<double>& row : rows) result.insert(result.end(), row.begin(), row.end());
  return result;
}

}  // namespace fmbem
