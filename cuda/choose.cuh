#pragma once

#include <optional>

#include "fmbem/cuda/tree.cuh"
#include "fmbem/fmm/choice/search.hpp"
#include "fmbem/fmm/lists/hybrid_lists.hpp"
#include "fmbem/fmm/plan.hpp"

namespace fmbem::cuda {

/// What the cost model knows of a GPU: seconds are operations over rates.
struct DeviceRates {
  double near_single, near_double;  ///< pairs a second, potential
  /// Seconds of a source of a leaf's near list beside its pairs: fetching it, and idle lanes, as
  /// targets are rounded up to eights.
  double near_source_single, near_source_double;
  double product_single, product_double;  ///< operations a second in large products
  double bandwidth;                       ///< bytes a second
  /// Coefficients times targets of M2P, potential, and coefficients times sources of P2L, a second.
  double m2p_single, m2p_double, p2l_single, p2l_double;
  double displaced_single, displaced_double;  ///< operations a second of M2L by displacements
  /// Seconds of gathering, M2M and L2L for a parent, and for each byte of its coefficients; the
  /// same of a leaf's share in P2M and L2P; and of an evaluation's launches.
  double parent, parent_byte, leaf, leaf_byte, start;
  double size;       ///< of the GPU, an H200 being 1
  bool slow_double;  ///< less than an eighth of the rate of single precision
};

/// Those of one H200, measured (docs/performance.md), scaled by the table that `fmbem tune` made of
/// the current device, or by what the device says of itself where there is none.
/// Throws InputError for a file that does not hold a table.
DeviceRates device_rates();

/// While it lives, device_rates() does not look for a table in this thread: what measures anew must
/// not depend on an old one, and replaces one that cannot be read.
class WithoutTable {
 public:
  WithoutTable();
  ~WithoutTable();
  WithoutTable(const WithoutTable&) = delete;
  WithoutTable& operator=(const WithoutTable&) = delete;
};

/// Like fmm::precision_of() and fmm::near_precision_of(), with bounds of their own. A GPU that is
/// slow in double precision works in single precision wherever the tolerance allows it at all.
Precision precision_for(const fmm::PlanOptions& options, const DeviceRates& rates,
                        bool sources_are_targets);
/// Yukawa's near field is also in double precision where κ times the points' extent is large, and
/// any where there will be second derivatives: these always are (p2p_hessian()).
Precision near_precision_for(const fmm::PlanOptions& options, const DeviceRates& rates,
                             double extent);

/// Whether the near field may be summed by Newton's third law, or is to be. Throws InputError where
/// that is asked for and does not apply; `same`: whether the sources are the targets.
bool may_take_third_law(const fmm::PlanOptions& options, bool same);

/// Whether that takes less time, in more than one leaf, and there is room for what items owe by the
/// third law, without crowding out what plans take besides: a number for every other near pair and
/// all targets of an item. `branching` is that of the tree, as TreeChoice.
bool third_law_pays(std::int64_t near_pairs, std::int64_t items, std::int64_t points,
                    Precision near, double branching);

/// Points, and an order in which neighbours follow each other.
struct TriedPoints {
  const Vec3d* points;
  const std::int32_t* order;
  std::int64_t count;
  double scale;             ///< which the points are to be multiplied by
  Hull hull;                ///< of the points times the scale
  bool on_lattice = false;  ///< as fmm::Cloud
};

/// The leaf size and inflation with the least time by the cost model, for trees of a sample of the
/// points (sources or targets, whichever are more). What the options give is kept; a tree is tried
/// all the same where they do not give the order, which depends on it. `near_pair_seconds` is the
/// cost on an H200 where near pairs are not those of P2P; leaves are not merged then.
fmm::TreeChoice choose_tree(const fmm::PlanOptions& options, int order, const DeviceRates& rates,
                            const TriedPoints& tried, std::int64_t sources, std::int64_t targets,
                            std::optional<double> near_pair_seconds, cudaStream_t stream);

/// What the traversal of a hybrid weighs, of Laplace's kernel; `third_law`: whether the near field
/// may be summed by it.
fmm::HybridCosts hybrid_costs(const fmm::PlanOptions& options, int order, const DeviceRates& rates,
                              bool third_law);

/// Leaf size of a treecode: the warps of 64 targets are full with fewer boxes.
inline constexpr int treecode_leaf = 64;

/// What choose_tree() finds for `automatic`: of an FMM with the leaves that the options give, and
/// with the best ones, which are the same where they give none.
struct WeighedTrees {
  fmm::TreeChoice asked, best;
};
/// Whether `automatic` weighs a hybrid where leaves are given: not with a θ of more work than the
/// FMM's.
bool weighs_hybrid(const fmm::PlanOptions& options);
/// What `automatic` takes, by the cost model: direct sum, FMM, hybrid or treecode. Without given
/// leaves a hybrid is never foreseen to be faster than the FMM by a margin, and is not weighed
/// further (docs/decisions.md). `few_places` as fmm::Cloud.
fmm::Method choose_method(const fmm::PlanOptions& options, int order, const DeviceRates& rates,
                          const WeighedTrees& trees, std::int64_t sources, std::int64_t targets,
                          bool same, bool few_places);

/// What an FMM takes at least, if it has more than one leaf: its products have long rows, which
/// take their time however few there are.
double least_fmm_seconds(int order, const DeviceRates& rates);

/// Of a direct sum by its own kernel.
double direct_seconds(const fmm::PlanOptions& options, const DeviceRates& rates,
                      std::int64_t sources, std::int64_t targets);

}  // namespace fmbem::cuda
