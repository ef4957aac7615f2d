// P2P of second derivatives: as P2P, but one right-hand side at a time, and in double precision.
#include <array>
#include <vector>

#include "fmbem/fmm/cpu/near_tile.hpp"

namespace fmbem::fmm {
namespace {

/// What a thread works with.
template <class T>
class HessianRows {
 public:
  HessianRows(const NearData& near, Pass<T>& pass, int vector)
      : pass_(pass),
        places_(near.double_targets),
        vector_(vector),
        tile_(near.double_sources, pass, vector, 1) {}

  void add(std::size_t row) {
    const Octree& octree = pass_.tree.octree;
    const NearLists& near = pass_.tree.lists.p2p;
    const Box& leaf = octree.boxes[near.targets[row]];
    place_targets(leaf);
    for (std::int64_t k = near.begin[row]; k < near.begin[row + 1]; ++k) {
      const Box& box = octree.boxes[near.sources[k]];
      Range range = box.own_sources();
      while (range.size() > 0) {
        range = tile_.take(range, box, leaf);
        if (tile_.is_full()) flush();
      }
    }
    flush();
    const std::int64_t first = vector_ * static_cast<std::int64_t>(pass_.tree.targets().size());
    for (int entry = 0; entry < 6; ++entry)
      for (int i = 0; i < leaf.targets.size(); ++i)
        pass_.hessian[entry][first + leaf.targets.begin + i] = sums_[entry][i];
  }

 private:
  void place_targets(const Box& leaf) {
    const int padded = whole_registers(cpu_kernels<double>(), leaf.targets.size());
    for (auto& axis : place_) axis.assign(padded, 0.0);
    for (auto& entry : sums_) entry.assign(padded, 0.0);
    const NearRange piece = near_range(leaf.targets, leaf, leaf);
    cpu_kernels<double>().gather(&piece, 1, arrays_of<double>(places_, nullptr),
                                 {{place_[0].data(), place_[1].data(), place_[2].data()}, nullptr});
  }
  void flush() {
    HessianTargets targets{static_cast<std::int64_t>(place_[0].size()),
                           place_[0].data(),
                           place_[1].data(),
                           place_[2].data(),
                           {}};
    for (int entry = 0; entry < 6; ++entry) targets.entry[entry] = sums_[entry].data();
    pair_kernels<double, Laplace>().near_hessian(Laplace(), tile_.sources(), targets);
    tile_.clear();
  }

  Pass<T>& pass_;
  const NearCoordinates<double>& places_;
  int vector_;
  Tile<double, T> tile_;
  std::array<std::vector<double>, 3> place_;
  std::array<std::vector<double>, 6> sums_;
};

}  // namespace

template <class T>
void p2p_hessian(const NearData& near, Pass<T>& pass) {
  for (int v = 0; v < pass.vectors; ++v) {
#pragma omp parallel
    {
      HessianRows<T> rows(near, pass, v);
#pragma omp for schedule(dynamic, 8)
      for (std::size_t row = 0; row < pass.tree.lists.p2p.targets.size(); ++row) rows.add(row);
    }
  }
}

template void p2p_hessian(const NearData&, Pass<double>&);
template void p2p_hessian(const NearData&, Pass<float>&);

}  // namespace fmbem::fmm
