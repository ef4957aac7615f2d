#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "fmbem/bem/near/cuda/close_integral.cuh"
#include "fmbem/bem/near/cuda/rules.cuh"
#include "fmbem/bem/space/quadrature.hpp"
#include "fmbem/fmm/base/error.hpp"

namespace fmbem::cuda::bem {
namespace {

fmbem::FarKernel integrand_of(Trace source) {
  return source == Trace::value ? fmbem::FarKernel::potential : fmbem::FarKernel::gradient;
}
std::vector<FarRule> rules_for_trace(double tolerance, Trace source) {
  return far_rules(tolerance, integrand_of(source));
}

}  // namespace

template <class N>
SymmetricRules<N>::SymmetricRules(const std::vector<FarRule>& far) {
  const auto rules = std::min(static_cast<int>(far.size()), most_rules);
  for (int k = 0; k < rules; ++k) {
    const SymmetricRule rule = symmetric_orbits(far[k].degree);
    const bool six = k == most_rules - 1;
    FMBEM_REQUIRE(rule.orbits.size() == static_cast<std::size_t>(six ? k + 1 : k),
                  "the GPU has no place for a rule of degree " << far[k].degree);
    centroid_weight[k] = static_cast<N>(rule.centroid);
    for (int i = 0; i < k; ++i) {
      const double shift = 1 - 3 * rule.orbits[i].a;
      const int orbit = medians_begin(k) + i;
      median_dot[orbit] = static_cast<N>(2 * shift);
      median_square[orbit] = static_cast<N>(shift * shift);
      median_weight[orbit] = static_cast<N>(rule.orbits[i].weight);
    }
    if (!six) continue;
    const auto& [a, b, weight] = rule.orbits.back();
    const double c = 1 - a - b, shift[2] = {a - c, b - c};
    six_square[2] = static_cast<N>(shift[0] * shift[1]);
    for (int i = 0; i < 2; ++i) {
      six_dot[i] = static_cast<N>(2 * shift[i]);
      six_square[i] = static_cast<N>(shift[i] * shift[i] - shift[0] * shift[1]);
    }
    six_weight = static_cast<N>(weight);
  }
}

template <class N>
NearRules<N, fmm::Laplace>::NearRules(double tolerance, const PanelKernel& of)
    : SymmetricRules<N>(rules_for_trace(tolerance, of.source)) {
  const std::vector<FarRule> far = rules_for_trace(tolerance, of.source);
  for (std::size_t k = 0; k < std::size(reach2); ++k) {
    const double from = far[std::min(k, far.size() - 1)].reach;
    reach2[k] = static_cast<N>(from * from);
  }
}

template <class N>
NearRules<N, fmm::Yukawa>::NearRules(double tolerance, const PanelKernel& of)
    : SymmetricRules<N>(rules_for_trace(tolerance, of.source)),
      kappa(of.kappa),
      negligible(negligible_beyond(tolerance, of.kappa)),
      kernel(fmm::Yukawa{of.kappa}) {
  const std::vector<FarRule> far = rules_for_trace(tolerance, of.source);
  for (std::size_t k = 0; k < std::size(reach); ++k) {
    const FarRule& rule = far[std::min(k, far.size() - 1)];
    reach[k] = rule.reach;
    degree[k] = rule.degree;
  }
}

template struct NearRules<double, fmm::Laplace>;
template struct NearRules<float, fmm::Laplace>;
template struct NearRules<double, fmm::Yukawa>;
template struct NearRules<float, fmm::Yukawa>;

MomentRules::MomentRules(double tolerance, const PanelKernel& kernel, cudaStream_t stream)
    : MomentRules(tolerance, integrand_of(kernel.source), kernel.kappa, stream) {}

MomentRules::MomentRules(double tolerance, fmbem::FarKernel integrand, double kappa,
                         cudaStream_t stream) {
  std::vector<double> xi, eta, weight;
  std::vector<FarRule> rules = far_rules(tolerance, integrand);
  view_.count = static_cast<int>(rules.size());
  view_.kappa = kappa;
  if (kappa > 0) rules.push_back({0, densest_moment_rule(), 0});
  FMBEM_REQUIRE(rules.size() <= MomentRulesView::most_rules, "the GPU has no room for more rules");
  for (std::size_t k = 0; k < rules.size(); ++k) {
    const TriangleRule& rule = rules[k].rule;
    view_.reach[k] = rules[k].reach;
    view_.degree[k] = rules[k].degree;
    xi.insert(xi.end(), rule.xi.begin(), rule.xi.end());
    eta.insert(eta.end(), rule.eta.begin(), rule.eta.end());
    weight.insert(weight.end(), rule.weight.begin(), rule.weight.end());
    view_.begin[k + 1] = static_cast<int>(weight.size());
  }
  xi_ = to_device(xi, stream);
  eta_ = to_device(eta, stream);
  weight_ = to_device(weight, stream);
  view_.xi = xi_.data();
  view_.eta = eta_.data();
  view_.weight = weight_.data();
  FMBEM_CUDA(cudaStreamSynchronize(stream));  // the vectors end here
}

PieceRule::PieceRule(double tolerance) {
  const std::vector<FarRule> rules = far_rules(tolerance, fmbem::FarKernel::gradient);
  const auto closest = std::find_if(rules.rbegin(), rules.rend(), [](const FarRule& far) {
    return far.rule.weight.size() <= most_points;
  });
  FMBEM_REQUIRE(closest != rules.rend(), "no rule of the GPU serves pieces of slivers");
  count = static_cast<int>(closest->rule.weight.size());
  degree = closest->degree;
  reach = closest->reach;
  std::copy_n(closest->rule.xi.begin(), count, xi);
  std::copy_n(closest->rule.eta.begin(), count, eta);
  std::copy_n(closest->rule.weight.begin(), count, weight);
}

int rules_at_points(const MomentRulesView& rules) {
  // A closed form takes as long as some sixteen points, with exponentials along the edges as fifty.
  const int most_points = rules.kappa > 0 ? 49 : 16;
  int count = rules.count;
  while (count > 0 && rules.begin[count] - rules.begin[count - 1] > most_points) --count;
  return count;
}

StripMomentRules::StripMomentRules(double tolerance, cudaStream_t stream)
    : view_{StripPoints(tolerance), nullptr, nullptr, nullptr, nullptr} {
  std::vector<int> begin;
  std::vector<double> s, eta, weight;
  for (int along = 1; along <= StripPoints::most_along; ++along)
    for (int across = 1; across <= StripPoints::most_across; ++across) {
      const StripRule& rule = strip_rule(along, across);
      begin.push_back(static_cast<int>(weight.size()));
      for (int i = 0; i < along; ++i)
        for (int k = 0; k < across; ++k) {
          s.push_back(rule.s[i]);
          eta.push_back(rule.eta[k]);
          weight.push_back(rule.s_weight[i] * rule.eta_weight[k]);
        }
    }
  begin_ = to_device(begin, stream);
  s_ = to_device(s, stream);
  eta_ = to_device(eta, stream);
  weight_ = to_device(weight, stream);
  view_.begin = begin_.data();
  view_.s = s_.data();
  view_.eta = eta_.data();
  view_.weight = weight_.data();
  FMBEM_CUDA(cudaStreamSynchronize(stream));  // the vectors end here
}

}  // namespace fmbem::cuda::bem
