#include "fmbem/bem/layer/far_choice.hpp"
#include "fmbem/bem/space/cuda/panel_far_field.cuh"
#include "tests/unit/bem/device_far_field.hpp"
#include "tests/unit/cuda/to_host.cuh"

namespace fmbem::test {
namespace {

using namespace cuda;
using namespace cuda::bem;

/// Nothing is near.
class NoNearField final : public NearField {
 public:
  explicit NoNearField(const SpreadTree& tree) : panels_(tree.targets().count) {}
  void multiply(const double*, int vectors, const double*, double* y,
                cudaStream_t stream) const override {
    FMBEM_CUDA(cudaMemsetAsync(y, 0, vectors * panels_ * sizeof(double), stream));
  }
  void multiply_transposed(const TransposedLists&, const double* x, int vectors,
                           const double* factor, double* y, cudaStream_t stream) override {
    multiply(x, vectors, factor, y, stream);
  }
  std::int64_t bytes() const override { return 0; }

 private:
  std::int64_t panels_;  ///< as many as targets
};

std::vector<DeviceFarField::Pairs> near_pairs(const SpreadTree& tree, cudaStream_t stream) {
  const auto leaves = to_host(tree.far.target_leaves, stream),
             source_order = to_host(tree.source_order, stream),
             target_order = to_host(tree.target_order, stream);
  const auto targets = to_host(tree.tree.other_targets, stream);
  const auto begin = to_host(tree.near.begin, stream);
  const auto entries = to_host(tree.near.entries, stream);
  std::vector<DeviceFarField::Pairs> rows;
  for (std::size_t row = 0; row < leaves.size(); ++row) {
    const int2 range = targets[leaves[row]];
    DeviceFarField::Pairs pairs;
    pairs.targets.assign(target_order.begin() + range.x, target_order.begin() + range.y);
    for (std::int64_t e = begin[row]; e < begin[row + 1]; ++e) {
      const auto first = source_order.begin() + entries[e].begin;
      pairs.sources.insert(pairs.sources.end(), first, first + entries[e].count);
    }
    rows.push_back(std::move(pairs));
  }
  return rows;
}

}  // namespace

DeviceFarField far_field_on_device(const Panels& panels, const FarFieldOptions& options,
                                   const std::vector<double>& x) {
  const Stream stream, near_stream;
  const auto on_device = store_of(panels, stream);
  const PanelStore& store = *on_device;
  const SpreadTree tree =
      grow_panel_tree(store, store.centroid,
                      {.order = options.order,
                       .precision = options.precision,
                       .overhang = overhang_for(options.source, false, options.crowded),
                       .near_pair_seconds = 3e-12,
                       .max_leaf = options.max_leaf},
                      stream);
  const auto far =
      make_panel_far_field(store, tree, nullptr,
                           {.kind = kind_of(options.source),
                            .order = options.order,
                            .precision = options.precision,
                            .moments = options.moment_tolerance,
                            .gathering = options.sparing ? Gathering::sparing : Gathering::wide,
                            .keeps_moments = options.keeps_moments},
                           stream, near_stream);
  const auto d_x = to_device(x, stream);
  const DeviceBuffer<double> d_y(x.size(), stream);
  const auto vectors = static_cast<int>(x.size() / panels.size());
  NoNearField none(tree);
  if (options.transposed)
    far->multiply_transposed(TransposedLists(tree, nullptr, store.size(), stream), none, d_x.data(),
                             d_y.data(), vectors, nullptr);
  else
    far->multiply(none, d_x.data(), d_y.data(), vectors, nullptr);
  return {to_host(d_y, stream), near_pairs(tree, stream), tree.tree.levels()};
}

}  // namespace fmbem::test
