#pragma once

#include <vector>

#include "fmbem/bem/far_rules.hpp"
#include "fmbem/bem/sliver.hpp"
#include "fmbem/cuda/memory.cuh"
#include "fmbem/cuda/near_sums.cuh"

namespace fmbem::cuda {

/// Rules of the near field as a kernel's argument. A closed form costs about as much as sixteen
/// points: rules of more have no place here.
struct NearRules {
  static constexpr int most_points = 16, most_rules = 4, all_points = 1 + 3 + 7 + 16;

  explicit NearRules(double tolerance);

  int count = 0;
  double reach2[most_rules];  ///< from that many squared radii on
  int begin[most_rules + 1];
  double xi[all_points], eta[all_points], weight[all_points];
  double shaped;  ///< triangles of this shape take one closed form
};

/// ∫ 1/|y| over a piece, x at the origin, by rule k; over 4π.
__device__ inline double integrate_by(const NearRules& rules, int k, const Piece& p) {
  const Vec3d e1 = p.d[1] - p.d[0], e2 = p.d[2] - p.d[0];
  double sum = 0;
  for (int q = rules.begin[k]; q < rules.begin[k + 1]; ++q) {
    const Vec3d y = p.d[0] + rules.xi[q] * e1 + rules.eta[q] * e2;
    sum += rules.weight[q] * inverse_root<2>(norm2(y));
  }
  return inv_4pi * p.area * sum;
}

/// The first rule that serves at a distance; −1 where none does.
__device__ inline int rule_at(const NearRules& rules, double distance2, double radius2) {
  for (int k = 0; k < rules.count; ++k)
    if (distance2 >= rules.reach2[k] * radius2) return k;
  return -1;
}

__device__ __attribute__((noinline)) inline double sliver_potential(const NearRules& rules,
                                                                    const Piece& whole) {
  double sum = 0;
  for_sliver_pieces(
      whole,
      [&](const Piece& p, double distance2, double radius2) {
        const int rule = rule_at(rules, distance2, radius2);
        if (rule >= 0) sum += integrate_by(rules, rule, p);
        return rule >= 0;
      },
      [&](const Triangle& p) { sum += triangle_potential(p, {}); });
  return sum;
}

/// 1/(4π) ∫_T 1/|x − y| dS_y to the tolerance of the rules, for any x.
__device__ inline double near_potential(const NearRules& rules, const Triangle& t, Vec3d x) {
  const int rule = rule_at(rules, norm2(t.centroid - x), t.radius * t.radius);
  const Piece whole{{t.vertex[0] - x, t.vertex[1] - x, t.vertex[2] - x}, t.area};
  if (rule >= 0) return integrate_by(rules, rule, whole);
  if (shape(t) > rules.shaped) return triangle_potential(t, x);
  return sliver_potential(rules, whole);
}

/// Rules of the far field's moments in device memory.
struct MomentRulesView {
  static constexpr int most_rules = 8;
  int count;
  double reach[most_rules];  ///< that many radii are at most the box's side
  int begin[most_rules + 1];
  const double *xi, *eta, *weight;
};

class MomentRules {
 public:
  MomentRules(double tolerance, cudaStream_t stream);
  const MomentRulesView& view() const { return view_; }

 private:
  DeviceBuffer<double> xi_, eta_, weight_;
  MomentRulesView view_{};
};

}  // namespace fmbem::cuda
