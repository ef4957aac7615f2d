#include "fmbem/bem/precond/cuda/from_panels_up.cuh"
#include "fmbem/bem/precond/cuda/touch_table.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/primitives.cuh"

namespace fmbem::cuda::bem {
namespace {

/// A ball about a node's centroid that holds those of its panels, and the largest radius of these.
struct CentroidBall {
  double radius, of_panels;
};

struct MeasureBalls {
  DeviceRowNodes of;
  CentroidBall* balls;

  __device__ void of_panel(std::int32_t k) const {
    balls[k] = {0, of.panels.radius[of.panel_of(of.nodes[k])]};
  }
  __device__ void of_halves(std::int32_t k) const {
    const Cluster& node = of.nodes[k];
    const auto reach = [&](std::int32_t half) {
      return norm(of.nodes[half].centroid - node.centroid) + balls[half].radius;
    };
    balls[k] = {fmax(reach(node.left), reach(node.right)),
                fmax(balls[node.left].of_panels, balls[node.right].of_panels)};
  }
};

/// Calls take(place) for panels behind the one at `own` that touch it, in the order of places.
template <class Take>
__device__ void for_touching(const DeviceRowNodes& of, const CentroidBall* balls,
                             std::int32_t n_nodes, std::int32_t own, std::int32_t own_node,
                             Take&& take) {
  constexpr double rounding = 1 + 1e-12;
  const Vec3d centroid = of.nodes[own_node].centroid;
  const double radius = balls[own_node].of_panels;
  for (std::int32_t k = 0; k < n_nodes;) {
    const Cluster& node = of.nodes[k];
    const double reach = rounding * (balls[k].radius + touching * (balls[k].of_panels + radius));
    if (node.end <= own + 1 || norm2(node.centroid - centroid) > reach * reach) {
      k = descendants_end(node, k);
      continue;
    }
    if (node.is_panel() && of.touch(own_node, k)) take(node.begin);
    ++k;
  }
}

__global__ void count_touching(DeviceRowNodes of, const CentroidBall* balls, std::int32_t n_nodes,
                               const std::int32_t* panel_node, std::int32_t n,
                               std::int32_t* count) {
  const auto i = static_cast<std::int32_t>(thread_index());
  if (i > n) return;
  std::int32_t own = 0;
  if (i < n) for_touching(of, balls, n_nodes, i, panel_node[i], [&](std::int32_t) { ++own; });
  count[i] = own;
}

__global__ void list_touching(DeviceRowNodes of, const CentroidBall* balls, std::int32_t n_nodes,
                              const std::int32_t* panel_node, std::int32_t n,
                              const std::int32_t* begin, std::int32_t* first,
                              std::int32_t* second) {
  const auto i = static_cast<std::int32_t>(thread_index());
  if (i >= n) return;
  std::int32_t at = begin[i];
  for_touching(of, balls, n_nodes, i, panel_node[i], [&](std::int32_t place) {
    first[at] = i;
    second[at++] = place;
  });
}

/// A thread for each of both directions.
__global__ void integrate_pairs(DeviceRowNodes of, const std::int32_t* first,
                                const std::int32_t* second, std::int64_t pairs, float* entries) {
  const std::int64_t e = thread_index();
  if (e >= 2 * pairs) return;
  const std::int32_t k = (e % 2 == 0 ? first : second)[e / 2],
                     l = (e % 2 == 0 ? second : first)[e / 2];
  entries[e] = static_cast<float>(of.exact(of.panel_at[k], of.panel_at[l]));
}

}  // namespace

TouchTable::TouchTable(const DeviceRowNodes& of, const DeviceClusterTree& tree,
                       cudaStream_t stream) {
  const auto n = static_cast<std::int32_t>(tree.size()),
             n_nodes = static_cast<std::int32_t>(tree.nodes.size());
  DeviceBuffer<CentroidBall> balls(n_nodes, stream);
  from_panels_up(tree, MeasureBalls{of, balls.data()}, stream);
  DeviceBuffer<std::int32_t> count(n + 1, stream);
  launch(count_touching, blocks_for(n + 1), threads_per_block, 0, stream, of, balls.data(), n_nodes,
         tree.panel_node.data(), n, count.data());
  begin_ = DeviceBuffer<std::int32_t>(n + 1, stream);
  {
    DeviceBuffer<std::int64_t> begin(n + 1, stream);
    exclusive_sum(count.data(), begin.data(), n + 1, stream);
    FMBEM_REQUIRE(download_one(begin.data() + n, stream) < INT32_MAX,
                  "too many panels are close to others for the preconditioner: check the mesh");
  }
  exclusive_sum(count.data(), begin_.data(), n + 1, stream);
  const std::int32_t pairs = download_one(begin_.data() + n, stream);
  DeviceBuffer<std::int32_t> first(pairs, stream);
  place_ = DeviceBuffer<std::int32_t>(pairs, stream);
  launch(list_touching, blocks_for(n), threads_per_block, 0, stream, of, balls.data(), n_nodes,
         tree.panel_node.data(), n, begin_.data(), first.data(), place_.data());
  entries_ = DeviceBuffer<float2>(pairs, stream);
  launch(integrate_pairs, blocks_for(2 * std::int64_t{pairs}), threads_per_block, 0, stream, of,
         first.data(), place_.data(), pairs, reinterpret_cast<float*>(entries_.data()));
}

}  // namespace fmbem::cuda::bem
