#pragma once

#include <memory>
#include <mutex>

#include <cuda_runtime.h>

#include "fmbem/cuda/check.cuh"
#include "fmbem/cuda/memory.cuh"

namespace fmbem::cuda {

/// An executable CUDA graph.
class Graph {
 public:
  /// Of what enqueue() puts into a stream, which does not run then, but has run before. Null where
  /// the capture was broken off: CUDA does so when another thread waits for the whole device
  /// meanwhile, as other libraries may.
  static std::unique_ptr<Graph> capture(cudaStream_t stream, auto&& enqueue) {
    const std::lock_guard lock(whole_device());
    FMBEM_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    bool broken = false;
    try {
      enqueue();
    } catch (...) {
      broken = true;
    }
    cudaGraph_t graph = nullptr;
    broken |= cudaStreamEndCapture(stream, &graph) != cudaSuccess;
    if (!broken) return std::unique_ptr<Graph>(new Graph(graph));
    if (graph) cudaGraphDestroy(graph);
    cudaGetLastError();  // which is dealt with
    return nullptr;
  }
  ~Graph() { cudaGraphExecDestroy(executable_); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  void run(cudaStream_t stream) const { FMBEM_CUDA(cudaGraphLaunch(executable_, stream)); }

 private:
  /// Destroys what it is made from.
  explicit Graph(cudaGraph_t graph) {
    // Without this flag a graph drops the streams' priorities.
    const cudaError_t error =
        cudaGraphInstantiate(&executable_, graph, cudaGraphInstantiateFlagUseNodePriority);
    cudaGraphDestroy(graph);
    FMBEM_CUDA(error);
  }

  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace fmbem::cuda
