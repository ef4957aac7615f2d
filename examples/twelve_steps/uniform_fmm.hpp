// The FMM of step 9 on boxes of one size, for steps 9 and 10: O(N) operations.
#pragma once

#include <map>

#include "uniform_boxes.hpp"

class UniformFmm : public UniformBoxes {
 public:
  using UniformBoxes::UniformBoxes;

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
};
