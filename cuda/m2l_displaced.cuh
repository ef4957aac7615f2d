#pragma once

#include <vector>

#include "fmbem/cuda/memory.cuh"
#include "fmbem/cuda/pass.cuh"
#include "fmbem/fmm/lists/displacements.hpp"

// M2L of a hybrid at displacements that the FMM does not have: pairs with one operator are
// multiplied together, and the products of a box are added up in their order.

namespace fmbem::cuda {

/// A box that acts on another one.
struct DisplacedSource {
  std::int32_t box;
  std::uint32_t place_and_mirror;  ///< eight times the place of its product, and the reflections

  __host__ __device__ std::uint32_t place() const { return place_and_mirror / 8; }
  __host__ __device__ int mirror() const { return static_cast<int>(place_and_mirror % 8); }
};
/// Some of those with one displacement, which a block takes.
struct DisplacedTile {
  std::int64_t first;
  std::int32_t count, displacement;
};
/// A box, and the places of its products.
struct DisplacedTarget {
  std::int32_t box, begin, end;
};
/// What goes together: ranges of sources, tiles and targets, that end where the next ones begin.
struct DisplacedPart {
  std::int64_t sources, tiles, targets;
};

struct DisplacedDeviceLists {
  std::vector<fmm::BoxSteps> displacements;
  std::vector<double> sides;         ///< of the boxes of each, where levels are apart
  std::vector<DisplacedPart> parts;  ///< and the ends
  std::int64_t most_sources = 0;     ///< of a part
  DeviceBuffer<DisplacedSource> sources;
  DeviceBuffer<DisplacedTile> tiles;
  DeviceBuffer<DisplacedTarget> targets;
  std::int64_t bytes() const { return sources.bytes() + tiles.bytes() + targets.bytes(); }
};
/// Of the host's lists; for those, too, that have none.
DisplacedDeviceLists displaced_device_lists(const fmm::PointTree& tree, fmm::DisplacedLevels levels,
                                            cudaStream_t stream);

/// The lists and the stream must outlive it.
template <class T>
class DisplacedM2l {
 public:
  /// κ is in the tree's unit. But for Laplace's kernel, where it is 0, lists have levels apart.
  DisplacedM2l(const DisplacedDeviceLists& lists, const fmm::ParityOrder& order, double kappa,
               cudaStream_t stream);

  /// Adds to the local expansions.
  void enqueue(const Classes& classes, const ExpansionsView<T>& expansions) const;
  std::int64_t bytes() const { return products_.bytes(); }
  std::int64_t operator_bytes() const { return operators_.bytes(); }

 private:
  const DisplacedDeviceLists& lists_;
  cudaStream_t stream_;
  DeviceBuffer<T> operators_;  ///< [displacements][K][K], transposed
  DeviceBuffer<T> products_;   ///< [places][K]
};

}  // namespace fmbem::cuda
