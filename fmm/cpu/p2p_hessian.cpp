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

  void add(const TargetBlock& block) {
    const std::size_t row = block.row;
    const Octree& octree = pass_.tree.octree;
    const NearLists& near = pass_.tree.lists.p2p;
    const Box& leaf = octree.boxes[near.targets[row]];
    place_targets(block.targets, leaf);
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
      for (int i = 0; i < block.targets.size(); ++i)
        pass_.hessian[entry][first + block.targets.begin + i] = sums_[entry][i];
  }

 private:
  void place_targets(Range targets, const Box& leaf) {
    const int padded = whole_registers(cpu_kernels<double>(), targets.size());
    for (auto& axis : place_) axis.assign(padded, 0.0);
    for (auto& entry : sums_) entry.assign(padded, 0.0);
    const NearRange piece = near_range(targets, leaf, leaf);
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
    with_pair_kernel(pass_.kappa, pass_.softening, [&](auto kernel) {
      pair_kernels<double, decltype(kernel)>().near_hessian(kernel, tile_.sources(), targets);
    });
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
      for (std::size_t k = 0; k < near.blocks.size(); ++k) rows.add(near.blocks[k]);
    }
  }
}

template void p2p_hessian(const NearData&, Pass<double>&);
template void p2p_hessian(const NearData&, Pass<float>&);

}  // namespace fmbem::fmm
