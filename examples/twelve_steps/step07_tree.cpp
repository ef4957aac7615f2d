// Step 7: boxes. A Morton key interleaves the bits of x, y and z: sorted by it, the charges of
// every box of every level stand together, a child's key is its parent's with three bits more, and
// no pointers are needed. Here the sum is over the boxes that touch and over those that do not:
// each pair once, so nothing changes but the order.
#include "tree.hpp"

int main() {
  const Charges c = charges_in_cube(3000, {0, 0, 0}, 1, 1);
  const double start = now();
  const Tree tree(c, 2);
  const double seconds = now() - start;
  const Charges& s = tree.sorted;
  std::vector<double> u(s.x.size());
  std::size_t near_pairs = 0;
  for (std::size_t target = 0; target < 64; ++target) {
    const auto near = neighbours(target, 2);
    for (std::size_t box = 0; box < 64; ++box) {
      if (std::count(near.begin(), near.end(), box) > 0)
        near_pairs += (tree.last(target, 2) - tree.first(target, 2)) *
                      (tree.last(box, 2) - tree.first(box, 2));
      for (std::size_t i = tree.first(target, 2); i < tree.last(target, 2); ++i)
        for (std::size_t j = tree.first(box, 2); j < tree.last(box, 2); ++j)
          if (i != j) u[i] += s.q[j] / norm(s.x[i] - s.x[j]);
    }
  }
  std::printf("%.0f %% of the pairs are of boxes that touch\n",
              100.0 * static_cast<double>(near_pairs) / (3000.0 * 3000.0));
  return !tell("tree of 64 boxes (time: the tree's)", error_of(u, s.x, s), 1e-12, seconds);
}
