#pragma once

#include <optional>
#include <string>
#include <tuple>

namespace fmbem {

enum class Quantity { charge, potential, field };

/// A plane across an axis: 0, 1, 2 for x, y, z.
struct Cut {
  int axis;
  double at;  ///< in the file's unit
};

/// What of a result a picture shows.
struct PictureOptions {
  std::optional<Quantity> quantity{};  ///< else charge on surfaces, potential in space
  std::optional<std::string> net{};    ///< the conductor at 1 V; else the first
  std::optional<Cut> cut{};            ///< of a box
  bool log = false;                    ///< logarithmic colours; else where a range asks for them
  std::optional<double> range{};       ///< of potentials in kT/e; else drawn_potential
};

inline auto members(PictureOptions& x) {
  auto& [quantity, net, cut, log, range] = x;
  return std::tie(quantity, net, cut, log, range);
}

}  // namespace fmbem
