#pragma once

#include <cstdint>
#include <type_traits>

#include "fmbem/cuda/split_number.cuh"
#include "fmbem/cuda/tree.cuh"
#include "fmbem/fmm/base/vec3.hpp"
#include "fmbem/fmm/expansion/translations.hpp"

namespace fmbem::cuda {

/// Points in Morton order, as a structure of arrays. In double precision coordinates are the
/// caller's times the plan's unit, so that differences of close ones are exact; in single precision
/// they are relative to the centre of their leaf, in its sides.
template <class N>
struct PointsView {
  std::int64_t count;
  const std::int32_t* order;  ///< input index of each
  const N *x, *y, *z;
  // In single precision only: the second parts of the coordinates, up to a constant of the leaf,
  // for pairs within a leaf; and the coordinates in double precision, for pairs that are closer
  // still.
  const float *low_x = nullptr, *low_y = nullptr, *low_z = nullptr;
  const double *exact_x = nullptr, *exact_y = nullptr, *exact_z = nullptr;
};

/// Where a box lies: points less `corner` less `centre`, times `scale`, are in its unit box.
struct UnitBoxPlace {
  Vec3d corner, centre;
  double scale;
};

/// Of a box in a deep tree. The rounding of root.corner + centre would be seen there: `corner` is
/// the box's centre, from which close points are exact differences, and `centre` what that was
/// rounded by. Not inlined, as few trees need it.
__device__ __attribute__((noinline)) inline UnitBoxPlace deep_place(const Cube& root,
                                                                    fmm::TreeKey code) {
  const int level = level_of(code);
  const fmm::TreeCell cell = fmm::cell_of(key_in(code, level));
  const double side = ldexp(root.side, -level);
  UnitBoxPlace place{root.corner, {}, 1 / side};
  double* const whole[3] = {&place.corner.x, &place.corner.y, &place.corner.z};
  double* const rest[3] = {&place.centre.x, &place.centre.y, &place.centre.z};
  for (int axis = 0; axis < 3; ++axis) {
    const double corner = *whole[axis], in_sides = cell[axis] + 0.5, from_corner = side * in_sides,
                 lost = fma(side, in_sides, -from_corner);
    const double sum = corner + from_corner, taken = sum - corner;
    *whole[axis] = sum;
    *rest[axis] = (corner - (sum - taken)) + (from_corner - taken) + lost;  // Knuth's sum of two
  }
  return place;
}

/// Takes points of one leaf to its unit box.
template <class T, class N>
struct ToUnitBox : UnitBoxPlace {
  /// Of a tree whose codes have 64 bits.
  __device__ ToUnitBox(const Cube& root, std::uint64_t code) {
    const int level = level_of(code);
    const Cell cell = grid_cell(key_in(code, level));
    const double side = ldexp(root.side, -level);
    corner = root.corner;  // of the root; and the leaf's centre from that
    centre = {side * (cell.x + 0.5), side * (cell.y + 0.5), side * (cell.z + 0.5)};
    scale = 1 / side;
  }
  __device__ ToUnitBox(const Cube& root, const TreeView& tree, std::int32_t box) {
    if constexpr (sizeof(N) == 4) {  // such coordinates are the box's own
      corner = centre = {};
      scale = 1 / ldexp(root.side, -tree.level(box));
    } else if (tree.upper_code) {
      static_cast<UnitBoxPlace&>(*this) = deep_place(root, tree.deep_code(box));
    } else {
      *this = ToUnitBox(root, tree.code[box]);
    }
  }
  /// Of coordinates as they are in PointsView.
  __device__ Vec3<T> operator()(N x, N y, N z) const {
    if constexpr (sizeof(N) == 4)
      return {static_cast<T>(x), static_cast<T>(y), static_cast<T>(z)};
    else
      return {static_cast<T>((x - corner.x - centre.x) * scale),
              static_cast<T>((y - corner.y - centre.y) * scale),
              static_cast<T>((z - corner.z - centre.z) * scale)};
  }
};

/// A source: its place, as in PointsView, and its charge, read from memory in one piece.
template <class N>
struct alignas(4 * sizeof(N) < 16 ? 4 * sizeof(N) : 16) ChargedPoint {
  N x, y, z, charge;
};

/// Strengths of one evaluation in the points' order, [vectors][sources].
template <class N>
struct StrengthsView {
  const ChargedPoint<N>* places;
  bool charges;  ///< whether there are any
  const ChargedPoint<N>*
      dipoles;  ///< moments, the fourth number being nothing; null where there are none
};

/// Results of the near field, [vectors][targets] in the points' order; null where not asked for.
struct NearView {
  double* potential = nullptr;
  double* gradient[3] = {};
  double* hessian[6] = {};  ///< entries of Symmetric3
};

/// Sums of a few terms each: row r is Σ value[k] x[index[k]], k from begin[r] to begin[r + 1].
template <class T>
struct RowsView {
  const std::int32_t *begin, *index;
  const T* value;
};

/// A coefficient of ∂ along an axis of a local expansion: Σ value[k] L[index[k]], the value being 0
/// where there are fewer terms. Read from memory in one piece.
template <class T>
struct alignas(16) DerivativeTerms {
  T value[fmm::terms_of_a_derivative];
  std::int32_t index[fmm::terms_of_a_derivative];
};

/// fmm::HarmonicTable on the device.
template <class T>
struct TableView {
  int p, count, pairs;  ///< count K = (p+1)², pairs (p+1)(p+2)/2
  const T *up, *down, *diagonal;
  const std::int32_t* position;  ///< [2 pairs]
  /// By position: a moment from the moments of dipoles' components, [3][2 pairs].
  RowsView<T> moment_of_dipoles;
  const DerivativeTerms<T>* derivative;  ///< [2 pairs][3 axes]
  // What Yukawa's kernel has besides, over κ² (fmm::HarmonicTable::rises).
  RowsView<T> rises_of_dipoles;
  const DerivativeTerms<T>* rise;
};

/// The kernel of the far field: Yukawa's, or Laplace's with κ = 0.
struct FarKernel {
  double kappa = 0;   ///< in the tree's unit
  int top_level = 2;  ///< the first level whose boxes have expansions
};

/// What factors of M2L's products are kept in.
template <class T>
using M2lNumber = std::conditional_t<sizeof(T) == sizeof(float), SplitNumber, double>;

/// Translation operators of one order (fmm/translations.hpp).
template <class T>
struct OperatorsView {
  /// [8][K][m2l_stride]: rows of the eight products, 26 orbits of K in a row.
  const M2lNumber<T>* m2l;
  const float* m2l_units;  ///< [8][K], of split numbers
  const T* upward;         ///< by class e from K·begin[e] on: [K][K_e]
  const T* downward;       ///< [K][K]: row i takes the parent's coefficient at position i
  std::int64_t m2l_stride;
};

/// Where the classes of the parity order begin.
struct Classes {
  int begin[9];
  const std::uint8_t* of;  ///< [K], class of each position; device memory
};

/// Expansions of all boxes, [boxes][vectors][K] in parity order.
template <class T>
struct ExpansionsView {
  int vectors, count;
  T *moments, *locals;
  __device__ T* moment(std::int64_t box, int v) const {
    return moments + (box * vectors + v) * count;
  }
  __device__ T* local(std::int64_t box, int v) const {
    return locals + (box * vectors + v) * count;
  }
};

/// What one source box is to a target leaf: a range of sources, and how to take them from the units
/// of their leaf to those of the target's: x_target = ratio x_source + shift/8. In double precision
/// that is not needed, and wrong where boxes are out of reach of it.
struct NearEntry {
  std::int32_t begin, count;
  std::int8_t shift[3];
  std::int8_t doublings;  ///< log2 of the ratio
};
static_assert(sizeof(NearEntry) == 12);

/// Targets of one leaf that one warp takes. Its lanes are four groups of eight, so each lane has an
/// eighth of the targets. Items are sorted by that number.
struct NearItem {
  std::int32_t row;           ///< of the near lists
  std::int32_t first, count;  ///< among the sorted targets
  std::int32_t part;          ///< which of the leaf's items it is
};

inline constexpr int group_lanes = 8, most_targets_of_a_lane = 5;

/// Where the items with that many targets a lane begin: [number], up to one beyond the last.
struct ItemClasses {
  std::int32_t begin[most_targets_of_a_lane + 2];
};

/// A row of the near lists for Newton's third law: the pairs of leaves that it takes, and what it
/// gets from the others. Ranges without an end here end where the next row's begin.
struct MutualRow {
  std::int64_t later_begin;    ///< its entries of leaves that come later in Morton order
  std::int64_t slot_begin;     ///< what it owes to those: [items][later_sources]
  std::int64_t earlier_begin;  ///< what it gets from leaves before: a sum for each of their items
  std::int32_t later;          ///< how many entries of later leaves
  std::int32_t later_sources;  ///< and how many points those have
};

/// Of each row the leaf itself, then leaves that come later in Morton order, then those before.
struct NearListsView {
  const std::int64_t* begin;  ///< [rows + 1]
  const NearEntry* entries;
  const std::int32_t* own_entries;  ///< [rows], 1 if the first one is the leaf itself, else 0
};

/// Boxes that a stage goes through between their points and their expansions.
struct LeavesView {
  TreeView tree;
  Cube root;
  const std::int32_t* boxes;  ///< [count]
  std::int64_t count;
};

// The stages; `stream` is where they are enqueued.

/// For as many points as `sources`.
template <class T, class N>
void p2m(std::int64_t sources, const StrengthsView<N>& strengths, const LeavesView& leaves,
         const TableView<T>& table, const ExpansionsView<T>& expansions, const FarKernel& kernel,
         cudaStream_t stream);

/// Splits of one level, from the first to the last, for M2M.
struct SplitsView {
  std::int32_t first, last;
  bool follows;  ///< whether the launch before in the stream is M2M of the level below
};
template <class T>
void m2m(const TreeView& tree, const SplitsView& splits, const Classes& classes,
         const OperatorsView<T>& operators, const ExpansionsView<T>& expansions,
         cudaStream_t stream);

/// What M2L gathers at a time: what serves its products best, or a quarter to a twentieth of that
/// where memory counts more than time.
enum class Gathering { wide, sparing };

/// Factors of M2L's products, [8][rows][stride]: of rows (a parent and a right-hand side) and
/// orbits from the first ones on. Split numbers go to the end of the last that have a unit
/// together.
template <class T>
struct GatheredView {
  M2lNumber<T>* values;
  float* units;  ///< of split numbers, [stride / split_depth][unit_stride]: of all eight blocks
  std::int64_t unit_stride;
  std::int64_t first_row, rows;
  int first_orbit, orbits;
  std::int64_t stride;
};

/// Fills them, with `sources` [parents][26][8] the boxes of each orbit.
template <class T>
void gather(const std::int32_t* sources, const Classes& classes,
            const ExpansionsView<T>& expansions, const GatheredView<T>& gathered,
            cudaStream_t stream);

/// M2L's products, [8][rows][stride] with eight blocks that are `block` apart, of rows from the
/// first one on.
template <class T>
struct ProductsView {
  T* values;
  std::int64_t first_row, stride, block;
};

/// Parents of one level, from the first to the last of those in the list.
struct ParentsView {
  const std::int32_t* split;  ///< all parents, as numbers of splits
  std::int32_t first, last;
  bool has_local;  ///< whether they have local expansions, which those of level 1 have not
  bool adds;       ///< to what is in the children's local expansions
  bool follows;    ///< whether the launch before in the stream is L2L of the level above
};

/// L2L and the last step of M2L: writes L of the children with targets from the parents' L and the
/// products, or adds that to it.
template <class T>
void l2l(const TreeView& tree, const ParentsView& parents, const Classes& classes,
         const OperatorsView<T>& operators, const ProductsView<T>& products,
         const ExpansionsView<T>& expansions, cudaStream_t stream);

struct Arguments;

/// Adds the far field to the near one and writes the results in the caller's order and units.
struct ResultsView {
  const Arguments* to;  ///< where the results go
  bool potential, gradient;
  const unsigned long long* largest;  ///< [vectors], bits of the largest strength
  double scale, gradient_scale;       ///< for strengths as they came
  double hessian_scale = 0;
};
template <class T, class N>
void l2p(const PointsView<N>& targets, const NearView& near, const LeavesView& leaves, bool has_far,
         const TableView<T>& table, const ExpansionsView<T>& expansions, const FarKernel& kernel,
         const ResultsView& results, cudaStream_t stream);

/// The same of second derivatives.
template <class T>
void l2p_hessian(const PointsView<double>& targets, const NearView& near, const LeavesView& leaves,
                 bool has_far, const TableView<T>& table, const ExpansionsView<T>& expansions,
                 const FarKernel& kernel, const ResultsView& results, cudaStream_t stream);

/// Targets that a warp takes at most; with more, registers would suffice for fewer warps.
constexpr int most_targets_of_a_warp(bool single, bool gradient) {
  return single && !gradient ? most_targets_of_a_lane * group_lanes : 32;
}
/// Fewer where there are not enough items for all warps that a GPU can run.
inline int targets_of_a_warp(bool single, bool gradient, std::int64_t targets) {
  int most = most_targets_of_a_warp(single, gradient);
  while (most > group_lanes && targets / most < 4000) most = most > 32 ? 32 : most / 2;
  return most;
}

/// What P2P works on, for one right-hand side at a time.
template <class N>
struct NearArguments {
  PointsView<N> sources, targets;
  StrengthsView<N> strengths;
  TreeView tree;
  double root_side;
  const std::int32_t* leaves;  ///< with targets, a row of the lists each
  NearListsView lists;
  const NearItem* items;
  bool same;  ///< whether the sources are the targets
  NearView results;
};

/// P2P of so many right-hand sides, by fmm::Laplace or fmm::Yukawa in the tree's unit, the first of
/// which the strengths and results are. `root_terms` as for the CPU: 1 for roots to 1e-12 in double
/// precision, more for all bits. Items with k targets a lane go to streams[k − 1], the largest
/// first, so that they run side by side.
template <class N, class Kernel>
void p2p(NearArguments<N> a, const Kernel& kernel, int vectors, const ItemClasses& classes,
         int root_terms, const cudaStream_t* streams);

/// P2P of second derivatives, to the last bits: items with up to four targets a lane.
template <class Kernel>
void p2p_hessian(NearArguments<double> a, const Kernel& kernel, int vectors,
                 const ItemClasses& classes, const cudaStream_t* streams);

/// The power of two that brings the largest strength to [1, 2), from its bits; 1 for 0, and NaN for
/// one that is not finite, so that all results are NaN.
__host__ __device__ inline double strength_scale(unsigned long long bits) {
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
  if (bits == 0) return 1;
  const int power = exponent > 1000 ? 1000 : exponent < -1000 ? -1000 : exponent;
  const unsigned long long not_a_number = 0x7ff8ULL << 48;
  const unsigned long long scale =
      exponent == 1024 ? not_a_number : static_cast<unsigned long long>(1023 - power) << 52;
#ifdef __CUDA_ARCH__
  return __longlong_as_double(static_cast<long long>(scale));
#else
  double result;
  __builtin_memcpy(&result, &scale, sizeof result);
  return result;
#endif
}

}  // namespace fmbem::cuda
