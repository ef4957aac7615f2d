#pragma once

#include "fmbem/bem/geometry/cuda/block_panels.cuh"
#include "fmbem/bem/layer/columns.hpp"
#include "fmbem/bem/layer/layer.hpp"

namespace fmbem::cuda::bem {

/// Enqueues the integrals of exact_entry() of a block's panels, V or K by the trace, of Laplace's
/// kernel, to 1e-12 relative. Waits for the stream before.
void exact_columns(const BlockPanels& panels, Trace source, const Columns& columns, double* entries,
                   cudaStream_t stream);

}  // namespace fmbem::cuda::bem
