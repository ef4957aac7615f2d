#include "fmbem/bem/precond/mean_rows.hpp"

namespace fmbem {

std::vector<MeanRow> mean_rows(const ClusterTree& tree, std::span<const Triangle> panels,
                               const MixedRows& rows) {
  std::vector<MeanRow> means(tree.nodes.size());
  tree.for_children_first([&](std::int32_t k) {
    const Cluster& node = tree.nodes[k];
    if (node.is_panel()) {
      const std::int32_t i = tree.panel(node.begin);
      means[k] = {rows.alpha[i], rows.beta[i] * panels[i].normal, rows.gamma[i]};
    } else {
      means[k] = mean_row_of_halves(tree.nodes[node.left], means[node.left], tree.nodes[node.right],
                                    means[node.right]);
    }
  });
  return means;
}

}  // namespace fmbem
