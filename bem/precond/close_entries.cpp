#include "fmbem/bem/precond/close_entries.hpp"

#include <algorithm>
#include <utility>

#include <omp.h>

namespace fmbem {
namespace {

/// From so many panels on, the halves of a pair are worth waking another thread.
constexpr std::int32_t pair_worth_a_task = 1'000;

}  // namespace

CloseEntries::CloseEntries(const ClusterTree& tree, std::span<const Triangle> panels,
                           const MixedRows& rows, std::span<const MeanRow> means, double reach)
    : reach_(tree.nodes.size()), of_{tree.nodes.data(), means.data(),     tree.panel_at(),
                                     rows.alpha.data(), rows.beta.data(), {panels.data()},
                                     reach_.data()} {
  const auto n_nodes = static_cast<std::int32_t>(tree.nodes.size());
#pragma omp parallel for schedule(static)
  for (std::int32_t k = 0; k < n_nodes; ++k) reach_[k] = reach_of(tree.nodes[k], reach);
  std::vector<std::int32_t> roots;
  for (std::int32_t k = 0; k < n_nodes; k = tree.descendants_end(k)) roots.push_back(k);
  const auto has_flux = [&](std::int32_t root) { return of_.has_flux(tree.nodes[root]); };
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
  begin_.assign(reach_.size() + 1, 0);
#pragma omp parallel for schedule(static, 1)
  for (std::size_t t = 0; t < threads; ++t)
    for (const Pair& pair : found[t])
#pragma omp atomic
      ++begin_[pair.k + 1];
  for (std::size_t k = 0; k < reach_.size(); ++k) begin_[k + 1] += begin_[k];
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
  for (std::size_t k = 0; k < reach_.size(); ++k)
    std::sort(pairs_.begin() + begin_[k], pairs_.begin() + begin_[k + 1],
              [](const Pair& a, const Pair& b) { return a.l < b.l; });
}

/// In a pair k ≤ l all of k is before l, or k is l; so it is in those of their halves.
MutualEntries CloseEntries::find(std::int32_t k, std::int32_t l, Found& found) const {
  if (!of_.have_halves(k, l)) return of_.undivided(k, l);
  const bool of_l = of_.splits_other(k, l);
  const std::int32_t divided = of_l ? l : k;
  const Cluster& node = of_.nodes[divided];
  const bool is_large = node.size() > pair_worth_a_task;
  const double share = of_.left_share(divided);
  MutualEntries left, right, result;
  if (k == l) {
#pragma omp task shared(left, found) if (is_large)
    left = find(node.left, node.left, found);
#pragma omp task shared(right, found) if (is_large)
    right = find(node.right, node.right, found);
    const MutualEntries mutual = find(node.left, node.right, found);
#pragma omp taskwait
    result = of_own_halves(share, left, mutual, right);
  } else {
#pragma omp task shared(left, found) if (is_large)
    left = of_l ? find(k, node.left, found) : find(node.left, l, found);
    right = of_l ? find(k, node.right, found) : find(node.right, l, found);
#pragma omp taskwait
    result = of_l ? swapped(of_halves(share, swapped(left), swapped(right)))
                  : of_halves(share, left, right);
  }
  found[omp_get_thread_num()].push_back(
      {k, l, static_cast<float>(result.kl), static_cast<float>(result.lk)});
  return result;
}

MutualEntries CloseEntries::between(std::int32_t k, std::int32_t l) const {
  const auto known = [&](std::int32_t a, std::int32_t b, MutualEntries& entries) {
    if (of_.nodes[a].is_panel() && of_.nodes[b].is_panel()) return false;
    const std::int32_t low = std::min(a, b), high = std::max(a, b);
    const auto first = pairs_.begin() + begin_[low], last = pairs_.begin() + begin_[low + 1];
    const auto at = std::lower_bound(first, last, high,
                                     [](const Pair& pair, std::int32_t x) { return pair.l < x; });
    if (at == last || at->l != high) return false;
    entries = {at->kl, at->lk};
    if (a > b) entries = swapped(entries);
    return true;
  };
  const auto step_of = [&](NodePair pair, bool may_divide) {
    return pair_step(of_, pair, may_divide, known,
                     [&](std::int32_t a, std::int32_t b) { return of_.undivided(a, b); });
  };
  EntriesBetween walk;
  walk.start({k, l});
  while (walk.go_on(of_, step_of)) {
  }
  return walk.sum();
}

}  // namespace fmbem
