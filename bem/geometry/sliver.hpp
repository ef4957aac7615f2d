#pragma once

#include "fmbem/bem/geometry/triangle.hpp"

namespace fmbem {

/// From this height over the longest edge on, a closed form loses at most a digit and a half.
inline constexpr double well_shaped = 0.05;

/// From this one on, a closed form still reaches the tolerance.
inline double shaped_enough(double tolerance) { return tolerance >= 1e-9 ? 0.005 : well_shaped; }

FMBEM_HD inline double shape(const Triangle& t) {
  const double longest = fmax(t.length[0], fmax(t.length[1], t.length[2]));
  return 2 * t.area / (longest * longest);
}

/// A triangle with x at the origin. The area is handed down from the whole triangle: a piece of a
/// sliver has rounded corners, whose area would be off by the rounding times the aspect ratio.
struct Piece {
  Vec3d d[3];
  double area;
};

/// Cuts a sliver at the middle of its longest edge, and the pieces likewise. Calls far(piece,
/// squared distance of its centroid, squared radius): true takes the piece; else it is cut on until
/// it is well shaped, and goes to near(triangle). A needle's tip has the same shape at every scale,
/// but each cut divides its share by four: 24 cuts suffice.
template <class Far, class Near>
FMBEM_HD void for_sliver_pieces(const Piece& whole, Far&& far, Near&& near) {
  // Which half was taken at each cut, the last one in the lowest bit. Pieces are cut anew from the
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
