#include <algorithm>
#include <vector>

#include "fmbem/bem/near/cuda/rules.cuh"
#include "fmbem/bem/space/quadrature.hpp"
#include "fmbem/fmm/base/error.hpp"

namespace fmbem::cuda::bem {
namespace {

FarKernel far_kernel(Trace source) {
  return source == Trace::value ? FarKernel::potential : FarKernel::gradient;
}

}  // namespace

template <class N>
NearRules<N>::NearRules(double tolerance, Trace source) {
  const std::vector<FarRule> far = far_rules(tolerance, far_kernel(source));
  const auto rules = static_cast<int>(far.size());
  for (int k = 0; k < most_rules; ++k) {
    const double reach = far[std::min(k, rules - 1)].reach;
    reach2[k] = static_cast<N>(reach * reach);
    if (k >= rules) continue;
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

template struct NearRules<double>;
template struct NearRules<float>;

MomentRules::MomentRules(double tolerance, Trace source, cudaStream_t stream) {
  std::vector<double> xi, eta, weight;
  for (const FarRule& far : far_rules(tolerance, far_kernel(source))) {
    FMBEM_REQUIRE(view_.count < MomentRulesView::most_rules, "the GPU has no room for more rules");
    view_.reach[view_.count] = far.reach;
    view_.begin[view_.count++] = static_cast<int>(weight.size());
    xi.insert(xi.end(), far.rule.xi.begin(), far.rule.xi.end());
    eta.insert(eta.end(), far.rule.eta.begin(), far.rule.eta.end());
    weight.insert(weight.end(), far.rule.weight.begin(), far.rule.weight.end());
  }
  view_.begin[view_.count] = static_cast<int>(weight.size());
  xi_ = to_device(xi, stream);
  eta_ = to_device(eta, stream);
  weight_ = to_device(weight, stream);
  view_.xi = xi_.data();
  view_.eta = eta_.data();
  view_.weight = weight_.data();
  FMBEM_CUDA(cudaStreamSynchronize(stream));  // the vectors end here
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
