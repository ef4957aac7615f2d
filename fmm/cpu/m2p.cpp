// M2P, leaf by leaf, and P2P of boxes that may be far away: all of a treecode's field, and what a
// hybrid has of both.
#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "fmbem/fmm/base/timer.hpp"
#include "fmbem/fmm/cpu/hybrid.hpp"
#include "fmbem/fmm/cpu/leaf_targets.hpp"
#include "fmbem/fmm/cpu/treecode.hpp"
#include "fmbem/fmm/expansion/cartesian.hpp"

namespace fmbem::fmm {
namespace {

/// Boxes whose fields are added up in T before they go to sums in double precision.
constexpr int boxes_of_a_sum = 16;

template <class T>
int channels_of(const Pass<T>& pass) {
  return pass.gradient[0].empty() ? 1 : 4;
}

template <class T>
bool is_cartesian(const Pass<T>& pass) {
  return pass.accuracy.expansion == Expansion::cartesian;
}

/// Of the harmonics that M2P sums.
template <class T>
const HarmonicTable<T>& table_of(const Pass<T>& pass) {
  return pass.raised && channels_of(pass) > 1 ? pass.raised->table() : pass.table;
}

/// What M2P's kernel takes for a box.
template <class T>
std::int64_t numbers_of_a_box(const Pass<T>& pass) {
  return is_cartesian(pass) ? monomial_count(pass.order.p)
                            : std::int64_t{channels_of(pass)} * table_of(pass).slots();
}

/// A thread's buffers.
template <class T>
class TreecodeLeaf {
 public:
  TreecodeLeaf(const NearData& near, Pass<T>& pass, const Buffer<T>& moments)
      : pass_(pass), near_(near), moments_(moments) {}

  /// Writes the results of some targets of a leaf, of a treecode.
  void sum(const TargetBlock& block) {
    start(block);
    Timer timer;
    walk_treecode(pass_.tree.octree, *leaf_, pass_.accuracy.theta, pass_.reach, boxes_);
    leave_out_one_place(block.row);
    p2p(false);
    p2p_seconds += timer.seconds();
    timer = Timer();
    m2p();
    m2p_seconds += timer.seconds();
  }

  /// Adds to the results of some targets of a leaf what the lists of a hybrid say: of the leaf, and
  /// of the boxes that it is in.
  void add_hybrid(const TargetBlock& block) {
    start(block);
    const HybridLists& lists = pass_.tree.lists.hybrid;
    std::int32_t box = pass_.tree.lists.p2p.targets[block.row];
    const auto near = lists.p2p[box];
    boxes_.p2p.assign(near.begin(), near.end());
    boxes_.m2p.clear();
    for (; box >= 0; box = pass_.tree.octree.boxes[box].parent) {
      const auto far = lists.m2p[box];
      boxes_.m2p.insert(boxes_.m2p.end(), far.begin(), far.end());
    }
    Timer timer;
    if (!boxes_.p2p.empty()) p2p(true);
    p2p_seconds += timer.seconds();
    timer = Timer();
    if (!boxes_.m2p.empty()) m2p();
    m2p_seconds += timer.seconds();
  }

  double p2p_seconds = 0, m2p_seconds = 0;

 private:
  void start(const TargetBlock& block) {
    leaf_ = &pass_.tree.octree.boxes[pass_.tree.lists.p2p.targets[block.row]];
    targets_ = block.targets;
  }
  /// A leaf of the deepest level whose points all coincide is not near to itself (near_lists.hpp).
  void leave_out_one_place(std::size_t row) {
    if (leaf_->level < pass_.tree.octree.deepest) return;
    const NearLists& near = pass_.tree.lists.p2p;
    const auto first = near.sources.begin() + near.begin[row];
    const auto last = near.sources.begin() + near.begin[row + 1];
    if (std::find(first, last, near.targets[row]) == last)
      std::erase(boxes_.p2p, near.targets[row]);
  }
  void p2p(bool adds) {
    for (int first = 0, width; first < pass_.vectors; first += width) {
      width = pass_.vectors - first > near_vectors / 2 ? near_vectors : 1;
      Tile<double, T> tile(near_.double_sources, pass_, first, width);
      near_targets_.index.resize(targets_.size());
      std::iota(near_targets_.index.begin(), near_targets_.index.end(), targets_.begin);
      near_targets_.fill(pass_, near_.double_targets, *leaf_, width);
      for (const std::int32_t index : boxes_.p2p) {
        const Box& box = pass_.tree.octree.boxes[index];
        for (Range left = box.sources; left.size() > 0;) {
          left = tile.take(left, box, *leaf_);
          if (tile.is_full()) near_targets_.take(pass_, tile, width, 1);
        }
      }
      near_targets_.take(pass_, tile, width, 1);
      near_targets_.write(pass_, first, width, 1, adds);
    }
  }

  void m2p() {
    const Octree& octree = pass_.tree.octree;
    const SortedPoints& points = pass_.tree.targets();
    const BoxCentre from_centre(octree, *leaf_);
    const int n = targets_.size(), padded = whole_registers(pass_.kernels, n);
    for (auto& axis : place_) axis.assign(padded, T(0));
    for (int i = 0; i < n; ++i) {
      place_[0][i] = static_cast<T>(from_centre(0, points.x[targets_.begin + i]));
      place_[1][i] = static_cast<T>(from_centre(1, points.y[targets_.begin + i]));
      place_[2][i] = static_cast<T>(from_centre(2, points.z[targets_.begin + i]));
    }
    for (int k = 0; k < 4; ++k) sums_[k].assign(is_wanted(pass_, k) ? padded : 0, T(0));
    const M2pTargets<T> targets{padded,
                                place_[0].data(),
                                place_[1].data(),
                                place_[2].data(),
                                pointer(sums_[0]),
                                {pointer(sums_[1]), pointer(sums_[2]), pointer(sums_[3])}};
    const std::int64_t size = numbers_of_a_box(pass_);
    const bool cartesian = is_cartesian(pass_);
    for (int v = 0; v < pass_.vectors; ++v) {
      for (std::size_t k = 0; k < boxes_.m2p.size(); ++k) {
        const std::int64_t index = boxes_.m2p[k];
        const Box& box = octree.boxes[index];
        const Vec3d shift = octree.between_centres(*leaf_, box);
        const M2pSource<T> source{
            {static_cast<T>(shift.x), static_cast<T>(shift.y), static_cast<T>(shift.z)},
            static_cast<T>(1 / octree.side(box.level)),
            moments_.data() + (index * pass_.vectors + v) * size};
        if (cartesian)
          pass_.kernels.m2p_cartesian(pass_.order.p, source, targets);
        else
          with_kernel(pass_.kappa_of(box.level), [&](auto kernel) {
            pair_kernels<T, decltype(kernel)>().m2p(kernel, steps_of(table_of(pass_)), source,
                                                    targets);
          });
        if ((k + 1) % boxes_of_a_sum == 0) add_sums(v);
      }
      add_sums(v);
    }
  }

  void add_sums(int v) {
    const std::int64_t first =
        v * static_cast<std::int64_t>(pass_.tree.targets().size()) + targets_.begin;
    for (int k = 0; k < 4; ++k) {
      if (sums_[k].empty()) continue;
      for (int i = 0; i < targets_.size(); ++i) pass_.result(k)[first + i] += sums_[k][i];
      std::fill(sums_[k].begin(), sums_[k].end(), T(0));
    }
  }

  Pass<T>& pass_;
  const NearData& near_;
  const Buffer<T>& moments_;
  const Box* leaf_ = nullptr;
  Range targets_{};
  TreecodeBoxes boxes_;
  LeafTargets<double> near_targets_;
  std::array<std::vector<T>, 3> place_;
  std::array<std::vector<T>, 4> sums_;
};

/// What M2P's kernel takes, [boxes][vectors][1 or 4][slots], of the boxes for which is_needed(b):
/// moments as coefficients of harmonics, and those of the derivatives, of Σ M_i S_i or as
/// RaisedMoments has them; or else [boxes][vectors][monomials], Σ M_i S_i in monomials.
template <class T>
Buffer<T> slots_of_moments(const Pass<T>& pass, auto&& is_needed) {
  const HarmonicTable<T>& table = pass.table;
  const int slots = table.slots(), channels = channels_of(pass);
  const auto boxes = static_cast<std::int64_t>(pass.tree.octree.boxes.size());
  const std::int64_t size = numbers_of_a_box(pass);
  const std::vector<CartesianTerm> terms =
      is_cartesian(pass) ? cartesian_terms(pass.order) : std::vector<CartesianTerm>();
  Buffer<T> result(static_cast<std::size_t>(boxes * pass.vectors * size));
#pragma omp parallel for schedule(static)
  for (std::int64_t b = 0; b < boxes; ++b) {
    const Box& box = pass.tree.octree.boxes[b];
    if (box.level < pass.top_level || !pass.acts(box) || !is_needed(b)) continue;
    for (int v = 0; v < pass.vectors; ++v) {
      const T* const moment = pass.moment(b) + v * pass.order.count;
      T* const out = result.data() + (b * pass.vectors + v) * size;
      if (pass.raised && channels > 1) {
        pass.raised->write(pass.kappa_of(box.level), moment, out);
        continue;
      }
      std::fill_n(out, size, T(0));
      for (const CartesianTerm& term : terms)
        out[term.monomial] += static_cast<T>(term.value) * moment[term.position];
      if (!terms.empty()) continue;
      for (int slot = 0; slot < slots; ++slot)
        if (table.position[slot] >= 0) out[slot] = moment[table.position[slot]];
      for (int axis = 0; axis + 1 < channels; ++axis)
        table.for_derivative(axis, 0, [&](int from, int to, double value) {
          out[(axis + 1) * slots + to] += static_cast<T>(value) * moment[from];
        });
    }
  }
  return result;
}

/// Calls sum(leaf, block) for all blocks of targets, with moments of the boxes for which
/// is_needed(b). P2P and M2P go on in turn in every thread: they get the time that passes, divided
/// as the threads' is.
template <class T>
void sum_blocks(const NearData& near, Pass<T>& pass, Seconds& seconds, auto&& is_needed,
                auto&& sum) {
  const Timer timer;
  const Buffer<T> moments = slots_of_moments(pass, is_needed);
  double p2p_seconds = 0, m2p_seconds = 0;
#pragma omp parallel reduction(+ : p2p_seconds, m2p_seconds)
  {
    TreecodeLeaf<T> leaf(near, pass, moments);
#pragma omp for schedule(dynamic, 4)
    for (std::size_t k = 0; k < near.blocks.size(); ++k) sum(leaf, near.blocks[k]);
    p2p_seconds += leaf.p2p_seconds;
    m2p_seconds += leaf.m2p_seconds;
  }
  const double part = p2p_seconds / std::max(p2p_seconds + m2p_seconds, 1e-300);
  const double passed = timer.seconds();
  seconds["P2P"] += part * passed;
  seconds["M2P"] += (1 - part) * passed;
}

}  // namespace

template <class T>
void treecode(const NearData& near, Pass<T>& pass, Seconds& seconds) {
  sum_blocks(
      near, pass, seconds, [](std::int64_t) { return true; },
      [](TreecodeLeaf<T>& leaf, const TargetBlock& block) { leaf.sum(block); });
}

template <class T>
void m2p(const NearData& near, Pass<T>& pass, Seconds& seconds) {
  const HybridLists& lists = pass.tree.lists.hybrid;
  seconds["M2P"] += 0;  // a stage of all hybrids
  if (lists.m2p.sources.empty() && lists.p2p.sources.empty()) return;
  std::vector<bool> acts_on_points(pass.tree.octree.boxes.size());
  for (const std::int32_t box : lists.m2p.sources) acts_on_points[box] = true;
  sum_blocks(
      near, pass, seconds, [&](std::int64_t box) { return acts_on_points[box]; },
      [](TreecodeLeaf<T>& leaf, const TargetBlock& block) { leaf.add_hybrid(block); });
}

template void m2p(const NearData&, Pass<double>&, Seconds&);
template void m2p(const NearData&, Pass<float>&, Seconds&);
template void treecode(const NearData&, Pass<double>&, Seconds&);
template void treecode(const NearData&, Pass<float>&, Seconds&);

}  // namespace fmbem::fmm
