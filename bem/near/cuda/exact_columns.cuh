#pragma once

#include "fmbem/bem/geometry/cuda/block_panels.cuh"
#include "fmbem/bem/layer/columns.hpp"
#include "fmbem/bem/layer/layer.hpp"

namespace fmbem::cuda::bem {

/// Enqueues the integrals of exact_entry() of a block's panels, V or K by the trace, to 1e-12
/// relative. κ is of the panels' unit. Waits for the stream before.
void exact_columns(const BlockPanels& panels, const PanelKernel& kernel, const Columns& columns,
                   double* entries, cudaStream_t stream);

}  // namespace fmbem::cuda::bem
