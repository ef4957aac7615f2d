#pragma once

#include <cuda_runtime.h>

#include "fmbem/cuda/check.cuh"

namespace fmbem::cuda {

/// An executable CUDA graph of what is enqueued in a stream during construction, which does not run
/// then.
class Graph {
 public:
  Graph(cudaStream_t stream, auto&& enqueue) {
    FMBEM_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    cudaGraph_t graph = nullptr;
    try {
      enqueue();
    } catch (...) {
      cudaStreamEndCapture(stream, &graph);
      if (graph) cudaGraphDestroy(graph);
      cudaGetLastError();
      throw;
    }
    FMBEM_CUDA(cudaStreamEndCapture(stream, &graph));
    // Without this flag a graph drops the streams' priorities.
    const cudaError_t error =
        cudaGraphInstantiate(&executable_, graph, cudaGraphInstantiateFlagUseNodePriority);
    cudaGraphDestroy(graph);
    FMBEM_CUDA(error);
  }
  ~Graph() {
    if (executable_) cudaGraphExecDestroy(executable_);
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  void run(cudaStream_t stream) const { FMBEM_CUDA(cudaGraphLaunch(executable_, stream)); }

 private:
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace fmbem::cuda
