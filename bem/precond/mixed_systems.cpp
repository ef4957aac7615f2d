#include "fmbem/bem/precond/mixed_systems.hpp"

#include <cmath>
#include <complex>
#include <utility>

#include "fmbem/bem/layer/complex_rows.hpp"
#include "fmbem/fmm/base/error.hpp"

namespace fmbem {
namespace {

/// The real parts of α, β and γ, or the imaginary ones.
template <class T>
MixedRows part_of(const BasicMixedRows<T>& rows, int part) {
  const auto of = [&](const std::vector<T>& factors) {
    std::vector<double> result;
    result.reserve(factors.size());
    for (const T factor : factors)
      result.push_back(part == 0 ? std::real(factor) : std::imag(factor));
    return result;
  };
  return {of(rows.alpha), of(rows.beta), of(rows.gamma)};
}

}  // namespace

const MixedInverseOptions& checked(const MixedInverseOptions& options) {
  fmbem::checked(options.clusters);
  FMBEM_REQUIRE(options.reach >= 0 && std::isfinite(options.reach),
                "the reach of close entries must not be negative, not " << options.reach);
  return options;
}

template <class T>
MixedSystems<T>::MixedSystems(const Panels& panels, std::span<const Triangle> triangles,
                              const BasicMixedRows<T>& of_panels,
                              const MixedInverseOptions& options)
    : places(panels, of_panels),
      rows(
          ClusterTree(places.trees, triangles, checked(options).clusters.max_leaf),
          options.clusters, 1, smallest_mixed_leaf,
          [&](const Cluster& node) { return places.divides(node); }, parts),
      correction(places, of_panels),
      charges(places, of_panels, rows.tree()) {
  for (int part = 0; part < parts; ++part)
    of_nodes.push_back(std::make_unique<RowsOfNodes>(rows.tree(), triangles,
                                                     part_of(of_panels, part), options.reach));
}

template struct MixedSystems<double>;
template struct MixedSystems<Complex>;

}  // namespace fmbem
