#pragma once

#include <memory>

#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/bem/precond/panel_surfaces.hpp"

namespace fmbem {

/// Preconditions DirectOperator. It is made like ClusterInverse, with two unknowns and two
/// equations for each node of a cut: for each leaf of panels a small system of its own panels, of
/// those close by and of clusters farther away, the coarser the farther, at most 128 of them, so
/// that every row sees all surfaces; the solution for the leaf's own panels is taken. Entries
/// between panels are those of Laplace's kernel to 1e-3, others those of points that are smeared;
/// both are screened by the distance. Clusters do not mix panels of different regions. The
/// inverses are kept in single precision, on the GPU in half precision
/// (cuda::bem::SolvationInverse). O(n) time and memory, 2 kB a panel. Throws ResourceError where
/// that is too much, and InputError for systems that are singular.
std::unique_ptr<ApproximateInverse> make_solvation_inverse(const Panels& panels,
                                                           const RegionsOfPanels& regions,
                                                           Processor processor = Processor::cpu);

}  // namespace fmbem
