#pragma once

#include <cmath>
#include <numbers>
#include <vector>

namespace fmbem::fmm {

/// The nodes of the Gauss-Legendre rule on [−½, ½] that are not negative, and their weights, by
/// Newton's method on the recurrence of P_n. The weight of a node includes its mirror image's.
struct HalfRule {
  std::vector<double> node, weight;

  explicit HalfRule(int n) {
    for (int i = 0; i < (n + 1) / 2; ++i) {
      double x = std::cos(std::numbers::pi * (i + 0.75) / (n + 0.5)), slope = 1;
      for (int step = 0; step < 6; ++step) {
        double low = 1, here = x;
        for (int k = 2; k <= n; ++k) {
          const double next = ((2 * k - 1) * x * here - (k - 1) * low) / k;
          low = here;
          here = next;
        }
        slope = n * (x * here - low) / (x * x - 1);
        x -= here / slope;
      }
      const bool centre = 2 * i + 1 == n;
      node.push_back(centre ? 0 : x / 2);
      weight.push_back((centre ? 1 : 2) / ((1 - x * x) * slope * slope));
    }
  }
};

}  // namespace fmbem::fmm
