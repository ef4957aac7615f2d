#include "fmbem/meshes/split.hpp"

namespace fmbem {

std::pair<CornerNumbers, CornerNumbers> split_quadrangle(const std::vector<Vec3d>& vertices,
                                                         const std::array<int, 4>& quadrangle) {
  const auto [a, b, c, d] = quadrangle;
  const auto normal = [&](const CornerNumbers& t) {
    return cross(vertices[t[1]] - vertices[t[0]], vertices[t[2]] - vertices[t[0]]);
  };
  const auto folded = [&](const std::pair<CornerNumbers, CornerNumbers>& halves) {
    return dot(normal(halves.first), normal(halves.second)) < 0;
  };
  const std::pair<CornerNumbers, CornerNumbers> along_ac = {{a, b, c}, {a, c, d}},
                                                along_bd = {{a, b, d}, {b, c, d}};
  const bool ac_is_shorter = norm2(vertices[c] - vertices[a]) <= norm2(vertices[d] - vertices[b]);
  const auto& shorter = ac_is_shorter ? along_ac : along_bd;
  const auto& longer = ac_is_shorter ? along_bd : along_ac;
  return folded(shorter) && !folded(longer) ? longer : shorter;
}

}  // namespace fmbem
