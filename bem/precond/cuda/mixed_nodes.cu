#include <utility>
#include <vector>

#include "fmbem/bem/precond/cuda/from_panels_up.cuh"
#include "fmbem/bem/precond/cuda/mixed_nodes.cuh"
#include "fmbem/cuda/copied.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/primitives.cuh"
#include "fmbem/cuda/tree.cuh"

namespace fmbem::cuda::bem {
namespace {

/// Mean rows of nodes, their areas with the weights of charges, and how far they reach.
struct MeasureRows {
  DeviceRowNodes of;
  const double *gamma, *weight;  ///< the latter null: 1 each
  MeanRow* means;
  double *charge_area, *reach;
  double reach_in_radii;

  __device__ void of_panel(std::int32_t k) const {
    const Cluster& node = of.nodes[k];
    const std::int32_t i = of.panel_of(node);
    means[k] = {of.alpha[i], of.beta[i] * of.panels.triangle(i).normal, gamma[i]};
    charge_area[k] = (weight ? weight[i] : 1) * node.area;
    reach[k] = reach_of(node, reach_in_radii);
  }
  __device__ void of_halves(std::int32_t k) const {
    const std::int32_t l = of.nodes[k].left, r = of.nodes[k].right;
    means[k] = mean_row_of_halves(of.nodes[l], means[l], of.nodes[r], means[r]);
    charge_area[k] = charge_area[l] + charge_area[r];
    reach[k] = reach_of(of.nodes[k], reach_in_radii);
  }
};

/// Pairs of trees, of which one has rows with K', as pairs of their roots.
std::vector<int2> pairs_of_roots(const MixedRows& rows, const MixedPlaces& places) {
  const std::vector<std::int32_t>& begin = places.trees.tree_begin;
  const auto trees = static_cast<std::int32_t>(begin.size()) - 1;
  const auto has_flux = [&](std::int32_t t) {
    return !is_single_layer_row(rows, places.trees.panel[begin[t]]);
  };
  std::vector<int2> pairs;
  for (std::int32_t s = 0; s < trees; ++s)
    for (std::int32_t t = s; t < trees; ++t)
      if (has_flux(s) || has_flux(t)) pairs.push_back({2 * begin[s] - s, 2 * begin[t] - t});
  return pairs;
}

__global__ void flag_given(LawsOfNodes<double> laws, std::int64_t n_nodes, std::int32_t* is_given) {
  const std::int64_t k = thread_index();
  if (k < n_nodes) is_given[k] = laws.is_given(static_cast<std::int32_t>(k));
}

__global__ void list_given(LawsOfNodes<double> laws, const std::int32_t* given, std::int64_t n,
                           std::int32_t* list_of, int2* ranges) {
  const std::int64_t i = thread_index();
  if (i >= n) return;
  list_of[given[i]] = static_cast<std::int32_t>(i);
  ranges[i] = {laws.parts.first(given[i]), laws.parts.last(given[i])};
}

}  // namespace

DevicePartLists::DevicePartLists(const ChargeLaws<double>::Lists& lists, cudaStream_t stream)
    : begin(copied_to_device(lists.begin, stream)),
      number(copied_to_device(lists.number, stream)),
      factor(copied_to_device(lists.factor, stream)),
      sum_before(copied_to_device(lists.sum_before, stream)) {}

DeviceLaws::DeviceLaws(const ChargeLaws<double>& laws, const DeviceClusterTree& tree,
                       const std::int32_t* part_at, DeviceBuffer<double> charge_area,
                       cudaStream_t stream)
    : parts_{tree.nodes.data(), part_at},
      charge_area_(std::move(charge_area)),
      share_of_part_(copied_to_device(laws.share_of_part(), stream)),
      area_(copied_to_device(laws.area(), stream)),
      law_of_part_(copied_to_device(laws.law_of_part(), stream)),
      charges_(laws.charges(), stream),
      rows_(laws.rows(), stream),
      others_(std::make_unique<DevicePartLists>(laws.others_of({}), stream)) {
  if (empty()) return;
  const auto n_nodes = static_cast<std::int64_t>(tree.nodes.size());
  DeviceBuffer<std::int32_t> is_given(n_nodes, stream);
  launch(flag_given, blocks_for(n_nodes), threads_per_block, 0, stream, view(), n_nodes,
         is_given.data());
  const DeviceBuffer<std::int32_t> given = where(is_given, stream);
  if (given.size() == 0) return;
  list_of_ = DeviceBuffer<std::int32_t>(n_nodes, stream);
  DeviceBuffer<int2> ranges(given.size(), stream);
  launch(list_given, blocks_for(given.size()), threads_per_block, 0, stream, view(), given.data(),
         given.size(), list_of_.data(), ranges.data());
  std::vector<int2> of_host(given.size());
  copy_to_host(ranges.data(), ranges.size(), of_host.data(), stream);
  FMBEM_CUDA(cudaStreamSynchronize(stream));
  std::vector<std::pair<std::int32_t, std::int32_t>> of_given;
  for (const int2 range : of_host) of_given.emplace_back(range.x, range.y);
  others_ = std::make_unique<DevicePartLists>(laws.others_of(of_given), stream);
}

LawsOfNodes<double> DeviceLaws::view() const {
  return {parts_,          charge_area_.data(), law_of_part_.data(), share_of_part_.data(),
          charges_.view(), area_.data(),        rows_.view(),        others_->view(),
          list_of_.data()};
}

DeviceMixedNodes::DeviceMixedNodes(const PanelStore& panels, const MixedRows& rows,
                                   const MixedPlaces& places, const MixedInverseOptions& options,
                                   cudaStream_t stream)
    : panel_at(copied_to_device(places.trees.panel, stream)),
      part_at(copied_to_device(places.trees.part, stream)),
      panels_(panels.view()),
      alpha_(copied_to_device(rows.alpha, stream)),
      beta_(copied_to_device(rows.beta, stream)) {
  const auto key = copied_to_device(places.trees.key, stream),
             part_key = copied_to_device(places.trees.part_key, stream);
  const auto tree_begin = copied_to_device(places.trees.tree_begin, stream);
  const auto trees = static_cast<std::int32_t>(tree_begin.size()) - 1;
  tree = make_cluster_tree(
      panels_,
      {key.data(), panel_at.data(), part_at.data(), part_key.data(), tree_begin.data(), trees},
      options.clusters.max_leaf, stream);
  const auto parts = copied_to_device(places.parts, stream);
  cuts = make_cuts(tree, options.clusters, stream,
                   {smallest_mixed_leaf, part_at.data(), parts.data()});
  measure_rows(rows, places, options.reach, stream);
  close_ = std::make_unique<CloseTable>(view(), tree, pairs_of_roots(rows, places), stream);
}

void DeviceMixedNodes::measure_rows(const MixedRows& rows, const MixedPlaces& places, double reach,
                                    cudaStream_t stream) {
  const auto gamma = copied_to_device(rows.gamma, stream),
             weight = copied_to_device(rows.weight, stream);
  means_ = DeviceBuffer<MeanRow>(tree.nodes.size(), stream);
  reach_ = DeviceBuffer<double>(tree.nodes.size(), stream);
  DeviceBuffer<double> charge_area(tree.nodes.size(), stream);
  from_panels_up(tree,
                 MeasureRows{view(), gamma.data(), weight.data(), means_.data(), charge_area.data(),
                             reach_.data(), reach},
                 stream);
  laws_ = std::make_unique<DeviceLaws>(ChargeLaws<double>(places, rows), tree, part_at.data(),
                                       std::move(charge_area), stream);
}

DeviceRowNodes DeviceMixedNodes::view() const {
  return {tree.nodes.data(), means_.data(), panel_at.data(), alpha_.data(),
          beta_.data(),      panels_,       reach_.data()};
}

}  // namespace fmbem::cuda::bem
