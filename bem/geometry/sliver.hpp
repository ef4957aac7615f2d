#pragma once

#include "fmbem/bem/geometry/triangle.hpp"

namespace fmbem {

/// Height over longest edge from which a closed form loses at most a digit and a half.
inline constexpr double well_shaped = 0.05;

/// The same for a closed form that still has the tolerance.
inline double shaped_enough(double tolerance) { return tolerance >= 1e-9 ? 0.005 : well_shaped; }

FMBEM_HD inline double shape(const Triangle& t) {
  const double longest = fmax(t.length[0], fmax(t.length[1], t.length[2]));
  return 2 * t.area / (longest * longest);
}

/// A triangle seen from x at the origin. The area is handed down from the whole triangle, since
/// that of a piece of a sliver, from rounded corners, would be off by its aspect ratio.
struct Piece {
  Vec3d d[3];
  double area;
};

/// Calls far(piece, centroid's distance², radius²) for pieces of a sliver, cut at the middle of
/// their longest edges; those that it does not take (returns false) are cut on, until they are well
/// shaped: they go to near(triangle). A needle's tip repeats its shape at every scale, but its
/// share falls fourfold a cut: so 24 cuts do.
template <class Far, class Near>
FMBEM_HD void for_sliver_pieces(const Piece& whole, Far&& far, Near&& near) {
  // Which half was taken at each cut, the last one in the lowest bit: pieces are cut anew from the
  // whole, so that no stack is needed.
  unsigned halves = 0;
  int cuts = 0;
  for (;;) {
    Piece piece = whole;
    double longest2 = 0;
    for (int cut = 0;; ++cut) {
      int longest = 0;
      longest2 = 0;
      for (int k = 0; k < 3; ++k) {
        const double length2 = norm2(piece.d[(k + 1) % 3] - piece.d[k]);
        if (length2 > longest2) longest2 = length2, longest = k;
      }
      if (cut == cuts) break;
      const Vec3d a = piece.d[longest], b = piece.d[(longest + 1) % 3],
                  c = piece.d[(longest + 2) % 3], middle = 0.5 * (a + b);
      const bool second = halves >> (cuts - 1 - cut) & 1;
      piece = {{second ? middle : a, second ? b : middle, c}, piece.area / 2};
    }
    const Vec3d centroid = (piece.d[0] + piece.d[1] + piece.d[2]) / 3.0;
    double radius2 = 0;
    for (int k = 0; k < 3; ++k) radius2 = fmax(radius2, norm2(piece.d[k] - centroid));
    if (!far(piece, norm2(centroid), radius2)) {
      if (cuts < 24 && 2 * piece.area <= well_shaped * longest2) {
        halves <<= 1;
        ++cuts;
        continue;
      }
      near(make_triangle(piece.d[0], piece.d[1], piece.d[2]));
    }
    for (; cuts > 0 && (halves & 1); --cuts) halves >>= 1;
    if (cuts == 0) return;
    halves |= 1;
  }
}

}  // namespace fmbem
