#include "fmbem/bem/precond/cluster_rows.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "fmbem/bem/near/block_product.hpp"

namespace fmbem {
namespace {

/// Of the nodes of a leaf's cut, those that the leaf does not hold.
std::vector<std::int32_t> others_for(const ClusterTree& tree, std::int32_t leaf_node,
                                     double opening, double nearness,
                                     const std::vector<char>& has_to_open) {
  const LeafView leaf = view_leaf(tree.nodes.data(), leaf_node);
  const auto n_nodes = static_cast<std::int32_t>(tree.nodes.size());
  std::vector<std::int32_t> cut;
  for (std::int32_t k = 0; k < n_nodes;) {
    CutStep step = cut_step(leaf, tree.nodes[k], opening, nearness);
    if (step == CutStep::take && !has_to_open.empty() && has_to_open[k]) step = CutStep::open;
    if (step == CutStep::take) cut.push_back(k);
    k = step == CutStep::open ? k + 1 : tree.descendants_end(k);
  }
  return cut;
}

/// A leaf, and the nodes whose charges are its unknowns, its own panels last.
struct LeafCut {
  std::int32_t leaf;
  std::vector<std::int32_t> cut;
};

/// Appends the cut for a leaf. Where that has too many unknowns unless the other nodes are much
/// coarser, and the leaf more than smallest_leaf panels, it appends those for its halves instead.
/// `halved` are the nodes that were leaves, parents first.
void add_cuts(const ClusterTree& tree, std::int32_t leaf_node, const ClusterInverseOptions& options,
              int smallest_leaf, const std::vector<char>& has_to_open, std::vector<LeafCut>& cuts,
              std::vector<std::int32_t>& halved) {
  const Cluster& own = tree.nodes[leaf_node];
  std::vector<std::int32_t> cut;
  for (double opening = options.opening;; opening *= coarser) {
    cut = others_for(tree, leaf_node, opening, options.nearness, has_to_open);
    if (static_cast<int>(cut.size()) + own.size() <= options.most_unknowns ||
        opening > largest_opening)
      break;
    if (own.size() > smallest_leaf && opening > much_coarser * options.opening) {
      halved.push_back(leaf_node);
      for (const std::int32_t half : {own.left, own.right})
        add_cuts(tree, half, options, smallest_leaf, has_to_open, cuts, halved);
      return;
    }
  }
  for (std::int32_t k = leaf_node; k < tree.descendants_end(leaf_node); ++k)
    if (tree.nodes[k].is_panel()) cut.push_back(k);
  cuts.push_back({leaf_node, std::move(cut)});
}

}  // namespace

const ClusterInverseOptions& checked(const ClusterInverseOptions& options) {
  FMBEM_REQUIRE(options.max_leaf >= 1,
                "a leaf must hold at least one panel, not " << options.max_leaf);
  // The opening grows by a factor until there are few enough unknowns; from 0 it could not grow.
  FMBEM_REQUIRE(options.opening > 0 && std::isfinite(options.opening),
                "the opening of clusters must be positive, not " << options.opening);
  FMBEM_REQUIRE(options.nearness >= 0 && std::isfinite(options.nearness),
                "the nearness of clusters must not be negative, not " << options.nearness);
  return options;
}

ClusterRows::ClusterRows(ClusterTree tree, const ClusterInverseOptions& options, double unit,
                         int smallest_leaf, const std::function<bool(const Cluster&)>& has_to_open,
                         int parts, int fields)
    : tree_(std::move(tree)), unit_(unit), fields_(fields) {
  std::vector<char> opens(has_to_open ? tree_.nodes.size() : 0);
#pragma omp parallel for schedule(static)
  for (std::size_t k = 0; k < opens.size(); ++k) opens[k] = has_to_open(tree_.nodes[k]);
  std::vector<std::vector<LeafCut>> cuts(leaves());
  std::vector<std::vector<std::int32_t>> halved(leaves());
#pragma omp parallel for schedule(dynamic, 16)
  for (std::size_t f = 0; f < leaves(); ++f)
    add_cuts(tree_, tree_.leaves[f], options, smallest_leaf, opens, cuts[f], halved[f]);
  tree_.leaves.clear();
  cut_begin_.assign(1, 0);
  row_begin_.assign(1, 0);
  for (const std::vector<LeafCut>& of_leaf : cuts) {
    for (const LeafCut& next : of_leaf) {
      const auto m = static_cast<std::int64_t>(next.cut.size());
      cut_begin_.push_back(cut_begin_.back() + m);
      row_begin_.push_back(row_begin_.back() + fields * m * fields * tree_.nodes[next.leaf].size());
      cut_.insert(cut_.end(), next.cut.begin(), next.cut.end());
      tree_.leaves.push_back(next.leaf);
    }
  }
  std::vector<std::int32_t> above;
  for (const std::vector<std::int32_t>& of_leaf : halved)
    above.insert(above.end(), of_leaf.rbegin(), of_leaf.rend());
  tree_.above.insert(tree_.above.begin(), above.begin(), above.end());
  const std::int64_t entries = parts * part_size();
  const auto bytes = entries * static_cast<std::int64_t>(sizeof(float));
  if (bytes > available_memory())
    throw ResourceError("the preconditioner needs " + std::to_string(bytes >> 20) + " MiB, but " +
                        std::to_string(available_memory() >> 20) +
                        " MiB are free: use a coarser mesh");
  rows_ = Buffer<float>(entries + block_rows);
  std::fill_n(rows_.data() + entries, block_rows, 0.0F);
}

void ClusterRows::take_means(const double* x, std::span<double> means) const {
  const auto fields = static_cast<std::int64_t>(fields_);
  tree_.for_children_first([&](std::int32_t k) {
    const Cluster& node = tree_.nodes[k];
    for (std::int64_t f = 0; f < fields; ++f) {
      double& mean = means[k * fields + f];
      if (node.is_panel()) {
        mean = x[tree_.panel(node.begin) * fields + f];
        continue;
      }
      const Cluster &l = tree_.nodes[node.left], &r = tree_.nodes[node.right];
      mean = (l.area * means[node.left * fields + f] + r.area * means[node.right * fields + f]) /
             node.area;
    }
  });
}

void ClusterRows::multiply(const double* x, double* y, const Product& product, int part) const {
  const float* const of_part = rows_.data() + part * part_size();
  const auto fields = static_cast<std::size_t>(fields_);
  const std::size_t n = tree_.size() * fields, n_means = tree_.nodes.size() * fields;
  for_vector_groups(product.vectors, [&](int first, int width, int present) {
    std::vector<double> means(n_means * width, 0.0);
    for (int v = 0; v < present; ++v)
      take_means(x + (first + v) * n, std::span(means).subspan(v * n_means, n_means));
#pragma omp parallel
    {
      std::vector<double> at_cut, sum;
#pragma omp for schedule(dynamic, 16)
      for (std::size_t f = 0; f < leaves(); ++f) {
        const auto cut = cut_of(f);
        const Cluster& leaf = tree_.nodes[tree_.leaves[f]];
        const int own = leaf.size() * fields_;
        at_cut.resize(cut.size() * fields * width);
        sum.resize(static_cast<std::size_t>(own) * width);
        for (std::size_t k = 0; k < cut.size() * fields; ++k)
          for (int v = 0; v < width; ++v)
            at_cut[k * width + v] = means[v * n_means + cut[k / fields] * fields + k % fields];
        multiply_block(width, static_cast<std::int64_t>(cut.size() * fields), own,
                       of_part + row_begin_[f], at_cut.data(), sum.data());
        for (int v = 0; v < present; ++v)
          for (int i = 0; i < own; ++i)
            y[(first + v) * n + tree_.panel(leaf.begin + i / fields_) * fields + i % fields_] =
                sum[v * own + i] / unit_;
      }
    }
  });
}

std::int64_t ClusterRows::memory_bytes() const {
  return static_cast<std::int64_t>(rows_.size() * sizeof(float) +
                                   tree_.nodes.size() * sizeof(Cluster) +
                                   cut_.size() * sizeof(std::int32_t));
}

}  // namespace fmbem
