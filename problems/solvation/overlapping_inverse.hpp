#pragma once

#include <memory>
#include <vector>

#include "fmbem/bem/layer/boundary_operator.hpp"

namespace fmbem {

/// What the unknowns φ and q of panels are coupled by: the regions on both sides of each.
struct RegionsOfPanels {
  std::vector<int> inside, outside;         ///< [n panels]
  std::vector<double> permittivity, kappa;  ///< [regions]
};

/// Preconditions PoissonBoltzmannOperator: for each leaf of panels a small system of its own
/// panels and of those around it on the surface, some three times as many, of which the solution
/// for the leaf's own panels is taken (restricted additive Schwarz, Cai and Sarkis 1999, SIAM J.
/// Sci. Comput. 21). Entries of the systems are those of Laplace's kernel to 1e-3, screened at the
/// centroids; their inverses are kept in single precision. O(n) time and memory, 5 kB a panel.
/// Throws ResourceError where that is too much.
std::unique_ptr<ApproximateInverse> make_overlapping_inverse(const Panels& panels,
                                                             const RegionsOfPanels& regions);

}  // namespace fmbem
