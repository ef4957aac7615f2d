#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "fmbem/fmm/base/buffer.hpp"
#include "fmbem/fmm/cpu/near_data.hpp"
#include "fmbem/fmm/lists/displacements.hpp"

namespace fmbem::fmm {

// What a hybrid has beside the stages of pass.hpp.

/// M2L between boxes of one level at any displacement: dense operators, one for each displacement
/// that there is, up to reflections, and of Yukawa's kernel for each level.
template <class T>
class DisplacedM2l {
 public:
  /// κ is in the tree's unit. Throws ResourceError if memory does not suffice.
  DisplacedM2l(const PointTree& tree, const ParityOrder& order, double kappa);

  /// Adds to the local expansions.
  void add(const Pass<T>& pass) const;
  std::int64_t bytes() const { return static_cast<std::int64_t>(blocks_.size() * sizeof(T)); }

 private:
  void add_chunk(const Pass<T>& pass, const DisplacedChunk& chunk) const;

  DisplacedPairs pairs_;
  std::int64_t block_size_ = 0;
  Buffer<T> blocks_;  ///< [displacements][K][K], packed
};

/// Adds the sources of boxes to local expansions (P2L): those of charges alone.
template <class T>
void p2l(const Pass<T>& pass);

/// Adds M2P, and P2P of leaves out of the near lists' reach, to the results, and the time of both.
template <class T>
void m2p(const NearData& near, Pass<T>& pass, Seconds& seconds);

}  // namespace fmbem::fmm
