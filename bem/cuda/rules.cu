#include <algorithm>
#include <iterator>
#include <limits>
#include <vector>

#include "fmbem/bem/cuda/rules.cuh"
#include "fmbem/fmm/base/error.hpp"

namespace fmbem::cuda {

template <class N>
NearRules<N>::NearRules(double tolerance) : shaped(shaped_enough(tolerance)) {
  std::fill(std::begin(reach2), std::end(reach2), std::numeric_limits<N>::infinity());
  constexpr int first_point[] = {0, 1, 4, 11, all_points};
  for (const FarRule& far : far_rules(tolerance, FarKernel::potential)) {
    if (count == most_rules) break;
    const int first = first_point[count];
    const auto points = static_cast<int>(far.rule.weight.size());
    FMBEM_REQUIRE(points == first_point[count + 1] - first,
                  "the GPU has no place for a rule of " << points << " points");
    reach2[count++] = static_cast<N>(far.reach * far.reach);
    for (int q = 0; q < points; ++q) {
      xi[first + q] = static_cast<N>(far.rule.xi[q]);
      eta[first + q] = static_cast<N>(far.rule.eta[q]);
      weight[first + q] = static_cast<N>(far.rule.weight[q]);
    }
  }
}

template struct NearRules<double>;
template struct NearRules<float>;

MomentRules::MomentRules(double tolerance, cudaStream_t stream) {
  std::vector<double> xi, eta, weight;
  for (const FarRule& far : far_rules(tolerance, FarKernel::potential)) {
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

}  // namespace fmbem::cuda
