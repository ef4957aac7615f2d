#include "fmbem/bem/precond/close_entries.hpp"

#include <algorithm>
#include <utility>

#include <omp.h>

#include "fmbem/bem/precond/mixed_places.hpp"

namespace fmbem {
namespace {

/// Panels from which the halves of a pair are worth waking another thread.
constexpr std::int32_t worth_a_task = 2'000;

}  // namespace

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

double exact_mixed_entry(const MixedRows& rows, std::int32_t i, const Triangle& to,
                         const Triangle& from) {
  double entry = 0;
  if (rows.alpha[i] != 0) entry += rows.alpha[i] * triangle_potential(from, to.centroid);
  if (rows.beta[i] != 0) entry += rows.beta[i] * averaged_flux_entry(to, from);
  return entry;
}

CloseEntries::CloseEntries(const ClusterTree& tree, std::span<const Triangle> panels,
                           const MixedRows& rows, std::span<const MeanRow> means, double reach)
    : tree_(tree), panels_(panels), rows_(rows), means_(means) {
  reach_.reserve(tree.nodes.size());
  for (const Cluster& node : tree.nodes) reach_.push_back(reach * (node.radius + norm(node.half)));

  const auto n_nodes = static_cast<std::int32_t>(tree.nodes.size());
  std::vector<std::int32_t> roots;
  for (std::int32_t k = 0; k < n_nodes; k = tree.descendants_end(k)) roots.push_back(k);
  const auto has_flux = [&](std::int32_t root) {
    return !is_single_layer_row(rows, tree.panel(tree.nodes[root].begin));
  };
  Found found(omp_get_max_threads());
#pragma omp parallel
#pragma omp single
  for (std::size_t s = 0; s < roots.size(); ++s)
    for (std::size_t t = s; t < roots.size(); ++t)
      if (has_flux(roots[s]) || has_flux(roots[t])) find(roots[s], roots[t], found);
  keep(found);
}

/// Sorted by k, then by l, whichever thread found them.
void CloseEntries::keep(const Found& found) {
  begin_.assign(tree_.nodes.size() + 1, 0);
  for (const auto& of_thread : found)
    for (const Pair& pair : of_thread) ++begin_[pair.k + 1];
  for (std::size_t k = 0; k < tree_.nodes.size(); ++k) begin_[k + 1] += begin_[k];
  pairs_.resize(begin_.back());
  std::vector<std::int64_t> next(begin_.begin(), begin_.end() - 1);
  for (const auto& of_thread : found)
    for (const Pair& pair : of_thread) pairs_[next[pair.k]++] = pair;
#pragma omp parallel for schedule(dynamic, 256)
  for (std::size_t k = 0; k < tree_.nodes.size(); ++k)
    std::sort(pairs_.begin() + begin_[k], pairs_.begin() + begin_[k + 1],
              [](const Pair& a, const Pair& b) { return a.l < b.l; });
}

bool CloseEntries::have_halves(std::int32_t k, std::int32_t l) const {
  const Cluster &a = tree_.nodes[k], &b = tree_.nodes[l];
  if (a.is_panel() && b.is_panel()) return false;
  const double reach = reach_[k] + reach_[l];
  return norm2(a.centroid - b.centroid) < reach * reach;
}

/// Whether the halves are those of k.
bool CloseEntries::splits_first(std::int32_t k, std::int32_t l) const {
  if (tree_.nodes[k].is_panel() || tree_.nodes[l].is_panel()) return tree_.nodes[l].is_panel();
  return reach_[k] >= reach_[l];
}

double CloseEntries::undivided(std::int32_t k, std::int32_t l) const {
  const Cluster &to = tree_.nodes[k], &from = tree_.nodes[l];
  if (k == l) return own_entry(to, means_[k]);
  if (to.is_panel() && from.is_panel()) {
    const std::int32_t i = tree_.panel(to.begin), j = tree_.panel(from.begin);
    if (triangles_touch(panels_[i], panels_[j]))
      return exact_mixed_entry(rows_, i, panels_[i], panels_[j]);
  }
  return smooth_entry(to, means_[k], from);
}

CloseEntries::Both CloseEntries::find(std::int32_t k, std::int32_t l, Found& found) const {
  if (!have_halves(k, l)) return {undivided(k, l), undivided(l, k)};
  const Cluster &a = tree_.nodes[k], &b = tree_.nodes[l];
  const bool is_large = a.size() + b.size() > worth_a_task;
  Both first, second, result;
  if (k == l) {
    Both mutual;
#pragma omp task shared(first, found) if (is_large)
    first = find(a.left, a.left, found);
#pragma omp task shared(second, found) if (is_large)
    second = find(a.right, a.right, found);
    mutual = find(a.left, a.right, found);
#pragma omp taskwait
    const double left = left_share(a);
    result.kl = left * (first.kl + mutual.kl) + (1 - left) * (mutual.lk + second.kl);
    result.lk = result.kl;
  } else {
    const bool of_k = splits_first(k, l);
    const Cluster& divided = of_k ? a : b;
    const std::int32_t whole = of_k ? l : k;
#pragma omp task shared(first, found) if (is_large)
    first = find(divided.left, whole, found);
    second = find(divided.right, whole, found);
#pragma omp taskwait
    const double left = left_share(divided);
    result = {left * first.kl + (1 - left) * second.kl, first.lk + second.lk};
    if (!of_k) std::swap(result.kl, result.lk);
  }
  const bool in_order = k <= l;
  found[omp_get_thread_num()].push_back({std::min(k, l), std::max(k, l),
                                         static_cast<float>(in_order ? result.kl : result.lk),
                                         static_cast<float>(in_order ? result.lk : result.kl)});
  return result;
}

double CloseEntries::entry(std::int32_t k, std::int32_t l) const {
  if (!have_halves(k, l)) return undivided(k, l);
  const auto first = pairs_.begin() + begin_[std::min(k, l)],
             last = pairs_.begin() + begin_[std::min(k, l) + 1];
  const auto at = std::lower_bound(first, last, std::max(k, l),
                                   [](const Pair& pair, std::int32_t x) { return pair.l < x; });
  if (at != last && at->l == std::max(k, l)) return k <= l ? at->kl : at->lk;
  const Cluster &a = tree_.nodes[k], &b = tree_.nodes[l];
  if (!splits_first(k, l)) return entry(k, b.left) + entry(k, b.right);
  const double left = left_share(a);
  return left * entry(a.left, l) + (1 - left) * entry(a.right, l);
}

}  // namespace fmbem
