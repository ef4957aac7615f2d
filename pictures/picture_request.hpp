#pragma once

#include <string>
#include <tuple>

#include "fmbem/meshes/memory_file.hpp"
#include "fmbem/pictures/picture_options.hpp"

namespace fmbem {

/// The number, among the open files of fmbem-picture, of a result that lies in memory.
constexpr int result_file = request_file + 1;

/// What fmbem-picture is asked for.
struct PictureRequest {
  std::string result;   ///< the path to read
  std::string name;     ///< what errors call it
  std::string picture;  ///< the path that the user gave
  std::string partial;  ///< where to write
  PictureOptions options;

  /// Whether nothing is to be drawn: the question is whether the program starts.
  bool is_empty() const { return result.empty(); }
};

inline auto members(PictureRequest& x) {
  auto& [result, name, picture, partial, options] = x;
  return std::tie(result, name, picture, partial, options);
}

}  // namespace fmbem

// After the members, which it looks for.
#include "fmbem/meshes/parcel.hpp"
