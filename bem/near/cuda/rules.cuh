#pragma once

#include <cmath>
#include <type_traits>

#include "fmbem/bem/layer/layer.hpp"
#include "fmbem/bem/near/far_rules.hpp"
#include "fmbem/bem/space/strip_rule.hpp"
#include "fmbem/cuda/memory.cuh"
#include "fmbem/cuda/near_kernel.cuh"
#include "fmbem/cuda/p2p_sums.cuh"

namespace fmbem::cuda::bem {

/// The relative error that single precision adds to rules: roots and differences to 23 bits, sums,
/// for dipoles the roots' cubes, and of Yukawa's kernel the exponential.
constexpr double single_rule_rounding(const PanelKernel& kernel) {
  return (kernel.source == Trace::value ? 3e-7 : 8e-7) + (kernel.kappa > 0 ? 3e-7 : 0);
}

/// Symmetric rules as an argument of kernels, for sums in N: those of 1, 3, 7 and 16 points.
template <class N>
struct SymmetricRules {
  static constexpr int most_rules = 4;
  /// Rule k has k orbits of three points on the medians, stored behind those of the rules before;
  /// the last rule also has an orbit of six points.
  __host__ __device__ static constexpr int medians_begin(int rule) { return rule * (rule - 1) / 2; }

  /// Of which those for the tolerance are filled in.
  explicit SymmetricRules(const std::vector<FarRule>& rules);

  /// Kernels that count, list and leave out close pairs must agree in every bit, so the compiler
  /// may fuse nothing here.
  __device__ static N distance2(Vec3<N> d) { return fma(d.x, d.x, fma(d.y, d.y, d.z * d.z)); }

  N centroid_weight[most_rules] = {};
  /// A point at the centroid c + s d, d a corner from the centroid, has |c + s d|² = |c|² +
  /// 2s c·d + s² |d|².
  N median_dot[6] = {}, median_square[6] = {}, median_weight[6] = {};
  /// A point at c + s d + t d′, d′ another corner's, also has 2 d·d′ = |d″|² − |d|² − |d′|², as the
  /// three add up to zero.
  N six_dot[2] = {}, six_square[3] = {}, six_weight = 0;
};

/// The distance beyond a panel from which on its Yukawa potential does not count; 0 of Laplace's.
inline double negligible_beyond(double tolerance, double kappa) {
  return kappa > 0 ? std::log(10 / tolerance) / kappa : 0;
}

/// The rules of the near field and the kernel that they integrate. A closed form costs about as
/// much as sixteen points, so pairs that are too close for these rules take it.
template <class N, class Kernel = fmm::Laplace>
struct NearRules;

template <class N>
struct NearRules<N, fmm::Laplace> : SymmetricRules<N> {
  /// `tolerance`: relative error of each integral of the kernel's trace.
  NearRules(double tolerance, const PanelKernel& kernel);

  __device__ N served2(int rule, double radius2) const {
    return reach2[rule] * static_cast<N>(radius2);
  }

  /// The squared distance in radii from which each rule serves. A rule that is not needed has that
  /// of the one before, so that it is never the first to serve.
  N reach2[SymmetricRules<N>::most_rules];
  fmm::Laplace kernel;
};

/// κ is in the unit of the lengths here. Integrals that are below the tolerance times what they
/// would be close by are as any rule has them, which is no more.
template <class N>
struct NearRules<N, fmm::Yukawa> : SymmetricRules<N> {
  NearRules(double tolerance, const PanelKernel& kernel);

  /// Never inline: kernels that count, list and leave out close pairs must agree in every bit.
  __device__ __attribute__((noinline)) N served2(int rule, double radius2) const {
    const double radius = sqrt(radius2), beyond = radius + negligible,
                 left = inverse_reach_of_rule(reach[rule], degree[rule], kappa * radius);
    return static_cast<N>(left * beyond > radius ? radius2 / (left * left) : beyond * beyond);
  }

  double kappa, negligible;  ///< distance beyond a panel's radius from which on nothing counts
  double reach[SymmetricRules<N>::most_rules];
  int degree[SymmetricRules<N>::most_rules];
  NearYukawa<N> kernel;
};

/// The factor of a panel's sums: area/(4π), or that times the normal.
template <class N, Trace source>
using RuleWeight = std::conditional_t<source == Trace::value, N, Vec3<N>>;

/// A panel for rules: the squares of the distances from which on they serve, two corners from the
/// centroid (the third's is minus their sum), the squares of all three, and its weight.
template <class N, Trace source>
struct alignas(2 * sizeof(N)) RulePanel {
  N served2[SymmetricRules<N>::most_rules];
  Vec3<N> corner[2];
  N square[3];
  RuleWeight<N, source> weight;

  /// Nothing, which every rule serves everywhere.
  __device__ RulePanel() : served2{}, corner{}, square{}, weight{} {}
  template <class Rules>
  __device__ RulePanel(const Rules& rules, Vec3<N> corner0, Vec3<N> corner1,
                       RuleWeight<N, source> panel_weight, double radius2)
      : corner{corner0, corner1},
        square{norm2(corner0), norm2(corner1), norm2(corner0 + corner1)},
        weight(panel_weight) {
#pragma unroll
    for (int k = 0; k < Rules::most_rules; ++k) served2[k] = rules.served2(k, radius2);
  }
  __device__ bool served_by(int rule, N distance2) const { return distance2 >= served2[rule]; }
  /// The first rule that serves at a distance; −1 where none does.
  __device__ int rule_at(N distance2) const {
#pragma unroll
    for (int k = 0; k < SymmetricRules<N>::most_rules; ++k)
      if (served_by(k, distance2)) return k;
    return -1;
  }
};

/// The rules of dipoles for charges and dipoles at once, which share all but a factor.
template <class N, class Kernel>
struct RulesOfBoth : NearRules<N, Kernel> {
  using NearRules<N, Kernel>::NearRules;
};

/// Sums, or integrals, of charges and of dipoles.
template <class N>
struct OfBoth {
  N v = 0, k = 0;
  __device__ friend OfBoth operator*(N factor, OfBoth of) { return {factor * of.v, factor * of.k}; }
  __device__ OfBoth& operator+=(OfBoth other) {
    v += other.v;
    k += other.k;
    return *this;
  }
};

/// g(r), or −g'(r)/r for dipoles, at a distance whose square is r2; g is 1/r or e^{−κr}/r.
template <Trace source, class N, class Kernel>
__device__ inline N kernel_at(const NearRules<N, Kernel>& rules, N r2) {
  const auto radial = rules.kernel.template radial<2>(r2, inverse_root<2>(r2));
  if constexpr (source == Trace::value)
    return radial.g;
  else
    return radial.g * radial.a();
}
template <Trace, class N, class Kernel>
__device__ inline OfBoth<N> kernel_at(const RulesOfBoth<N, Kernel>& rules, N r2) {
  const auto radial = rules.kernel.template radial<2>(r2, inverse_root<2>(r2));
  return {radial.g, radial.g * radial.a()};
}

/// The factor that makes a sum over a panel's points its integral. All points of a panel are
/// equally far from the target along its normal, so that for dipoles n·(x − y) is a factor of the
/// sum.
template <class N>
__device__ inline N whole_integral(N weight, Vec3<N> /*centre*/, N sum) {
  return weight * sum;
}
template <class N>
__device__ inline N whole_integral(Vec3<N> weight, Vec3<N> centre, N sum) {
  return -dot(weight, centre) * sum;
}
/// Of charges the factor is left to the caller.
template <class N>
__device__ inline OfBoth<N> whole_integral(Vec3<N> weight, Vec3<N> centre, OfBoth<N> sum) {
  return {sum.v, whole_integral(weight, centre, sum.k)};
}

/// 1/(4π) ∫ g(|y|), or with Trace::normal 1/(4π) ∫ n·y g'(|y|)/|y|, over the panel by rule `Rule`,
/// `centre` being its centroid from the target and `distance2` |centre|². RulesOfBoth have both,
/// the first over the panel's area.
template <int Rule, class Rules, class N, Trace source>
__device__ inline auto integrate_by(const Rules& rules, const RulePanel<N, source>& panel,
                                    Vec3<N> centre, N distance2) {
  const auto kernel = [&](N r2) { return kernel_at<source>(rules, r2); };
  if constexpr (Rule == 0) return whole_integral(panel.weight, centre, kernel(distance2));
  decltype(kernel(distance2)) sum{};
  if constexpr (Rule != 1) sum = rules.centroid_weight[Rule] * kernel(distance2);
  const N dot0 = dot(centre, panel.corner[0]), dot1 = dot(centre, panel.corner[1]);
  const N along[3] = {dot0, dot1, -(dot0 + dot1)};
#pragma unroll
  for (int k = 0; k < Rule; ++k) {
    const int orbit = Rules::medians_begin(Rule) + k;
#pragma unroll
    for (int c = 0; c < 3; ++c)
      sum += rules.median_weight[orbit] *
             kernel(distance2 + rules.median_square[orbit] * panel.square[c] +
                    rules.median_dot[orbit] * along[c]);
  }
  if constexpr (Rule == 3) {
    N second[3];
#pragma unroll
    for (int c = 0; c < 3; ++c)
      second[c] = rules.six_square[1] * panel.square[c] + rules.six_dot[1] * along[c];
#pragma unroll
    for (int c = 0; c < 3; ++c) {
      const N first =
          distance2 + rules.six_square[0] * panel.square[c] + rules.six_dot[0] * along[c];
#pragma unroll
      for (int k = 1; k < 3; ++k) {
        const int other = (c + k) % 3, third = 3 - c - other;
        sum += rules.six_weight *
               kernel(first + rules.six_square[2] * panel.square[third] + second[other]);
      }
    }
  }
  return whole_integral(panel.weight, centre, sum);
}
/// The same with a rule that is known at run time, where all threads have the same.
template <class Rules, class N, Trace source>
__device__ inline auto integrate_by(const Rules& rules, int rule, const RulePanel<N, source>& panel,
                                    Vec3<N> centre, N distance2) {
  return rule == 0   ? integrate_by<0>(rules, panel, centre, distance2)
         : rule == 1 ? integrate_by<1>(rules, panel, centre, distance2)
         : rule == 2 ? integrate_by<2>(rules, panel, centre, distance2)
                     : integrate_by<3>(rules, panel, centre, distance2);
}

/// Rules of the far field's moments in device memory. Behind those that `count` counts Yukawa's
/// kernel has the densest one, which serves moments where none of these does, and nothing else.
struct MomentRulesView {
  static constexpr int most_rules = 9;
  int count;
  double reach[most_rules];  ///< that many radii are at most the box's side
  int begin[most_rules + 1];
  const double *xi, *eta, *weight;
  double kappa;  ///< of the panels' unit
  int degree[most_rules];

  /// The first rule that serves panels of such a radius in a box with that side.
  __device__ int at(double side, double radius) const {
    const int last = kappa > 0 ? count : count - 1;
    int rule = 0;
    while (rule < last && !serves(rule, side, radius)) ++rule;
    return rule;
  }

 private:
  __device__ bool serves(int rule, double side, double radius) const {
    if (kappa == 0) return side >= reach[rule] * radius;
    return side * inverse_reach_of_rule(reach[rule], degree[rule], kappa * radius,
                                        spared_by_screening * kappa * side) >=
           radius;
  }
};

class MomentRules {
 public:
  MomentRules(double tolerance, const PanelKernel& kernel, cudaStream_t stream);
  MomentRules(double tolerance, fmbem::FarKernel integrand, double kappa, cudaStream_t stream);
  const MomentRulesView& view() const { return view_; }

 private:
  DeviceBuffer<double> xi_, eta_, weight_;
  MomentRulesView view_{};
};

/// How many of the rules are faster than closed forms for panels at points.
int rules_at_points(const MomentRulesView& rules);

/// The same of pieces of long panels: along and across a trapezoid whose sides are (0, 1).
struct StripMomentRulesView {
  StripPoints points;
  const int* begin;  ///< [along][across], of each rule's points
  const double *s, *eta, *weight;
};

class StripMomentRules {
 public:
  StripMomentRules(double tolerance, cudaStream_t stream);
  const StripMomentRulesView& view() const { return view_; }

 private:
  DeviceBuffer<int> begin_;
  DeviceBuffer<double> s_, eta_, weight_;
  StripMomentRulesView view_;
};

}  // namespace fmbem::cuda::bem
