#pragma once

#include "fmbem/bem/far_rules.hpp"
#include "fmbem/bem/sliver.hpp"
#include "fmbem/cuda/memory.cuh"
#include "fmbem/cuda/near_sums.cuh"

namespace fmbem::cuda {

/// Relative error that rules in single precision add: roots to 23 bits, differences to 24.
inline constexpr double single_rule_rounding = 3e-7;

/// Rules of the near field as a kernel's argument, for sums in N: of 1, 3, 7 and 16 points, one
/// behind the other. A closed form costs about as much as sixteen points, so what is too close for
/// these takes that.
template <class N>
struct NearRules {
  static constexpr int most_rules = 4, all_points = 1 + 3 + 7 + 16;

  /// `tolerance`: relative error of each integral.
  explicit NearRules(double tolerance);

  /// Kernels that count, list and leave out close pairs must agree in every bit: nothing here is
  /// left to the compiler to contract.
  __device__ static N distance2(Vec3<N> d) { return fma(d.x, d.x, fma(d.y, d.y, d.z * d.z)); }
  /// The first rule that serves at a distance; −1 where none does.
  __device__ int at(N distance2, N radius2) const {
    for (int k = 0; k < count; ++k)
      if (distance2 >= reach2[k] * radius2) return k;
    return -1;
  }

  int count = 0;
  N reach2[most_rules];  ///< from that many squared radii on; infinite where there is no rule
  N xi[all_points], eta[all_points], weight[all_points];
  double shaped;  ///< triangles of this shape take one closed form
};

/// A panel for rules: a corner from the centroid, two edges from there, area/(4π). Of a size that
/// shared memory hands out in pieces of four words, without clashes between neighbours.
template <class N>
struct alignas(16) RulePanel {
  Vec3<N> corner, edge1, edge2;
  N weight, radius2;
};

/// Σ weight/|y| over points of a rule, which are known to the compiler by their places.
template <int Begin, int End, class N>
__device__ inline N sum_points(const NearRules<N>& rules, const RulePanel<N>& panel,
                               Vec3<N> corner) {
  N sum = 0;
#pragma unroll
  for (int q = Begin; q < End; ++q) {
    const N xi = rules.xi[q], eta = rules.eta[q];
    const N x = eta * panel.edge2.x + (xi * panel.edge1.x + corner.x),
            y = eta * panel.edge2.y + (xi * panel.edge1.y + corner.y),
            z = eta * panel.edge2.z + (xi * panel.edge1.z + corner.z);
    sum += rules.weight[q] * inverse_root<2>(z * z + (y * y + x * x));
  }
  return sum;
}

/// 1/(4π) ∫ 1/|y| over the panel by rule k, `centre` being its centroid from the target.
template <class N>
__device__ inline N integrate_by(const NearRules<N>& rules, int k, const RulePanel<N>& panel,
                                 Vec3<N> centre) {
  const Vec3<N> corner = centre + panel.corner;
  return panel.weight * (k == 0   ? sum_points<0, 1>(rules, panel, corner)
                         : k == 1 ? sum_points<1, 4>(rules, panel, corner)
                         : k == 2 ? sum_points<4, 11>(rules, panel, corner)
                                  : sum_points<11, 27>(rules, panel, corner));
}

/// Rules of the far field's moments in device memory.
struct MomentRulesView {
  static constexpr int most_rules = 8;
  int count;
  double reach[most_rules];  ///< that many radii are at most the box's side
  int begin[most_rules + 1];
  const double *xi, *eta, *weight;

  /// The first rule that serves panels of such a radius in a box with that side.
  __device__ int at(double side, double radius) const {
    int rule = 0;
    while (rule + 1 < count && side < reach[rule] * radius) ++rule;
    return rule;
  }
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
