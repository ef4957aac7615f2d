// Step 8: a treecode. From the largest box on: if a box of radius r is at least r/θ away it acts by
// its moments (M2P), if not its children are asked, and at the deepest level its charges (P2P).
// Each target meets O(log N) boxes. Smaller θ: smaller errors, more boxes.
#include "expansions.hpp"
#include "tree.hpp"

struct Treecode {
  Treecode(const Charges& c, int depth, int order) : tree(c, depth), p(order), moments(depth + 1) {
    for (int level = depth; level >= 0; --level) {
      moments[level].assign(std::size_t{1} << 3 * level, Expansion(p));
      for (std::size_t box = 0; box < moments[level].size(); ++box) {
        const Vec3d centre = centre_of(box, level);
        if (level == depth)
          for (std::size_t j = tree.first(box, level); j < tree.last(box, level); ++j)
            p2m(moments[level][box], tree.sorted.q[j], tree.sorted.x[j] - centre);
        else
          for (std::size_t child = 8 * box; child < 8 * box + 8; ++child)
            m2m(moments[level][box], moments[level + 1][child],
                centre_of(child, level + 1) - centre);
      }
    }
  }
  double potential(Vec3d x, double theta, std::size_t box = 0, int level = 0) const {
    const Vec3d d = x - centre_of(box, level);
    const double radius = 0.5 * std::sqrt(3.0) * std::ldexp(1.0, -level);
    if (radius < theta * norm(d)) return m2p(moments[level][box], d);
    double u = 0;
    if (level < tree.depth)
      for (std::size_t child = 8 * box; child < 8 * box + 8; ++child)
        u += potential(x, theta, child, level + 1);
    else
      for (std::size_t j = tree.first(box, level); j < tree.last(box, level); ++j)
        if (const double r = norm(x - tree.sorted.x[j]); r > 0) u += tree.sorted.q[j] / r;
    return u;
  }

  Tree tree;
  int p;
  std::vector<std::vector<Expansion>> moments;  // [level][box]
};

int main() {
  const Charges c = charges_in_cube(8000, {0, 0, 0}, 1, 1);
  const int p = 4;
  const Treecode code(c, 3, p);
  bool good = true;
  for (const double theta : {0.8, 0.6, 0.4}) {
    const double start = now();
    std::vector<double> u;
    for (const Vec3d& x : c.x) u.push_back(code.potential(x, theta));
    char what[64];
    std::snprintf(what, sizeof what, "treecode, order %d, theta %.1f", p, theta);
    // The bound of step 4 is for charges of one sign in the worst place; mixed signs have less.
    good = tell(what, error_of(u, c.x, c), std::pow(theta, p + 1), now() - start) && good;
  }
  return !good;
}
