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
  /// there is none: CUDA breaks a capture off when another thread waits for the whole device
  /// meanwhile, as other libraries may, and memory for the graph may be missing.
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
    // Without this flag a graph drops the streams' priorities.
    cudaGraphExec_t executable = nullptr;
    broken = broken || cudaGraphInstantiate(&executable, graph,
                                            cudaGraphInstantiateFlagUseNodePriority) != cudaSuccess;
    if (graph) cudaGraphDestroy(graph);
    if (!broken) return std::unique_ptr<Graph>(new Graph(executable));
    cudaGetLastError();  // which is dealt with
    return nullptr;
  }
  ~Graph() { cudaGraphExecDestroy(executable_); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  void run(cudaStream_t stream) const { FMBEM_CUDA(cudaGraphLaunch(executable_, stream)); }

 private:
  explicit Graph(cudaGraphExec_t executable) : executable_(executable) {}

  cudaGraphExec_t executable_;
};

}  // namespace fmbem::cuda
