// The near field of V: a block for each row, that is for each leaf with targets.
#include "fmbem/bem/cuda/near_field.cuh"
#include "fmbem/bem/triangle.hpp"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"

namespace fmbem::cuda {
namespace {

/// Vectors whose products share the reading of entries.
constexpr int most_together = 4;
/// Panels that a block measures at a time.
constexpr int panels_at_once = warp_size;

struct NearFieldView {
  const Vec3d* vertices;
  const std::int32_t* source_order;
  PointsView<double> targets;
  double to_length;  ///< of coordinates of the targets
  TreeView tree;
  const std::int32_t* leaves;
  NearListsView lists;
  const std::int64_t* pairs_before;  ///< [rows], of the rows before
  std::int64_t sources;

  __device__ Vec3d target(std::int32_t i) const {
    return {to_length * targets.x[i], to_length * targets.y[i], to_length * targets.z[i]};
  }
};

NearFieldView view_of(const PanelStore& panels, const SpreadTree& tree) {
  return {panels.vertices.data(),
          tree.source_order.data(),
          tree.targets(),
          1 / tree.unit,  // a power of two
          tree.tree.view(),
          tree.far.target_leaves.data(),
          tree.near.view(),
          tree.near.pairs_before.data(),
          tree.sources()};
}

/// Calls body(triangles, first source, count) for the sources of a row, some at a time, with their
/// triangles in shared memory.
template <class Body>
__device__ inline void for_panels(const NearFieldView& a, std::int64_t row, Body&& body) {
  __shared__ Triangle s_triangles[panels_at_once];
  for (std::int64_t e = a.lists.begin[row]; e < a.lists.begin[row + 1]; ++e) {
    const NearEntry entry = a.lists.entries[e];
    for (int done = 0; done < entry.count; done += panels_at_once) {
      const int some = min(entry.count - done, panels_at_once);
      __syncthreads();
      if (static_cast<int>(threadIdx.x) < some) {
        const std::int64_t j = a.source_order[entry.begin + done + threadIdx.x];
        const Vec3d* const v = a.vertices + 3 * j;
        s_triangles[threadIdx.x] = make_triangle(v[0], v[1], v[2]);
      }
      __syncthreads();
      body(s_triangles, entry.begin + done, some);
    }
  }
}

template <class Entry>
__global__ void __launch_bounds__(threads_per_block)
    integrate_rows(const __grid_constant__ NearFieldView a, const __grid_constant__ NearRules rules,
                   Entry* entries) {
  const std::int64_t row = blockIdx.x;
  const int2 targets = a.tree.targets[a.leaves[row]];
  const int n = targets.y - targets.x;
  Entry* out = entries + a.pairs_before[row];
  for_panels(a, row, [&](const Triangle* triangles, std::int32_t, int some) {
    for (int k = threadIdx.x; k < some * n; k += blockDim.x)
      out[k] = static_cast<Entry>(
          near_potential(rules, triangles[k / n], a.target(targets.x + k % n)));
    out += some * n;
  });
}

/// How a block divides a row: its threads are groups that share the targets of a chunk and divide
/// the sources between them.
struct Share {
  int count;   ///< targets of the chunk
  int target;  ///< that of the thread
  int group, groups;
  bool works;

  __device__ explicit Share(int targets_left)
      : count(min(targets_left, static_cast<int>(blockDim.x))),
        target(threadIdx.x % count),
        group(threadIdx.x / count),
        groups(blockDim.x / count),
        works(group < groups) {}

  /// Adds up what the groups have; true in the thread that is to write the target's sum.
  __device__ bool add_up(double& sum, double* s_sums) const {
    __syncthreads();
    s_sums[threadIdx.x] = sum;
    __syncthreads();
    if (group > 0) return false;
    for (int g = 1; g < groups; ++g) sum += s_sums[g * count + target];
    return true;
  }
};

/// Writes the sums of a chunk of targets from `first` on.
template <int Vectors>
__device__ inline void write_sums(const NearFieldView& a, const Share& share, std::int32_t first,
                                  double* sum, const double* factor, double* y) {
  __shared__ double s_sums[threads_per_block];
  for (int v = 0; v < Vectors; ++v)
    if (share.add_up(sum[v], s_sums))
      y[v * a.targets.count + first + share.target] = factor[v] * sum[v];
}

template <class Entry, int Vectors>
__global__ void __launch_bounds__(threads_per_block)
    multiply_stored(const __grid_constant__ NearFieldView a, const Entry* entries, const double* x,
                    const double* factor, double* y) {
  const std::int64_t row = blockIdx.x;
  const int2 targets = a.tree.targets[a.leaves[row]];
  const int n = targets.y - targets.x;
  for (int done = 0; done < n; done += blockDim.x) {
    const Share share(n - done);
    double sum[Vectors] = {};
    const Entry* block = entries + a.pairs_before[row] + done + share.target;
    for (std::int64_t e = a.lists.begin[row]; share.works && e < a.lists.begin[row + 1]; ++e) {
      const NearEntry entry = a.lists.entries[e];
      const double* const of = x + entry.begin;
#pragma unroll 4
      for (int j = share.group; j < entry.count; j += share.groups) {
        const auto value = static_cast<double>(block[static_cast<std::int64_t>(j) * n]);
#pragma unroll
        for (int v = 0; v < Vectors; ++v) sum[v] += of[v * a.sources + j] * value;
      }
      block += static_cast<std::int64_t>(entry.count) * n;
    }
    write_sums<Vectors>(a, share, targets.x + done, sum, factor, y);
  }
}

template <int Vectors>
__global__ void __launch_bounds__(threads_per_block)
    multiply_integrated(const __grid_constant__ NearFieldView a,
                        const __grid_constant__ NearRules rules, const double* x,
                        const double* factor, double* y) {
  const std::int64_t row = blockIdx.x;
  const int2 targets = a.tree.targets[a.leaves[row]];
  const int n = targets.y - targets.x;
  for (int done = 0; done < n; done += blockDim.x) {
    const Share share(n - done);
    const Vec3d target = a.target(targets.x + done + share.target);
    double sum[Vectors] = {};
    for_panels(a, row, [&](const Triangle* triangles, std::int32_t first, int some) {
      for (int j = share.group; share.works && j < some; j += share.groups) {
        const double value = near_potential(rules, triangles[j], target);
        for (int v = 0; v < Vectors; ++v) sum[v] += x[v * a.sources + first + j] * value;
      }
    });
    write_sums<Vectors>(a, share, targets.x + done, sum, factor, y);
  }
}

/// Groups of vectors that go together: put(vectors of the kernel, first vector).
template <class Put>
void for_groups(int vectors, Put&& put) {
  int first = 0;
  for (; vectors - first >= most_together; first += most_together)
    put(std::integral_constant<int, most_together>(), first);
  for (; first < vectors; ++first) put(std::integral_constant<int, 1>(), first);
}

template <class Entry>
class StoredNearField final : public NearField {
 public:
  StoredNearField(const PanelStore& panels, const SpreadTree& tree, double tolerance,
                  cudaStream_t stream)
      : rows_(static_cast<unsigned>(tree.rows())),
        view_(view_of(panels, tree)),
        entries_(tree.near.pairs, stream) {
    launch(integrate_rows<Entry>, rows_, threads_per_block, 0, stream, view_, NearRules(tolerance),
           entries_.data());
  }
  void multiply(const double* x, int vectors, const double* factor, double* y,
                cudaStream_t stream) const override {
    for_groups(vectors, [&]<int Together>(std::integral_constant<int, Together>, int v) {
      launch(multiply_stored<Entry, Together>, rows_, threads_per_block, 0, stream, view_,
             entries_.data(), x + v * view_.sources, factor + v, y + v * view_.targets.count);
    });
  }
  std::int64_t bytes() const override { return entries_.bytes(); }

 private:
  unsigned rows_;
  NearFieldView view_;
  DeviceBuffer<Entry> entries_;
};

class IntegratedNearField final : public NearField {
 public:
  IntegratedNearField(const PanelStore& panels, const SpreadTree& tree, double tolerance)
      : rows_(static_cast<unsigned>(tree.rows())),
        view_(view_of(panels, tree)),
        rules_(tolerance) {}
  void multiply(const double* x, int vectors, const double* factor, double* y,
                cudaStream_t stream) const override {
    for_groups(vectors, [&]<int Together>(std::integral_constant<int, Together>, int v) {
      launch(multiply_integrated<Together>, rows_, threads_per_block, 0, stream, view_, rules_,
             x + v * view_.sources, factor + v, y + v * view_.targets.count);
    });
  }
  std::int64_t bytes() const override { return 0; }

 private:
  unsigned rows_;
  NearFieldView view_;
  NearRules rules_;
};

}  // namespace

template <class Entry>
std::unique_ptr<NearField> make_stored_near_field(const PanelStore& panels, const SpreadTree& tree,
                                                  double tolerance, cudaStream_t stream) {
  return std::make_unique<StoredNearField<Entry>>(panels, tree, tolerance, stream);
}
template std::unique_ptr<NearField> make_stored_near_field<float>(const PanelStore&,
                                                                  const SpreadTree&, double,
                                                                  cudaStream_t);
template std::unique_ptr<NearField> make_stored_near_field<double>(const PanelStore&,
                                                                   const SpreadTree&, double,
                                                                   cudaStream_t);

std::unique_ptr<NearField> make_integrated_near_field(const PanelStore& panels,
                                                      const SpreadTree& tree, double tolerance) {
  return std::make_unique<IntegratedNearField>(panels, tree, tolerance);
}

}  // namespace fmbem::cuda
