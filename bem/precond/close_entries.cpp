#include "fmbem/bem/precond/close_entries.hpp"

#include <algorithm>
#include <utility>

#include <omp.h>

#include "fmbem/bem/precond/mixed_places.hpp"

namespace fmbem {
namespace {

/// From so many panels on, the halves of a pair are worth waking another thread.
constexpr std::int32_t pair_worth_a_task = 1'000;

MutualEntries swapped(MutualEntries entries) { return {entries.lk, entries.kl}; }

}  // namespace

CloseEntries::CloseEntries(const ClusterTree& tree, std::span<const Triangle> panels,
                           const MixedRows& rows, std::span<const MeanRow> means, double reach)
    : tree_(tree), panels_(panels), rows_(rows), means_(means) {
  const auto n_nodes = static_cast<std::int32_t>(tree.nodes.size());
  reach_.resize(n_nodes);
#pragma omp parallel for schedule(static)
  for (std::int32_t k = 0; k < n_nodes; ++k)
    reach_[k] = reach * (tree.nodes[k].radius + norm(tree.nodes[k].half));

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
  const std::size_t threads = found.size();
  begin_.assign(tree_.nodes.size() + 1, 0);
#pragma omp parallel for schedule(static, 1)
  for (std::size_t t = 0; t < threads; ++t)
    for (const Pair& pair : found[t])
#pragma omp atomic
      ++begin_[pair.k + 1];
  for (std::size_t k = 0; k < tree_.nodes.size(); ++k) begin_[k + 1] += begin_[k];
  pairs_.resize(begin_.back());
  std::vector<std::int64_t> next(begin_.begin(), begin_.end() - 1);
#pragma omp parallel for schedule(static, 1)
  for (std::size_t t = 0; t < threads; ++t)
    for (const Pair& pair : found[t]) {
      std::int64_t at;
#pragma omp atomic capture
      at = next[pair.k]++;
      pairs_[at] = pair;
    }
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

/// Whether the halves are taken of l, not of k: of the node that reaches farther, or of k if both
/// reach as far.
bool CloseEntries::splits_other(std::int32_t k, std::int32_t l) const {
  if (tree_.nodes[k].is_panel() || tree_.nodes[l].is_panel()) return tree_.nodes[k].is_panel();
  return reach_[k] < reach_[l] || (reach_[k] == reach_[l] && l < k);
}

MutualEntries CloseEntries::undivided(std::int32_t k, std::int32_t l) const {
  const Cluster &a = tree_.nodes[k], &b = tree_.nodes[l];
  if (k == l) {
    const double own = own_entry(a, means_[k]);
    return {own, own};
  }
  if (a.is_panel() && b.is_panel()) {
    const std::int32_t i = tree_.panel(a.begin), j = tree_.panel(b.begin);
    if (triangles_touch(panels_[i], panels_[j]))
      return {exact_entry(rows_.alpha[i], rows_.beta[i], panels_[i], panels_[j]),
              exact_entry(rows_.alpha[j], rows_.beta[j], panels_[j], panels_[i])};
  }
  return smooth_entries(a, means_[k], b, means_[l]);
}

MutualEntries CloseEntries::of_halves(std::int32_t k, MutualEntries left,
                                      MutualEntries right) const {
  const double share = left_share(tree_.nodes[k]);
  return {share * left.kl + (1 - share) * right.kl, left.lk + right.lk};
}

MutualEntries CloseEntries::find(std::int32_t k, std::int32_t l, Found& found) const {
  if (!have_halves(k, l)) return undivided(k, l);
  if (splits_other(k, l)) return swapped(find(l, k, found));
  const Cluster& node = tree_.nodes[k];
  const bool is_large = node.size() > pair_worth_a_task;
  MutualEntries left, right, result;
  if (k == l) {
#pragma omp task shared(left, found) if (is_large)
    left = find(node.left, node.left, found);
#pragma omp task shared(right, found) if (is_large)
    right = find(node.right, node.right, found);
    const MutualEntries mutual = find(node.left, node.right, found);
#pragma omp taskwait
    const double share = left_share(node);
    result.kl = share * (left.kl + mutual.kl) + (1 - share) * (mutual.lk + right.kl);
    result.lk = result.kl;
  } else {
#pragma omp task shared(left, found) if (is_large)
    left = find(node.left, l, found);
    right = find(node.right, l, found);
#pragma omp taskwait
    result = of_halves(k, left, right);
  }
  const MutualEntries kept = k <= l ? result : swapped(result);
  found[omp_get_thread_num()].push_back(
      {std::min(k, l), std::max(k, l), static_cast<float>(kept.kl), static_cast<float>(kept.lk)});
  return result;
}

MutualEntries CloseEntries::between(std::int32_t k, std::int32_t l) const {
  if (!have_halves(k, l)) return undivided(k, l);
  if (k > l) return swapped(between(l, k));
  const auto first = pairs_.begin() + begin_[k], last = pairs_.begin() + begin_[k + 1];
  const auto at =
      std::lower_bound(first, last, l, [](const Pair& pair, std::int32_t x) { return pair.l < x; });
  if (at != last && at->l == l) return {at->kl, at->lk};
  const auto of = [&](std::int32_t whole, std::int32_t divided) {
    const Cluster& node = tree_.nodes[divided];
    return of_halves(divided, between(node.left, whole), between(node.right, whole));
  };
  return splits_other(k, l) ? swapped(of(k, l)) : of(l, k);
}

}  // namespace fmbem
