// The FMM of step 9 on boxes of one size, for steps 9 and 10: O(N) operations.
#pragma once

#include <map>

#include "expansions.hpp"
#include "tree.hpp"

class UniformFmm {
 public:
  UniformFmm(const Charges& c, int depth, int order)
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
  /// From the children of the parent's neighbours that are no neighbours: at most 189 boxes.
  void m2l_all() {
    for (int level = 2; level <= tree.depth; ++level) {
      // Operators depend on the displacement alone: T of the 7³ of them, made once a level.
      std::vector<Expansion> operators(343, Expansion(2 * p));
      for (int k = 0; k < 343; ++k) {
        const Vec3d r{k / 49 - 3.0, k / 7 % 7 - 3.0, k % 7 - 3.0};
        if (norm2(r) > 0) operators[k] = irregular(std::ldexp(1.0, -level) * r, 2 * p);
      }
      each_box(level, [&](std::size_t box, Vec3d) {
        const auto here = cell_of_box(box);
        for (const std::size_t uncle : neighbours(box / 8, level - 1))
          for (std::size_t source = 8 * uncle; source < 8 * uncle + 8; ++source) {
            const auto there = cell_of_box(source);
            int far = 0, k = 0;
            for (int axis = 0; axis < 3; ++axis) {
              far = std::max(far, std::abs(here[axis] - there[axis]));
              k = 7 * k + here[axis] - there[axis] + 3;
            }
            if (far > 1) m2l(locals[level][box], moments[level][source], operators[k]);
          }
      });
    }
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
  /// All stages; adds the seconds of each. Potentials are in the tree's order.
  std::vector<double> run(std::map<std::string, double>& seconds) {
    std::vector<double> u(tree.sorted.x.size());
    double last = now();
    const auto timed = [&](const char* stage) {
      seconds[stage] += now() - last;
      last = now();
    };
    p2m_all(), timed("P2M");
    m2m_all(), timed("M2M");
    m2l_all(), timed("M2L");
    l2l_all(), timed("L2L");
    evaluate(u), timed("L2P and P2P");
    return u;
  }

  Tree tree;

 private:
  template <class Body>
  void each_box(int level, const Body& body) {
#pragma omp parallel for schedule(dynamic, 8)
    for (std::size_t box = 0; box < std::size_t{1} << 3 * level; ++box)
      body(box, centre_of(box, level));
  }

  int p;
  std::vector<std::vector<Expansion>> moments, locals;  // [level][box]
};
