#pragma once

#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/precond/charge_correction.hpp"
#include "fmbem/bem/precond/charge_rows.hpp"
#include "fmbem/bem/precond/cluster_rows.hpp"
#include "fmbem/bem/precond/mixed_places.hpp"
#include "fmbem/bem/precond/row_entries.hpp"

namespace fmbem {

struct MixedInverseOptions {
  ClusterInverseOptions clusters{};
  /// Of entries by halves (CloseEntries); 0 for none.
  double reach = 0.85;
};

/// The same options. Throws InputError for those out of range.
const MixedInverseOptions& checked(const MixedInverseOptions& options);

/// Leaves with too many unknowns are halved down to this number of panels.
inline constexpr int smallest_mixed_leaf = 8;

/// What the small systems of mixed rows are made of: trees, cuts, and the rows and laws of their
/// nodes. T is double or complex.
template <class T>
struct MixedSystems {
  static constexpr int parts = std::is_same_v<T, double> ? 1 : 2;

  /// Throws InputError for options out of range, for rows that do not fit the panels, and for parts
  /// in charge equations that have no panels or rows of both kinds.
  MixedSystems(const Panels& panels, std::span<const Triangle> triangles,
               const BasicMixedRows<T>& of_panels, const MixedInverseOptions& options);
  MixedSystems(const MixedSystems&) = delete;
  MixedSystems& operator=(const MixedSystems&) = delete;

  MixedPlaces places;
  ClusterRows rows;
  BasicChargeCorrection<T> correction;
  ChargeRows<T> charges;
  std::vector<std::unique_ptr<const RowsOfNodes>>
      of_nodes;  ///< of real parts, and of imaginary ones
};

}  // namespace fmbem
