// What comes in: points and strengths.
#include <algorithm>

#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/strengths.cuh"

namespace fmbem::cuda {
namespace {

__global__ void set_arguments_kernel(Arguments* to, Arguments arguments) { *to = arguments; }

__device__ inline unsigned long long bits_of(double x) {
  return static_cast<unsigned long long>(__double_as_longlong(fabs(x)));
}

__global__ void find_largest_kernel(const Arguments* arguments, std::int64_t n, bool charges,
                                    bool dipoles, double scale, unsigned long long* largest) {
  // Numbers that are not negative are ordered as their bits are, so the order of the threads does
  // not matter.
  const std::int64_t first = blockIdx.y * n;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  unsigned long long mine = 0;
  for (std::int64_t j = thread_index(); j < n; j += stride) {
    if (charges) mine = max(mine, bits_of(arguments->charges[first + j]));
    if (dipoles) {
      const Vec3d d = arguments->dipoles[first + j];
      mine = max(mine, max(bits_of(scale * d.x), max(bits_of(scale * d.y), bits_of(scale * d.z))));
    }
  }
  for (int step = warp_size / 2; step > 0; step /= 2)
    mine = max(mine, __shfl_xor_sync(whole_warp, mine, step));
  if (threadIdx.x % warp_size == 0) atomicMax(largest + blockIdx.y, mine);
}

template <class N>
__global__ void sort_strengths_kernel(const Arguments* arguments, PointsView<N> sources,
                                      double scale, const unsigned long long* largest, bool charges,
                                      ChargedPoint<N>* places, ChargedPoint<N>* dipoles) {
  const std::int64_t k = thread_index();
  if (k >= sources.count) return;
  const std::int64_t first = blockIdx.y * sources.count, from = first + sources.order[k];
  const double to_one = strength_scale(largest[blockIdx.y]);
  places[first + k] = {sources.x[k], sources.y[k], sources.z[k],
                       charges ? static_cast<N>(to_one * arguments->charges[from]) : N(0)};
  if (dipoles) {
    const Vec3d d = to_one * (scale * arguments->dipoles[from]);  // to_one * scale may be infinite
    dipoles[first + k] = {static_cast<N>(d.x), static_cast<N>(d.y), static_cast<N>(d.z), N(0)};
  }
}

template <class T>
__global__ void sort_charges_kernel(const Arguments* arguments, const std::int32_t* order,
                                    std::int64_t n, int kinds, const unsigned long long* largest,
                                    T* charges) {
  const std::int64_t k = thread_index();
  if (k >= n) return;
  const std::int64_t first = blockIdx.y * n;
  charges[first + k] = static_cast<T>(strength_scale(largest[blockIdx.y / kinds]) *
                                      arguments->charges[first + order[k]]);
}

/// A warp for each leaf. The members of PointsToPlace are passed one by one: from a struct with a
/// flag among them the compiler makes longer code.
template <class N>
__global__ void place_points_kernel(const Vec3d* points, const std::int32_t* order,
                                    const Vec3d* sources, const std::int32_t* source_order,
                                    double scale, Cube root, TreeView tree, bool are_sources,
                                    const std::int32_t* leaves, std::int64_t n_leaves,
                                    PointArrays<N> out) {
  const std::int64_t leaf = thread_index() / warp_size;
  if (leaf >= n_leaves) return;
  const std::int32_t box = leaves[leaf];
  const ToUnitBox<N, double> unit_box(root, tree, box);
  const int2 range = are_sources ? tree.sources[box] : tree.targets[box];
  // Lower parts are counted from the first source: differences of close numbers are exact.
  const bool has_sources = sizeof(N) == 4 && tree.sources[box].x < tree.sources[box].y;
  const Vec3d first = has_sources ? scale * sources[source_order[tree.sources[box].x]] : Vec3d{};
  const Vec3<N> first_local = unit_box(first.x, first.y, first.z);
  for (std::int32_t k = range.x + threadIdx.x % warp_size; k < range.y; k += warp_size) {
    const Vec3d place = scale * points[order[k]];
    if constexpr (sizeof(N) == 8) {
      out.x[k] = place.x;
      out.y[k] = place.y;
      out.z[k] = place.z;
    } else {
      const Vec3<N> local = unit_box(place.x, place.y, place.z);
      const auto low = [&](int axis) {
        const double from_first = (place[axis] - first[axis]) * unit_box.scale;
        const double known =
            static_cast<double>(local[axis]) - static_cast<double>(first_local[axis]);
        return has_sources ? static_cast<float>(from_first - known) : 0.f;
      };
      out.x[k] = local.x;
      out.y[k] = local.y;
      out.z[k] = local.z;
      out.low_x[k] = low(0);
      out.low_y[k] = low(1);
      out.low_z[k] = low(2);
      out.exact_x[k] = place.x;
      out.exact_y[k] = place.y;
      out.exact_z[k] = place.z;
    }
  }
}

}  // namespace

void set_arguments(Arguments* to, const Arguments& arguments, cudaStream_t stream) {
  launch(set_arguments_kernel, 1, 1, 0, stream, to, arguments);
}

void find_largest(const Arguments* arguments, std::int64_t n, int vectors, bool charges,
                  bool dipoles, double scale, unsigned long long* largest, cudaStream_t stream) {
  FMBEM_CUDA(cudaMemsetAsync(largest, 0, vectors * sizeof(*largest), stream));
  launch(find_largest_kernel, dim3(std::min(blocks_for(n, 4 * threads_per_block), 1024u), vectors),
         threads_per_block, 0, stream, arguments, n, charges, dipoles, scale, largest);
}

template <class N>
void sort_strengths(const Arguments* arguments, const PointsView<N>& sources, int vectors,
                    double scale, const unsigned long long* largest, const SortedStrengths<N>& out,
                    cudaStream_t stream) {
  launch(sort_strengths_kernel<N>, dim3(blocks_for(sources.count), vectors), threads_per_block, 0,
         stream, arguments, sources, scale, largest, out.charges, out.places, out.dipoles);
}

template <class T>
void sort_charges(const Arguments* arguments, const std::int32_t* order, std::int64_t n,
                  int vectors, int kinds, const unsigned long long* largest, T* charges,
                  cudaStream_t stream) {
  launch(sort_charges_kernel<T>, dim3(blocks_for(n), vectors * kinds), threads_per_block, 0, stream,
         arguments, order, n, kinds, largest, charges);
}

template <class N>
void place_points(const PointsToPlace& from, const PointArrays<N>& out, cudaStream_t stream) {
  launch(place_points_kernel<N>, blocks_for(from.n_leaves, warps_per_block), threads_per_block, 0,
         stream, from.points, from.order, from.sources, from.source_order, from.scale, from.root,
         from.tree, from.are_sources, from.leaves, from.n_leaves, out);
}

#define FMBEM_INSTANTIATE(N)                                                                \
  template void sort_charges(const Arguments*, const std::int32_t*, std::int64_t, int, int, \
                             const unsigned long long*, N*, cudaStream_t);                  \
  template void sort_strengths(const Arguments*, const PointsView<N>&, int, double,         \
                               const unsigned long long*, const SortedStrengths<N>&,        \
                               cudaStream_t);                                               \
  template void place_points(const PointsToPlace&, const PointArrays<N>&, cudaStream_t);
FMBEM_INSTANTIATE(double)
FMBEM_INSTANTIATE(float)
#undef FMBEM_INSTANTIATE

}  // namespace fmbem::cuda
