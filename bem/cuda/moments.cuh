#pragma once

#include "fmbem/bem/cuda/panel_store.cuh"
#include "fmbem/bem/cuda/rules.cuh"

namespace fmbem::cuda {

/// Moments of panels of density 1 in the boxes whose own sources they are, [sources][K] in parity
/// order, over areas in the tree's unit: by the rules that are accurate from a side of the box on.
template <class T>
void integrate_moments(const PanelStore& panels, const SpreadTree& tree, const MomentRules& rules,
                       const TableView<T>& table, T* rows, cudaStream_t stream);

}  // namespace fmbem::cuda
