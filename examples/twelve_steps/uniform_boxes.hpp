// The expansions of all boxes of the unit cube, with what brings them up and down the levels and to
// the charges: all of the FMM of step 9 but M2L.
#pragma once

#include "expansions.hpp"
#include "tree.hpp"

class UniformBoxes {
 public:
  UniformBoxes(const Charges& c, int depth, int order)
      : tree(c, depth), p(order), moments(depth + 1), locals(depth + 1) {
    for (int level = 2; level <= depth; ++level) {
      moments[level].assign(std::size_t{1} << 3 * level, Expansion(p));
      locals[level] = moments[level];
    }
  }

  void p2m_all() {
    each_box(tree.depth, [&](std::size_t box, Vec3d centre) {
      for (std::size_t j = tree.first(box, tree.depth); j < tree.last(box, tree.depth); ++j)
        p2m(moments[tree.depth][box], tree.sorted.q[j], tree.sorted.x[j] - centre);
    });
  }
  void m2m_all() {
    for (int level = tree.depth - 1; level >= 2; --level)
      each_box(level, [&](std::size_t box, Vec3d centre) {
        for (std::size_t child = 8 * box; child < 8 * box + 8; ++child)
          m2m(moments[level][box], moments[level + 1][child], centre_of(child, level + 1) - centre);
      });
  }
  void l2l_all() {
    for (int level = 3; level <= tree.depth; ++level)
      each_box(level, [&](std::size_t box, Vec3d centre) {
        l2l(locals[level][box], locals[level - 1][box / 8], centre - centre_of(box / 8, level - 1));
      });
  }
  /// L2P, and P2P of the boxes that touch: each box owns its targets, so threads never meet.
  void evaluate(std::vector<double>& u) {
    each_box(tree.depth, [&](std::size_t box, Vec3d centre) {
      const Charges& s = tree.sorted;
      for (std::size_t i = tree.first(box, tree.depth); i < tree.last(box, tree.depth); ++i) {
        u[i] = l2p(locals[tree.depth][box], s.x[i] - centre);
        for (const std::size_t near : neighbours(box, tree.depth))
          for (std::size_t j = tree.first(near, tree.depth); j < tree.last(near, tree.depth); ++j)
            if (i != j) u[i] += s.q[j] / norm(s.x[i] - s.x[j]);
      }
    });
  }

  Tree tree;

 protected:
  template <class Body>
  void each_box(int level, const Body& body) {
#pragma omp parallel for schedule(dynamic, 8)
    for (std::size_t box = 0; box < std::size_t{1} << 3 * level; ++box)
      body(box, centre_of(box, level));
  }

  int p;
  std::vector<std::vector<Expansion>> moments, locals;  // [level][box]
};
