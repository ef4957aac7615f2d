#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace fmbem {

/// An array of NumPy's format .npy.
struct NpyArray {
  std::vector<std::size_t> shape;
  std::vector<double> values;  ///< the last index is the fastest
};

/// Reads little-endian doubles of at most two dimensions in the order of C. Throws InputError with
/// one sentence for anything else.
NpyArray read_npy(const std::string& path);

}  // namespace fmbem
