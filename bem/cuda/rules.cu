#include "fmbem/bem/cuda/rules.cuh"
#include "fmbem/fmm/base/error.hpp"

namespace fmbem::cuda {

NearRules::NearRules(double tolerance) : shaped(shaped_enough(tolerance)) {
  begin[0] = 0;
  for (const FarRule& far : far_rules(tolerance, FarKernel::potential)) {
    const auto points = static_cast<int>(far.rule.weight.size());
    if (points > most_points) break;
    const int first = begin[count];
    FMBEM_REQUIRE(count < most_rules && first + points <= all_points,
                  "the GPU has no room for a rule of " << points << " points");
    reach2[count] = far.reach * far.reach;
    for (int q = 0; q < points; ++q) {
      xi[first + q] = far.rule.xi[q];
      eta[first + q] = far.rule.eta[q];
      weight[first + q] = far.rule.weight[q];
    }
    begin[++count] = first + points;
  }
}

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
