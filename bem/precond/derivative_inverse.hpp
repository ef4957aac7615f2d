#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/bem/near/green_entries.hpp"
#include "fmbem/bem/precond/cluster_rows.hpp"
#include "fmbem/bem/precond/panel_surfaces.hpp"
#include "fmbem/bem/precond/solvation_nodes.hpp"

namespace fmbem {

/// Equations of the second kind for φ and q of panels, by surface: with s and t the surfaces of
/// panels i and j, the kernels of terms(s, t), and own(s) on the diagonal,
///
///     Σ_j Σ_G  k K_ij φ_j + v V_ij q_j,     Σ_j Σ_G  d D_ij φ_j + k' K'_ij q_j.
struct SurfaceEquations {
  std::vector<std::vector<GreenTerm>> couplings;  ///< [surfaces of rows][surfaces of columns]
  std::vector<std::array<double, 2>> own;         ///< [surfaces]: of φ and of q

  const std::vector<GreenTerm>& terms(std::size_t to, std::size_t from) const {
    return couplings[to * own.size() + from];
  }
};

/// With 64 nodes molecules take an iteration more, with 128 as many (docs/decisions.md).
inline constexpr ClusterInverseOptions derivative_cuts{
    .max_leaf = solvation_cuts.max_leaf, .nearness = solvation_cuts.nearness, .most_unknowns = 96};

/// Preconditions them by small systems on the cuts of SolvationInverse, but with fewer nodes, and
/// with all entries those of points that are smeared: what equations of the second kind lack is
/// what lies beyond a panel, not what is next to it. `surfaces` are those of the equations, and
/// closed. On the CPU; rows are kept in single precision. O(n) time and memory, 1.4 kB a panel.
/// Throws what make_solvation_inverse() throws.
std::unique_ptr<ApproximateInverse> make_derivative_inverse(
    const Panels& panels, const RegionsOfPanels& regions, const PanelSurfaces& surfaces,
    const SurfaceEquations& equations, const ClusterInverseOptions& cuts = derivative_cuts);

}  // namespace fmbem
